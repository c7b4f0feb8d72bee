//! `GET /ask`: a question, answered by the list that it is about.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::openapi::Required;

use catalog::aggregate::Grouping;
use catalog::ask::association::Association;
use catalog::ask::list::{ASKED, AnswerKind};
use catalog::ask::{COUNT_BY, GROUP_BY, MAX_QUESTION_CHARS};
use catalog::changes::RecordJson;
use catalog::{Amounts, Catalog, ListPosition, ParameterError, ParsedRequest, ReadPart, Request, Resource, WantedPage};
use data::field::{Model, model};
use data::vocabulary::Vocabulary;
use transport::problem::Problem;

use crate::endpoint::{ApiOperation, Endpoint, ParsedOperation};
use crate::endpoints::suggest::SUGGESTIONS;
use crate::envelope::json_response;
use crate::openapi::parameter::any_text;
use crate::openapi::vocabulary::open_vocabulary;
use crate::pagination::address;
use crate::request::RequestUrl;
use crate::window::{MAX_LIMIT, PageWindow, single_value};
use crate::{ApiRequest, ApiResponse};

const KIND: &str = "AnswerKind";
const LIST: &str = "AskedList";

model! {
    /// The answer to a question, by the list that it is about.
    #[derive(Serialize)]
    struct Answer<'a> {
        /// `record` if the question names one record, `count` if it asks for numbers, else `list`.
        kind: &'static str [one_of(KIND)],
        /// The list that answers: the last segment of its path.
        list: &'static str [one_of(LIST)],
        /// Why this list answers.
        why: String,
        /// The words that were read as parameters of the list, in their order.
        interpreted: &'a [ReadPart],
        /// The words of which nothing was understood; they change nothing, unless `text` has them.
        unread: &'a [String],
        /// Sectors that these words may mean, by the startups that use them; they change nothing.
        suggested: Vec<Association>,
        /// The same question as a request for the list.
        url: String [uri],
        /// The counts, if the question asks for them: `by country`, `per year`; otherwise `null`.
        groups_url: Option<String> [uri],
        /// The first of these groups of each property; otherwise `null`.
        groups: Option<Vec<Grouping>>,
        /// The same request as arguments of the tool of the list.
        arguments: BTreeMap<&'static str, String>,
        /// The number of all records that answer; of one that a question names, 1.
        total: u64,
        /// The amounts of all these rounds, if the question asks for their sum; otherwise `null`.
        amounts: Option<Amounts>,
        /// The first records with the fields that the list has by default.
        records: Vec<RecordJson>,
        /// The whole record, if the question names one; otherwise `null`.
        record: Option<RecordJson>,
    }
}

struct AskRequest {
    text: String,
    window: PageWindow,
}

pub(super) const ENDPOINT: Endpoint = Endpoint {
    own: &[
        ("q", |of| {
            let doc = "A question in plain words: English, German, French, Spanish, Portuguese or Italian. A question \
                       in another language is read as English only, which a warning says.";
            of.query(doc)
                .required(Required::True)
                .extensions(None)
                .schema(Some(any_text().pattern(Some(r"\S")).max_length(Some(MAX_QUESTION_CHARS))))
                .example(Some("fintech startups in London".into()))
        }),
        ("limit", |of| {
            let doc = format!("Maximum number of records. Above {MAX_LIMIT} it is reduced to {MAX_LIMIT}.");
            of.limit(&doc, SUGGESTIONS)
        }),
    ],
    add_schemas: |_, schemas| {
        schemas.insert(KIND.to_owned(), open_vocabulary("What answers a question.", &AnswerKind::names()));
        let lists = ASKED.map(|resource| resource.path());
        schemas.insert(LIST.to_owned(), open_vocabulary("A list that answers questions.", &lists));
    },
    ..Endpoint::new(Answer::DEFINITION, parse)
};

fn parse(url: &RequestUrl<'_>) -> ParsedOperation {
    url.unknown_names()?;
    let mut errors = Vec::new();
    let text = single_value(url.values, "q", &mut errors);
    match text {
        None if errors.is_empty() => errors.push(ParameterError::invalid("q", "`q` is required: a question in words")),
        Some(text) if text.chars().count() > MAX_QUESTION_CHARS => {
            let detail = format!("a question has at most {MAX_QUESTION_CHARS} characters; shorten it");
            errors.push(ParameterError::invalid("q", detail));
        }
        _ => {}
    }
    let window = PageWindow::parse(url.version, url.values, SUGGESTIONS, MAX_LIMIT)?;
    match text {
        Some(text) if errors.is_empty() => Ok(Box::new(AskRequest { text: text.to_owned(), window })),
        _ => Err(errors.into()),
    }
}

