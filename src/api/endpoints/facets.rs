//! `GET /vcs/facets`: counts of firms by stage, sector, country and kind.

use serde::Serialize;

use catalog::{Issue, Issues, ParameterError, Resource, ValueCount};
use data::field::{Model, model};
use data::vocabulary::Vocabulary;
use data::{Country, Facet, FirmKind, Stage, Table};
use transport::problem::Problem;
use transport::telemetry::RouteGroup;

use crate::endpoint::{ApiOperation, Endpoint, ParsedOperation};
use crate::envelope::json_response;
use crate::other_meaning::CountedQuery;
use crate::request::RequestUrl;
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

pub(super) const ENDPOINT: Endpoint =
    Endpoint { filters: Some(Resource::Firms), group: RouteGroup::Counts, ..Endpoint::new(Facets::DEFINITION, parse) };

struct FacetsRequest(CountedQuery);

/// The filters are those of `/vcs`. Counts have no order, so `sort` is unknown.
fn parse(url: &RequestUrl<'_>) -> ParsedOperation {
    let sort = url.values.iter().filter(|(name, _)| name == "sort");
    let accepted = || url.route.parameters(url.version);
    let mut issues: Issues =
        sort.map(|(name, _)| Issue::UnknownParameter { name: name.clone(), accepted: accepted() }).collect();
    match issues.collect(CountedQuery::parse(url, Resource::Firms, url.values)) {
        Some(counted) if issues.is_empty() => Ok(Box::new(FacetsRequest(counted))),
        _ => Err(issues.not_accepting(&["sort"]).into()),
    }
}

impl ApiOperation for FacetsRequest {
    fn searches(&self) -> bool {
        self.0.query.is_ranked()
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let catalog = &*request.catalog;
        let snapshot = catalog.snapshot();
        let (rows, notes_on_rows) = catalog.rows_of(&self.0.query);
        let counts_of = |facet: Facet| catalog.counts_of(Table::Firms, facet, &rows);
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
            total: rows.count(snapshot.rows(Table::Firms)),
            stage: counts_of(Facet::Stage).iter().map(of_word::<Stage>).collect(),
            sector: counts_of(Facet::Sector).iter().map(sector).collect(),
            country: counts_of(Facet::Country).iter().map(country).collect(),
            kind: counts_of(Facet::Kind).iter().map(of_word::<FirmKind>).collect(),
        };
        let notes = self.0.notes.iter().cloned();
        let warnings: Vec<ParameterError> = notes.chain(notes_on_rows).chain(self.0.other_meanings(request)).collect();
        json_response::<Facets<'_>>(request, &data, &warnings)
    }
}

fn of_word<V: Vocabulary>(counted: &ValueCount) -> ValueFacet<'static> {
    let word = V::at(counted.value as usize).expect("facet values are indexes into the vocabulary");
    ValueFacet { value: word.name(), count: counted.count }
}
