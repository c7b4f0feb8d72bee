//! `GET …/aggregate`: counts and amounts of the records of a list, by group.

use serde_json::json;
use utoipa::openapi::Ref;
use utoipa::openapi::path::ParameterBuilder;

use catalog::aggregate::{DEFAULT_GROUPS, GroupOrder, MAX_GROUPS, group_bys};
use catalog::ask::GROUP_BY;
use catalog::{Aggregate, AggregateOptions, Catalog, Issues, ParameterError, Resource};
use data::field::{Definition, Model};
use transport::problem::Problem;
use transport::telemetry::RouteGroup;

use crate::endpoint::{ApiEndpoint, ApiOperation, ParsedOperation};
use crate::envelope::json_response;
use crate::openapi::parameter::DocumentedOption;
use crate::openapi::schema::Schemas;
use crate::openapi::vocabulary::{vocabulary, vocabulary_with_names};
use crate::other_meaning::CountedQuery;
use crate::request::RequestUrl;
use crate::{ApiRequest, ApiResponse};

/// Number of rows below which a table is aggregated in less than a millisecond.
const EXPENSIVE_ROWS: u32 = 1 << 15;
const GROUP_ORDER: &str = "GroupOrder";

pub(super) struct AggregateEndpoint(pub(super) Resource);

struct AggregateRequest {
    counted: CountedQuery,
    options: AggregateOptions,
    /// True if it reads so many rows that it must wait in the queue.
    is_expensive: bool,
}

impl AggregateEndpoint {
    fn group_name(&self) -> String {
        format!("{}GroupBy", self.0.table().model().name)
    }
}

impl ApiEndpoint for AggregateEndpoint {
    /// The filters are those of the list; `sort` and `limit` apply to groups.
    fn parse(&self, url: &RequestUrl<'_>) -> ParsedOperation {
        let is_option = |name: &str| AggregateOptions::NAMES.contains(&name);
        let filters: Vec<_> = url.values.iter().filter(|(name, _)| !is_option(name)).cloned().collect();
        let mut issues = Issues::default();
        let options = issues.collect(AggregateOptions::parse(self.0, url.values));
        match (issues.collect(CountedQuery::parse(url, self.0, &filters)), options) {
            (Some(mut counted), Some(options)) if issues.is_empty() => {
                counted.canonical.iter_mut().for_each(|canonical| canonical.extend(options.canonical()));
                let is_expensive = url.catalog.snapshot().rows(counted.query.table) > EXPENSIVE_ROWS;
                Ok(Box::new(AggregateRequest { counted, options, is_expensive }))
            }
            _ => Err(issues.into()),
        }
    }

    fn item(&self) -> &'static Definition {
        Aggregate::DEFINITION
    }

    fn filters(&self) -> Option<Resource> {
        Some(self.0)
    }

    fn excluded(&self) -> Vec<&'static str> {
        vec!["sort"]
    }

    fn own_parameters(&self) -> Vec<&'static str> {
        AggregateOptions::NAMES.to_vec()
    }

    fn document(&self, of: &DocumentedOption<'_>) -> Option<ParameterBuilder> {
        Some(match of.name {
            GROUP_BY => {
                let example = json!([group_bys(self.0)[0].0]);
                let names = Ref::from_schema_name(self.group_name());
                of.words("Properties to group by, each for itself.", names, example, None)
            }
            "sort" => of
                .query("Order of the groups. Default: `-count`; of years, quarters and numbers `-value`, the latest first.")
                .schema(Some(Ref::from_schema_name(GROUP_ORDER)))
                .example(Some("-count".into())),
            "limit" => {
                let doc = format!(
                    "Maximum number of groups of each property. Above {MAX_GROUPS} it is reduced to {MAX_GROUPS}, with a \
                     warning."
                );
                of.limit(&doc, DEFAULT_GROUPS as u64)
            }
            _ => return None,
        })
    }

    fn example(&self, name: &str, _catalog: &Catalog) -> Option<String> {
        match name {
            GROUP_BY => Some(group_bys(self.0)[0].0.to_owned()),
            "sort" => Some("-count".to_owned()),
            _ => None,
        }
    }

    fn add_schemas(&self, schemas: &mut Schemas) {
        let names: Vec<&str> = group_bys(self.0).into_iter().map(|(name, _)| name).collect();
        schemas.insert(self.group_name(), vocabulary("A property to group by.", &names));
        let orders = GroupOrder::ALL.map(|(name, _)| name.to_owned());
        schemas.insert(GROUP_ORDER.to_owned(), vocabulary_with_names("An order of groups.", &orders));
    }

    fn group(&self) -> RouteGroup {
        RouteGroup::Counts
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
        let years = request.catalog.notes_on_years(query.table, &data).into_iter();
        let years = years.map(|detail| ParameterError::low_coverage("group_by", detail));
        let of_search = of_search.into_iter().chain(self.counted.other_meaning(request));
        let notes = notes.iter().cloned().chain(of_search);
        let warnings: Vec<ParameterError> = clamped.into_iter().chain(notes).chain(years).collect();
        json_response::<Aggregate>(request, &*data, &warnings)
    }
}