impl ApiOperation for AskRequest {
    fn searches(&self) -> bool {
        true
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let catalog: &Catalog = &request.catalog;
        let asked = catalog.ask(&self.text);
        let (resource, interpretation) = (asked.resource, &asked.interpretation);
        let table = resource.table();
        let values: Vec<(String, String)> = interpretation.values().collect();
        let (limits, filters): (Vec<_>, Vec<_>) = values.into_iter().partition(|(name, _)| name == "limit");
        let options = request.version.parse_options(&[]);
        let parsed = catalog
            .parse(resource, &filters, options)
            .map_err(|issues| Problem::of_parameters(issues.report(catalog)))?;
        let ParsedRequest { request: list, canonical, notes, .. } = parsed;
        // A question without any condition lists nothing rather than everything.
        let is_read = !interpretation.parts.is_empty() || interpretation.unread.is_empty();
        let asked_limit = limits.first().and_then(|(_, limit)| limit.parse().ok());
        let limit =
            if is_read { asked_limit.map_or(self.window.limit, |asked: u64| asked.min(self.window.limit)) } else { 0 };
        let mut wanted = WantedPage::rows(resource, &list, ListPosition::default(), limit as usize);
        wanted.parts.amounts = asked.is_sum && is_read;
        let grouping = interpretation.group_options(resource, limit.max(1) as usize);
        if let (Request::List(query), Some(options)) = (&list, &grouping) {
            wanted.parts.groups = Some((query, options));
        }
        let found = catalog.answer(&wanted);
        let mut warnings = self.window.warnings();
        if !is_read {
            let detail = "no word of the question was read, so that no record answers";
            warnings.push(ParameterError::warning("value_interpreted", "q", detail));
        }
        let of_question = interpretation.notes.iter().cloned();
        warnings.extend(of_question.map(|note| ParameterError::warning("value_interpreted", "q", note)));
        warnings.extend(notes.into_iter().chain(found.notes));
        if let (Request::List(query), Some(groups)) = (&list, &found.groups) {
            let years = catalog.notes_on_years(query, groups).into_iter();
            warnings.extend(years.map(|detail| ParameterError::warning("low_coverage", GROUP_BY, detail)));
        }
        if let Some(counted) = &asked.counted {
            let path = format!("{}/aggregate", Resource::Startups.path());
            let counted = address(request, &path, counted.values_and_groups().into_iter());
            let detail = format!("the places are those of startups: counted by investor, these are {counted}");
            warnings.push(ParameterError::warning("value_interpreted", "q", detail));
        }
        let is_one = asked.kind == AnswerKind::Record && found.total == 1 && found.rows.len() == 1;
        // A filter and groups may have the same coverage.
        let mut details: Vec<String> = Vec::new();
        warnings.retain(|warning| {
            let is_new = !details.contains(&warning.detail);
            details.extend(is_new.then(|| warning.detail.clone()));
            is_new
        });
        let of_list: Vec<(&'static str, String)> =
            canonical.iter().filter(|(name, _)| *name != "sort").cloned().collect();
        let groups = interpretation.groups().map(|groups| (GROUP_BY, groups.to_owned()));
        let order = interpretation.group_order.map(|order| ("sort", order.name().to_owned()));
        let path = resource.path();
        let shown = canonical.into_iter().chain(limits.iter().map(|(_, limit)| ("limit", limit.clone())));
        let shown: Vec<(&'static str, String)> = shown.collect();
        let arguments = shown.iter().cloned().map(|(name, value)| (if name == "q" { "query" } else { name }, value));
        let answer = Answer {
            kind: asked.kind.name(),
            list: path,
            why: asked.why,
            interpreted: &interpretation.parts,
            unread: &interpretation.unread,
            suggested: catalog.associations(resource, &interpretation.unread),
            arguments: arguments.chain(groups.clone().map(|(_, groups)| (COUNT_BY, groups))).collect(),
            url: address(request, path, shown.into_iter()),
            groups_url: groups.map(|groups| {
                let parameters = of_list.into_iter().chain([groups]).chain(order);
                address(request, &format!("{path}/aggregate"), parameters)
            }),
            groups: found.groups.map(|found| found.groups.clone()),
            record: is_one.then(|| found.rows.whole_record(catalog, table, 0)),
            total: if is_read { found.total } else { 0 },
            amounts: found.amounts,
            records: found.rows.records(catalog, table),
        };
        json_response::<Answer<'_>>(request, &answer, &warnings)
    }
}
