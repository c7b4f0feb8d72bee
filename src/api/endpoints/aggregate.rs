//! `GET …/aggregate`: counts and amounts of the records of a list, by group.

use serde_json::json;
use utoipa::openapi::Ref;

use catalog::aggregate::{DEFAULT_GROUPS, GroupOrder, MAX_GROUPS, group_bys};
use catalog::ask::GROUP_BY;
use catalog::{Aggregate, AggregateOptions, Issues, ParameterError, Resource};
use data::field::Model;
use data::vocabulary::Vocabulary;
use transport::problem::Problem;
use transport::telemetry::RouteGroup;

use crate::endpoint::{ApiOperation, Endpoint, OwnParameter, ParsedOperation};
use crate::envelope::json_response;
use crate::openapi::parameter::at_most;
use crate::openapi::vocabulary::{vocabulary, vocabulary_with_names};
use crate::other_meaning::CountedQuery;
use crate::request::RequestUrl;
use crate::{ApiRequest, ApiResponse};

/// Number of rows below which a table is aggregated in less than a millisecond.
const EXPENSIVE_ROWS: u32 = 1 << 15;
const GROUP_ORDER: &str = "GroupOrder";

struct AggregateRequest {
    counted: CountedQuery,
    options: AggregateOptions,
    /// True if it reads so many rows that it must wait in the queue.
    is_expensive: bool,
}

const OWN: &[OwnParameter] = &[
    (GROUP_BY, |of| {
        let resource = resource_of(&of.route.endpoint);
        let names = Ref::from_schema_name(group_name(resource));
        let example = json!([group_bys(resource)[0].0]);
        of.words("Properties to group by, each for itself.", names, example, None)
    }),
    ("sort", |of| {
        let doc = "Order of the groups. Default: `-count`; of years, quarters and numbers `-value`, the latest \
                   first. `value` and `-value` order numbers, dates and stages by size, others by their text.";
        of.query(doc).schema(Some(Ref::from_schema_name(GROUP_ORDER))).example(Some("-count".into()))
    }),
    ("limit", |of| {
        let doc = format!("Maximum number of groups of each property. {}", at_most(MAX_GROUPS as u64));
        of.limit(&doc, DEFAULT_GROUPS as u64)
    }),
];

/// The aggregate of the records of a list. The filters are those of the list; `sort` and `limit` apply to groups.
pub(super) const fn of_list(resource: Resource) -> Endpoint {
    Endpoint {
        filters: Some(resource),
        own: OWN,
        add_schemas: |endpoint, schemas| {
            let resource = resource_of(endpoint);
            let names: Vec<&str> = group_bys(resource).into_iter().map(|(name, _)| name).collect();
            schemas.insert(group_name(resource), vocabulary("A property to group by.", &names));
            let orders: Vec<String> = GroupOrder::ALL.iter().map(GroupOrder::to_string).collect();
            schemas.insert(GROUP_ORDER.to_owned(), vocabulary_with_names("An order of groups.", &orders));
        },
        group: RouteGroup::Counts,
        ..Endpoint::new(Aggregate::DEFINITION, parse)
    }
}

fn resource_of(endpoint: &Endpoint) -> Resource {
    endpoint.filters.expect("the endpoint takes the filters of a list")
}

fn group_name(resource: Resource) -> String {
    format!("{}GroupBy", resource.table().model().name)
}

fn parse(url: &RequestUrl<'_>) -> ParsedOperation {
    let resource = resource_of(&url.route.endpoint);
    let is_option = |name: &str| AggregateOptions::NAMES.contains(&name);
    let filters: Vec<_> = url.values.iter().filter(|(name, _)| !is_option(name)).cloned().collect();
    let mut issues = Issues::default();
    let options = issues.collect(AggregateOptions::parse(resource, url.values));
    match (issues.collect(CountedQuery::parse(url, resource, &filters)), options) {
        (Some(mut counted), Some(options)) if issues.is_empty() => {
            counted.canonical.iter_mut().for_each(|canonical| canonical.extend(options.canonical()));
            let is_expensive = url.catalog.snapshot().rows(counted.query.table) > EXPENSIVE_ROWS;
            Ok(Box::new(AggregateRequest { counted, options, is_expensive }))
        }
        _ => Err(issues.into()),
    }
}

impl ApiOperation for AggregateRequest {
    fn searches(&self) -> bool {
        self.counted.query.is_ranked() || self.is_expensive
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let CountedQuery { query, notes, .. } = &self.counted;
        let (data, of_search) = request.catalog.aggregate(query, &self.options);
        let clamped = self.options.is_clamped.then(|| ParameterError::limit_clamped(MAX_GROUPS as u64));
        let years = request.catalog.notes_on_years(query, &data).into_iter();
        let years = years.map(|detail| ParameterError::warning("low_coverage", "group_by", detail));
        let years = years.chain(request.catalog.group_coverage(query, &self.options.group_by));
        let years = years.chain(request.catalog.notes_on_amounts(query));
        let years = years.chain(request.catalog.note_on_near_groups(query, &data));
        let of_search = of_search.into_iter().chain(self.counted.other_meanings(request));
        let notes = notes.iter().cloned().chain(of_search);
        let warnings: Vec<ParameterError> = clamped.into_iter().chain(notes).chain(years).collect();
        json_response::<Aggregate>(request, &*data, &warnings)
    }
}
