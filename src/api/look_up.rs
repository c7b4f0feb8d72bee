//! `/resolve`: finds the records that items refer to. GET looks up one item, described by the URL; POST many.

pub(crate) mod batch;
pub(crate) mod table;

use catalog::look_up::answer;
use catalog::{Catalog, Item, ItemTexts, LookUpAnswer, ParameterError};
use data::Table;
use transport::problem::Problem;

use crate::record::json_response;
use crate::request::{Canonical, RequestError, RequestUrl};
use crate::window::{PageWindow, single_value};
use crate::{ApiRequest, ApiResponse, Version};

/// Default and maximum number of candidates of an item.
pub(crate) const CANDIDATES: u64 = 3;
pub(crate) const MAX_CANDIDATES: u64 = 10;

/// Maximum number of candidates, as the request sets it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub candidates: usize,
    is_clamped: bool,
}

impl Limit {
    pub(crate) fn parse(values: &[(String, String)]) -> Result<Self, Vec<ParameterError>> {
        let window = PageWindow::parse(Version::V3, values, MAX_CANDIDATES)?;
        let is_given = values.iter().any(|(name, value)| name == "limit" && !value.trim().is_empty());
        let candidates = if is_given { window.limit } else { CANDIDATES };
        Ok(Self { candidates: candidates as usize, is_clamped: is_given && window.clamped })
    }

    pub(crate) fn warnings(self) -> Vec<ParameterError> {
        self.is_clamped.then(|| ParameterError::limit_clamped(MAX_CANDIDATES)).into_iter().collect()
    }
}

/// A request for one item.
pub(crate) struct LookUpRequest {
    item: Item,
    limit: Limit,
    /// The values of the item as sent.
    canonical: Canonical,
}

impl LookUpRequest {
    pub(crate) fn parse(url: &RequestUrl<'_>) -> Result<Self, RequestError> {
        let mut errors = Vec::new();
        let mut texts = ItemTexts::default();
        let mut canonical = Canonical::new();
        for name in ItemTexts::NAMES {
            let values: Vec<&str> = match ItemTexts::is_list(name) {
                true => {
                    let given = url.values.iter().filter(|(known, _)| known == name);
                    given.flat_map(|(_, value)| value.split(',')).map(str::trim).collect()
                }
                false => single_value(url.values, name, &mut errors).into_iter().collect(),
            };
            values.iter().for_each(|value| texts.set(name, value));
            canonical.extend(values.into_iter().map(|value| (name, value.to_owned())));
        }
        let limit = Limit::parse(url.values).map_err(|invalid| errors.extend(invalid)).ok();
        let item = texts.parse_item(url.catalog, &Item::TABLES).map_err(|invalid| errors.extend(invalid)).ok();
        match (item, limit) {
            (Some(item), Some(limit)) if errors.is_empty() => {
                canonical.push(("limit", limit.candidates.to_string()));
                canonical.extend(limit.is_clamped.then(|| ("clamped", "true".to_owned())));
                Ok(Self { item, limit, canonical })
            }
            _ => Err(errors.into()),
        }
    }

    pub(crate) fn canonical(&self) -> Canonical {
        self.canonical.clone()
    }
}

pub(crate) fn respond(request: &ApiRequest<'_>, look_up: &LookUpRequest) -> Result<ApiResponse, Problem> {
    let found = request.catalog.look_up(&look_up.item);
    let answer = answer(&request.catalog, &found, &request.state.public_url, look_up.limit.candidates);
    json_response::<LookUpAnswer>(request, &answer, &look_up.limit.warnings())
}

/// The answer to an item, or its errors.
pub(crate) fn answer_to(
    catalog: &Catalog,
    item: Result<Item, Vec<ParameterError>>,
    base: &str,
    limit: Limit,
) -> LookUpAnswer {
    match item {
        Ok(item) => answer(catalog, &catalog.look_up(&item), base, limit.candidates),
        Err(errors) => LookUpAnswer::invalid(errors),
    }
}

/// The tables to search for items without a kind.
pub(crate) fn default_tables(values: &[(String, String)], errors: &mut Vec<ParameterError>) -> Vec<Table> {
    let kind = single_value(values, "kind", errors).unwrap_or_default();
    Item::tables_of(kind).unwrap_or_else(|error| {
        errors.push(error);
        Item::TABLES.to_vec()
    })
}
