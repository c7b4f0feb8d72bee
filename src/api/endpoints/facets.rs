//! `GET /vcs/facets`: counts of firms by stage, sector, country and kind.

use serde::Serialize;

use catalog::{Issue, Issues, ParameterError, ParsedRequest, Query, Request, Resource, ValueCount};
use data::field::{Definition, Model, model};
use data::vocabulary::Vocabulary;
use data::{Country, FirmKind, Stage, Table};
use transport::problem::Problem;
use transport::telemetry::RouteGroup;

use crate::endpoint::{ApiEndpoint, ApiOperation, ParsedOperation};
use crate::envelope::json_response;
use crate::options;
use crate::other_meaning::of_counts;
use crate::request::{Canonical, RequestUrl};
use crate::{ApiRequest, ApiResponse};

model! {
    /// Number of matching firms by facet, under the name of the parameter that filters by it.
    #[derive(Serialize)]
    struct Facets<'a> {
        /// Number of firms that match all filters.
        total: u64,
        /// By stage, most frequent first.
        stage: Vec<ValueFacet<'a>>,
        /// By sector including its subsectors, most frequent first.
        sector: Vec<NamedFacet<'a>>,
        /// By country, most frequent first.
        country: Vec<NamedFacet<'a>>,
        /// By kind, most frequent first.
        kind: Vec<ValueFacet<'a>>,
    }

    /// Number of firms with a value.
    #[derive(Serialize)]
    struct ValueFacet<'a> as "CountedWord" {
        /// The value, as the parameter accepts it.
        value: &'a str,
        /// Number of firms.
        count: u64 [min(1)],
    }

    /// Number of firms with a value whose name differs from it.
    #[derive(Serialize)]
    struct NamedFacet<'a> as "CountedName" {
        /// The value, as the parameter accepts it.
        value: &'a str,
        /// The name of the value.
        name: &'a str,
        /// Number of firms.
        count: u64 [min(1)],
    }
}

pub(super) struct FacetsEndpoint;

struct FacetsRequest {
    query: Query,
    notes: Vec<ParameterError>,
    /// `None` if a note quotes a value as written.
    canonical: Option<Canonical>,
}

impl ApiEndpoint for FacetsEndpoint {
    /// The filters are those of `/vcs`. Counts have no order, so `sort` is unknown.
    fn parse(&self, url: &RequestUrl<'_>) -> ParsedOperation {
        let sort = url.values.iter().filter(|(name, _)| name == "sort");
        let accepted = || url.route.parameters(url.version);
        let mut issues: Issues =
            sort.map(|(name, _)| Issue::UnknownParameter { name: name.clone(), accepted: accepted() }).collect();
        let options = url.version.parse_options(options::names(url.version, url.route));
        let parsed = issues.collect(url.catalog.parse(Resource::Firms, url.values, options));
        match parsed {
            Some(ParsedRequest { request: Request::List(query), canonical, notes, .. }) if issues.is_empty() => {
                let canonical = (!notes.iter().any(ParameterError::depends_on_spelling)).then_some(canonical);
                Ok(Box::new(FacetsRequest { query, notes, canonical }))
            }
            _ => Err(issues.not_accepting(&["sort"]).into()),
        }
    }

    fn item(&self) -> &'static Definition {
        Facets::DEFINITION
    }

    fn filters(&self) -> Option<Resource> {
        Some(Resource::Firms)
    }

    fn excluded(&self) -> Vec<&'static str> {
        vec!["sort"]
    }

    fn group(&self) -> RouteGroup {
        RouteGroup::Counts
    }
}

impl ApiOperation for FacetsRequest {
    fn searches(&self) -> bool {
        self.query.is_ranked()
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let (snapshot, counts) = (request.catalog.snapshot(), request.catalog.facet_counts(&self.query));
        let stage =
            |counted: &ValueCount| ValueFacet { value: vocabulary_name::<Stage>(counted), count: counted.count };
        let kind =
            |counted: &ValueCount| ValueFacet { value: vocabulary_name::<FirmKind>(counted), count: counted.count };
        let sector = |counted: &ValueCount| NamedFacet {
            value: snapshot.slug(Table::Sectors, counted.value),
            name: snapshot.name(Table::Sectors, counted.value),
            count: counted.count,
        };
        let country = |counted: &ValueCount| {
            let country = Country::at(counted.value as usize).expect("facet values are countries");
            NamedFacet { value: country.alpha2(), name: country.name(), count: counted.count }
        };
        let data = Facets {
            total: counts.total,
            stage: counts.stages.iter().map(stage).collect(),
            sector: counts.sectors.iter().map(sector).collect(),
            country: counts.countries.iter().map(country).collect(),
            kind: counts.kinds.iter().map(kind).collect(),
        };
        let other_meaning = of_counts(request, &self.query, self.canonical.as_deref());
        let warnings: Vec<ParameterError> =
            self.notes.iter().cloned().chain(counts.notes).chain(other_meaning).collect();
        json_response::<Facets<'_>>(request, &data, &warnings)
    }
}

fn vocabulary_name<V: Vocabulary>(counted: &ValueCount) -> &'static str {
    V::at(counted.value as usize).expect("facet values are indexes into the vocabulary").name()
}
