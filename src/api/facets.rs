//! `GET /vcs/facets`: counts of firms by stage, sector, country and kind. `GET …/aggregate`: counts and amounts by group.

use serde::Serialize;

use catalog::aggregate::MAX_GROUPS;
use catalog::{Aggregate, AggregateOptions, ParameterError, Query, ValueCount};
use data::field::model;
use data::vocabulary::Vocabulary;
use data::{Country, FirmKind, Stage, Table};
use transport::problem::Problem;

use crate::other_meaning::ListAddress;
use crate::record::json_response;
use crate::{ApiRequest, ApiResponse};

model! {
    /// Number of matching firms by facet, under the name of the parameter that filters by it.
    #[derive(Serialize)]
    pub(crate) struct Facets<'a> {
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

/// Responds with the counts of the firms that match a query; see [`catalog::FacetCounts`].
pub(crate) fn respond(
    request: &ApiRequest<'_>,
    query: &Query,
    notes: &[ParameterError],
    canonical: Option<&[(&'static str, String)]>,
) -> Result<ApiResponse, Problem> {
    let (snapshot, counts) = (request.catalog.snapshot(), request.catalog.facet_counts(query));
    let stage = |counted: &ValueCount| ValueFacet { value: vocabulary_name::<Stage>(counted), count: counted.count };
    let kind = |counted: &ValueCount| ValueFacet { value: vocabulary_name::<FirmKind>(counted), count: counted.count };
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
    let other_meaning = other_meaning(request, query, canonical);
    let warnings: Vec<ParameterError> = notes.iter().cloned().chain(counts.notes).chain(other_meaning).collect();
    json_response::<Facets<'_>>(request, &data, &warnings)
}

/// Responds with the counts and amounts of the records that match a query.
pub(crate) fn aggregate(
    request: &ApiRequest<'_>,
    query: &Query,
    options: &AggregateOptions,
    notes: &[ParameterError],
    canonical: Option<&[(&'static str, String)]>,
) -> Result<ApiResponse, Problem> {
    let (data, of_search) = request.catalog.aggregate(query, options);
    let clamped = options.is_clamped.then(|| ParameterError::limit_clamped(MAX_GROUPS as u64));
    let years = request.catalog.notes_on_years(query.table, &data).into_iter();
    let years = years.map(|detail| ParameterError::low_coverage("group_by", detail));
    let of_search = of_search.into_iter().chain(other_meaning(request, query, canonical));
    let warnings: Vec<ParameterError> =
        clamped.into_iter().chain(notes.iter().cloned().chain(of_search)).chain(years).collect();
    json_response::<Aggregate>(request, &*data, &warnings)
}

/// A warning that the text of a query is not a name. `canonical` are the parameters of the query; without them those
/// that were sent are used.
fn other_meaning(
    request: &ApiRequest<'_>,
    query: &Query,
    canonical: Option<&[(&'static str, String)]>,
) -> Option<ParameterError> {
    let parameters = match canonical {
        Some(canonical) => canonical.iter().map(|(name, value)| ((*name).into(), value.into())).collect(),
        None => request.values.iter().map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>(),
    };
    // Counts have an order and a limit of their own.
    ListAddress::from_request(request).other_meaning(&request.catalog, query, &parameters, &["sort", "limit"])
}

fn vocabulary_name<V: Vocabulary>(counted: &ValueCount) -> &'static str {
    V::at(counted.value as usize).expect("facet values are indexes into the vocabulary").name()
}
