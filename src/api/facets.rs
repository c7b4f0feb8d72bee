//! `GET /vcs/facets`: how many firms have which stage, sector, country and kind.

use serde::Serialize;

use crate::catalog::{ParameterError, ParseOptions, Request, Resource, ValueCount};
use crate::data::field::model;
use crate::data::vocabulary::Vocabulary;
use crate::data::{Country, FirmKind, Stage, Table};
use crate::http::problem::{Code, Problem};

use crate::api::record::json_response;
use crate::api::{ApiRequest, ApiResponse};

/// Names that the endpoint takes besides the filters of `/vcs`.
const OTHERS: [&str; 1] = ["fields"];

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

/// Answers the counts under the filters of `/vcs`; see [`crate::catalog::FacetCounts`] for what is counted.
pub(crate) fn answer(call: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let rules = ParseOptions { strict: true, review_statuses: &[], others: &OTHERS };
    let own = Resource::Firms.parameters().iter().map(|parameter| parameter.name);
    // Counts have no order.
    let accepted: Vec<&str> = own.filter(|name| *name != "sort").chain(OTHERS).collect();
    let ordered = call.values.iter().filter(|(name, _)| name == "sort");
    let mut errors: Vec<ParameterError> =
        ordered.map(|(name, _)| ParameterError::unknown_parameter(name, &accepted)).collect();
    let asked = match call.catalog.ask(Resource::Firms, call.values, rules) {
        Ok(asked) if errors.is_empty() => asked,
        Ok(_) => return Err(Problem::of_parameters(errors)),
        Err(others) => {
            errors.extend(others);
            for accepted in errors.iter_mut().filter_map(|error| error.accepted.as_mut()) {
                accepted.retain(|name| name != "sort");
            }
            return Err(Problem::of_parameters(errors));
        }
    };
    let Request::List(query) = asked.request else {
        return Err(Problem::new(Code::InternalError, "firms are no list"));
    };
    let (snapshot, counts) = (call.catalog.snapshot(), call.catalog.facet_counts(&query));
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
    let capped = counts.capped.then(|| ParameterError::total_capped(counts.total));
    json_response::<Facets<'_>>(call, &data, capped.as_slice())
}

fn vocabulary_name<V: Vocabulary>(counted: &ValueCount) -> &'static str {
    V::at(counted.value as usize).expect("facet values are indexes into the vocabulary").name()
}
