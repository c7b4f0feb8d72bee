//! The tools' answers, from the catalog: the same queries as REST, presented for models.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::catalog::{Catalog, Live, Order, ParameterError, Place, Query, Request, Resource, Rules};
use crate::dataset::RecordText;
use crate::dataset::fold::fold;
use crate::dataset::{Facet, ReviewStatus, Table, vocabulary::Vocabulary};

use super::answer::{Answer, Release, Tools};
use super::argument::{Call, Mistake};
use super::document::Document;
use super::tool::Tool;

/// Candidates that are named where a firm's name is not clear.
const CANDIDATES: usize = 5;
/// A match of a name is taken for the firm meant from this score on, if the next is [`CLEAR`] below it.
const SURE: f32 = 0.88;
/// The lead over the next match that makes a match clear.
const CLEAR: f32 = 0.05;

impl Tools for Live<Catalog> {
    fn current(&self) -> Arc<dyn Release> {
        let catalog = Live::current(self);
        let snapshot = catalog.version().to_string();
        Arc::new(Served { catalog, snapshot })
    }
}

/// A release as the tools see it.
struct Served {
    catalog: Arc<Catalog>,
    snapshot: String,
}

impl Release for Served {
    fn snapshot(&self) -> &str {
        &self.snapshot
    }

    fn answer(&self, call: &Call) -> Answer {
        let answer = match call.tool {
            Tool::SearchVcs => self.search(call, Resource::Firms),
            Tool::SearchStartups => self.search(call, Resource::Startups),
            Tool::GetFundingRounds => self.search(call, Resource::Rounds),
            Tool::SearchPeople => self.search(call, Resource::People),
            Tool::GetVcProfile => self.profile(call),
            Tool::GetPlatformStats => Ok(json(&self.catalog.totals())),
        };
        answer.map_or_else(Answer::Wrong, Answer::Found)
    }
}

impl Served {
    fn search(&self, call: &Call, resource: Resource) -> Result<String, Vec<Mistake>> {
        let values: Vec<(String, String)> =
            call.pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let rules = Rules { strict: true, review_statuses: &[ReviewStatus::Approved], others: &["limit"] };
        let asked = self.catalog.ask(resource, &values, rules).map_err(|errors| mistakes(call, errors))?;
        let Request::List(query) = asked.request else { return Ok(String::new()) };
        let page = self.catalog.list(&query, Place::default(), call.count("limit"));
        let table = resource.table();
        let items: Vec<String> =
            page.rows.iter().map(|row| summary(self.catalog.snapshot().record(table, *row), table)).collect();
        let mut document = Document::new().list("items", items.iter().map(String::as_str));
        document = document.field("total", page.total.to_string());
        if resource == Resource::Rounds {
            document = document.field("sum_usd", json(&self.catalog.raised(&query.clauses)));
        }
        document = document.field("snapshot", json(&self.snapshot));
        if !page.did_you_mean.is_empty() {
            document = document.field("did_you_mean", json(&self.named(table, &page.did_you_mean)));
        }
        Ok(noted(document, call).text())
    }

    /// The names of rows with their slugs, for a suggestion.
    fn named(&self, table: Table, rows: &[u32]) -> Vec<String> {
        let snapshot = self.catalog.snapshot();
        let named = |row: &u32| format!("{} ({})", snapshot.name(table, *row), snapshot.slug(table, *row));
        rows.iter().take(CANDIDATES).map(named).collect()
    }

    fn profile(&self, call: &Call) -> Result<String, Vec<Mistake>> {
        let Some(wanted) = call.value("slug").or_else(|| call.value("name")) else {
            return Err(vec![Mistake {
                argument: "name".to_owned(),
                detail: "is missing: give the firm's `slug` or its `name`".to_owned(),
                did_you_mean: Vec::new(),
                accepted: Vec::new(),
            }]);
        };
        let of_slug = call.value("slug").and_then(|slug| self.catalog.find(Table::Firms, slug));
        let firm = match (of_slug, call.value("name")) {
            (Some(row), _) => Ok(row),
            (None, Some(name)) => self.meant(name),
            // A slug means one firm exactly: a wrong one is not answered with another firm, however near.
            (None, None) => Err(self.meant(wanted).map_or_else(|rows| rows, |row| vec![row])),
        };
        match firm {
            Ok(row) => Ok(self.profile_of(row, call)),
            Err(candidates) => Ok(self.candidates(&candidates)),
        }
    }

    /// The firm that a name means, or those that it may mean, best first.
    fn meant(&self, name: &str) -> Result<u32, Vec<u32>> {
        let found = self.catalog.search(Table::Firms, name, &|_| true);
        let folded = fold(name);
        let snapshot = self.catalog.snapshot();
        let rows: Vec<u32> = found.hits.iter().map(|hit| hit.row).collect();
        let namesakes: Vec<u32> =
            rows.iter().copied().filter(|row| fold(snapshot.name(Table::Firms, *row)) == folded).collect();
        match (namesakes.as_slice(), found.hits.as_slice()) {
            ([only], _) if !folded.is_empty() => Ok(*only),
            ([], [first]) if first.score >= SURE => Ok(first.row),
            ([], [first, next, ..]) if first.score >= SURE && first.score - next.score >= CLEAR => Ok(first.row),
            (namesakes, _) if namesakes.len() > 1 => Err(namesakes.to_vec()),
            _ if rows.is_empty() => Err(found.did_you_mean),
            _ => Err(rows),
        }
    }

