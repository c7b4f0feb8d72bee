//! `GET /vcs/facets`: how many firms have which stage, sector, country and kind.

use serde::Serialize;

use crate::catalog::{ParameterError, ParseOptions, Request, Resource, ValueCount};
use crate::data::vocabulary::Vocabulary;
use crate::data::{Country, FirmKind, Stage, Table};
use crate::http::problem::{Code, Problem};

use crate::api::record::made;
use crate::api::schema::{Field, Shape, holding, plain};
use crate::api::{ApiRequest, ApiResponse};

/// Names that the endpoint takes besides the filters of `/vcs`.
const OTHERS: [&str; 1] = ["fields"];

const WORD: &[Field<'_>] = &[plain("value"), plain("count")];
const NAMED: &[Field<'_>] = &[plain("value"), plain("name"), plain("count")];
const SHAPE: &[Field<'_>] = &[
    plain("total"),
    holding("stage", WORD),
    holding("sector", NAMED),
    holding("country", NAMED),
    holding("kind", WORD),
];

/// The counts, under the name of the parameter that filters by each.
#[derive(Serialize)]
struct Counts<'a> {
    total: u64,
    stage: Vec<Counted<'a>>,
    sector: Vec<Counted<'a>>,
    country: Vec<Counted<'a>>,
    kind: Vec<Counted<'a>>,
}

/// A value as its parameter takes it, with the name where the value is a code or slug.
#[derive(Serialize)]
struct Counted<'a> {
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    count: u64,
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
    let word = |counted: &ValueCount, value| Counted { value, name: None, count: counted.count };
    let stage = |counted: &ValueCount| word(counted, Stage::at(counted.value as usize).map_or("", Stage::name));
    let kind = |counted: &ValueCount| word(counted, FirmKind::at(counted.value as usize).map_or("", FirmKind::name));
    let sector = |counted: &ValueCount| Counted {
        value: snapshot.slug(Table::Sectors, counted.value),
        name: Some(snapshot.name(Table::Sectors, counted.value)),
        count: counted.count,
    };
    let country = |counted: &ValueCount| {
        let country = Country::at(counted.value as usize);
        let (value, name) = (country.map_or("", Country::alpha2), country.map(Country::name));
        Counted { value, name, count: counted.count }
    };
    let data = Counts {
        total: counts.total,
        stage: counts.stages.iter().map(stage).collect(),
        sector: counts.sectors.iter().map(sector).collect(),
        country: counts.countries.iter().map(country).collect(),
        kind: counts.kinds.iter().map(kind).collect(),
    };
    let capped = counts.capped.then(|| ParameterError::total_capped(counts.total));
    made(call, &data, Shape::object(SHAPE), capped.as_slice())
}
