//! The tools' answers, from the catalog: the same queries as REST, presented for models.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::catalog::{Catalog, ListPosition, ParameterError, ParseOptions, Request, Resource};
use crate::data::{RecordText, ReviewStatus, Table};
use crate::release::ActiveRelease;

use crate::mcp::Tool;
use crate::mcp::ToolResult;
use crate::mcp::{ArgError, ToolCall};
use crate::mcp::{Release, ToolAnswer, Tools};

/// Names that are suggested where a search finds nothing.
const SUGGESTED: usize = 5;

/// The releases that tools answer from, and the address of the service in links.
pub struct ToolBackend {
    live: Arc<ActiveRelease<Catalog>>,
    /// As it stands within a JSON string.
    public_url: Arc<str>,
}

impl ToolBackend {
    /// Answers from what is `live`, with links below `public_url`.
    #[must_use]
    pub fn new(live: Arc<ActiveRelease<Catalog>>, public_url: &str) -> Self {
        let quoted = json(&public_url.trim_end_matches('/'));
        Self { live, public_url: quoted.trim_matches('"').into() }
    }
}

impl Tools for ToolBackend {
    fn current(&self) -> Arc<dyn Release> {
        let catalog = self.live.current();
        let snapshot = catalog.version().to_string();
        Arc::new(Served { catalog, snapshot, public_url: Arc::clone(&self.public_url) })
    }
}

/// A release as the tools see it.
pub(crate) struct Served {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) snapshot: String,
    public_url: Arc<str>,
}

impl Release for Served {
    fn snapshot(&self) -> &str {
        &self.snapshot
    }

    fn answer(&self, call: &ToolCall) -> ToolAnswer {
        let answer = match call.tool {
            Tool::SearchVcs => self.search(call, Resource::Firms),
            Tool::SearchStartups => self.search(call, Resource::Startups),
            Tool::GetFundingRounds => self.search(call, Resource::Rounds),
            Tool::SearchPeople => self.search(call, Resource::People),
            Tool::GetVcProfile => self.profile(call),
            Tool::GetPlatformStats => Ok(json(&self.catalog.totals())),
        };
        answer.map_or_else(ToolAnswer::Wrong, ToolAnswer::Found)
    }
}

impl Served {
    fn search(&self, call: &ToolCall, resource: Resource) -> Result<String, Vec<ArgError>> {
        let values: Vec<(String, String)> =
            call.pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let rules = ParseOptions { strict: true, review_statuses: &[ReviewStatus::Approved], others: &["limit"] };
        let asked = self.catalog.ask(resource, &values, rules).map_err(|errors| mistakes(call, errors))?;
        let Request::List(query) = asked.request else { return Ok(String::new()) };
        let page = self.catalog.list(&query, ListPosition::default(), call.count("limit"));
        let table = resource.table();
        let items: Vec<String> = page.rows.iter().map(|row| self.summary(table, *row)).collect();
        let mut document = ToolResult::new().field("total", page.total.to_string());
        if resource == Resource::Rounds {
            document = document.field("sum_usd", json(&self.catalog.raised(&query.clauses)));
        }
        if !page.did_you_mean.is_empty() {
            document = document.field("did_you_mean", json(&self.named(table, &page.did_you_mean)));
        }
        let mut notes = call.notes.clone();
        if page.total == 0 && page.did_you_mean.is_empty() {
            notes.push("nothing fulfils all of these arguments: leave one out or widen it".to_owned());
        }
        if page.capped {
            notes.push(ParameterError::total_capped(page.total).detail);
        }
        let document = noted(document, &notes).list("items", items);
        Ok(document.field("snapshot", json(&self.snapshot)).text())
    }

    /// A record as a search shows it: the fields of a list, and where its page is.
    fn summary(&self, table: Table, row: u32) -> String {
        let record = self.catalog.snapshot().record(table, row);
        let head = text_of(record.head(table.default_fields().len()));
        let mut text = String::with_capacity(head.len() + self.public_url.len() + 96);
        match table {
            // A round's id means nothing outside.
            Table::Rounds => {
                text.push('{');
                text.push_str(head.get(record.field(0).len() + 2..).unwrap_or_default());
            }
            _ => text.push_str(head),
        }
        self.push_url(&mut text, table, row);
        text.push('}');
        text
    }

    /// Adds the address of a record's page to its JSON.
    pub(crate) fn push_url(&self, text: &mut String, table: Table, row: u32) {
        let pages = match table {
            Table::Firms => "/vcs/",
            Table::Startups => "/startups/",
            Table::People => "/people/",
            _ => return,
        };
        for part in [",\"url\":\"", &*self.public_url, pages, self.catalog.snapshot().slug(table, row), "\""] {
            text.push_str(part);
        }
    }

    /// The names of rows with their slugs, for a suggestion.
    fn named(&self, table: Table, rows: &[u32]) -> Vec<String> {
        let snapshot = self.catalog.snapshot();
        let named = |row: &u32| format!("{} ({})", snapshot.name(table, *row), snapshot.slug(table, *row));
        rows.iter().take(SUGGESTED).map(named).collect()
    }
}

/// A part of a record as text; records are written as UTF-8.
pub(crate) fn text_of(part: &[u8]) -> &str {
    std::str::from_utf8(part).unwrap_or_default()
}

/// Some fields of a record, as a JSON object.
pub(crate) fn fields(record: RecordText<'_>, table: Table, names: &[&str]) -> String {
    let mut text = String::from("{");
    for (index, _) in table.fields().iter().enumerate().filter(|(_, field)| names.contains(&field.name)) {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(text_of(record.field(index)));
    }
    text.push('}');
    text
}

/// Adds what the caller should know of how the arguments were taken.
pub(crate) fn noted(document: ToolResult, notes: &[String]) -> ToolResult {
    if notes.is_empty() { document } else { document.field("notes", json(&notes)) }
}

pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| Value::Null.to_string())
}

fn mistakes(call: &ToolCall, errors: Vec<ParameterError>) -> Vec<ArgError> {
    errors
        .into_iter()
        .map(|error| ArgError {
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