    fn candidates(&self, rows: &[u32]) -> String {
        let items: Vec<String> = rows
            .iter()
            .take(CANDIDATES)
            .map(|row| fields(self.catalog.snapshot().record(Table::Firms, *row), Table::Firms, &CANDIDATE_FIELDS))
            .collect();
        Document::new()
            .list("candidates", items.iter().map(String::as_str))
            .field("profile", "null")
            .field("snapshot", json(&self.snapshot))
            .text()
    }

    fn profile_of(&self, firm: u32, call: &Call) -> String {
        let snapshot = self.catalog.snapshot();
        let record = snapshot.record(Table::Firms, firm);
        let all = Table::Firms.fields();
        let kept: Vec<&str> = all.iter().copied().filter(|name| *name != "score").collect();
        let score = all.iter().position(|name| *name == "score").unwrap_or(0);
        let score = String::from_utf8_lossy(record.value(Table::Firms, score)).into_owned();
        let reviews = self.reviews_of(firm, call.count("reviews_limit"));
        let portfolio = self.portfolio_of(firm, call.count("portfolio_limit"));
        let document = Document::new()
            .list("reviews", reviews.iter().map(String::as_str))
            .list("portfolio", portfolio.iter().map(String::as_str))
            .field("profile", fields(record, Table::Firms, &kept))
            .field("score", score)
            .field("snapshot", json(&self.snapshot));
        noted(document, call).text()
    }

    /// The newest approved reviews of a firm.
    fn reviews_of(&self, firm: u32, most: usize) -> Vec<String> {
        use crate::catalog::Clause::AnyOf;
        let approved = ReviewStatus::Approved.index() as u32;
        let clauses = vec![AnyOf(Facet::Firm, vec![firm]), AnyOf(Facet::Status, vec![approved])];
        let query = Query { table: Table::Reviews, text: None, clauses, order: Order::Natural };
        let page = self.catalog.list(&query, Place::default(), most);
        let record = |row: &u32| self.catalog.snapshot().record(Table::Reviews, *row);
        page.rows.iter().map(|row| fields(record(row), Table::Reviews, &REVIEW_FIELDS)).collect()
    }

    /// The startups that a firm backs, the latest investment first, each with the round that it joined last.
    fn portfolio_of(&self, firm: u32, most: usize) -> Vec<String> {
        let snapshot = self.catalog.snapshot();
        let mut seen: Vec<u32> = Vec::new();
        let mut portfolio = Vec::new();
        for round in snapshot.facet_rows(Table::Rounds, Facet::Investor, firm).iter() {
            if portfolio.len() >= most {
                break;
            }
            let Some(startup) = snapshot.round_startup(round).filter(|startup| !seen.contains(startup)) else {
                continue;
            };
            seen.push(startup);
            let mut item = fields(snapshot.record(Table::Startups, startup), Table::Startups, &PORTFOLIO_FIELDS);
            let joined =
                fields(snapshot.record(Table::Rounds, round), Table::Rounds, &["stage", "amount_usd", "announced_on"]);
            item.pop();
            item.push_str(",\"last_joined\":");
            item.push_str(&joined);
            item.push('}');
            portfolio.push(item);
        }
        portfolio
    }
}

const CANDIDATE_FIELDS: [&str; 6] = ["slug", "name", "kind", "country", "health_score", "portfolio_count"];
const REVIEW_FIELDS: [&str; 9] =
    ["stage", "rating", "responsiveness", "fairness", "value_add", "ghosted", "title", "body", "created_on"];
const PORTFOLIO_FIELDS: [&str; 7] = ["slug", "name", "status", "stage", "sectors", "country", "total_raised_usd"];

/// A record as a list shows it.
fn summary(record: RecordText<'_>, table: Table) -> String {
    let mut text = String::from_utf8_lossy(record.head(table.default_fields())).into_owned();
    text.push('}');
    text
}

/// Some fields of a record, as a JSON object.
fn fields(record: RecordText<'_>, table: Table, names: &[&str]) -> String {
    let mut text = String::from("{");
    for (index, _) in table.fields().iter().enumerate().filter(|(_, name)| names.contains(name)) {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&String::from_utf8_lossy(record.field(index)));
    }
    text.push('}');
    text
}

/// Adds what the caller should know of how the arguments were taken.
fn noted<'a>(document: Document<'a>, call: &Call) -> Document<'a> {
    match call.notes.as_slice() {
        [] => document,
        notes => document.field("notes", json(&notes)),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| Value::Null.to_string())
}

fn mistakes(call: &Call, errors: Vec<ParameterError>) -> Vec<Mistake> {
    errors
        .into_iter()
        .map(|error| Mistake {
            argument: match call.argument(&error.parameter) {
                "" => error.parameter,
                argument => argument.to_owned(),
            },
            detail: format!("is wrong: {}", error.detail),
            did_you_mean: error.did_you_mean.into_iter().collect(),
            accepted: error.accepted.unwrap_or_default(),
        })
        .collect()
}
