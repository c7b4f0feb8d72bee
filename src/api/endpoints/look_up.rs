//! `/resolve`: finds the records that items refer to. GET looks up one item, described by the URL; POST many.

pub(crate) mod batch;
mod document;
mod table;

use catalog::look_up::answer;
use catalog::{Item, ItemTexts, LookUpAnswer, ParameterError};
use data::Table;
use data::field::Model;
use transport::problem::Problem;

use crate::endpoint::{ApiOperation, Endpoint, ParsedOperation};
use crate::envelope::json_response;
use crate::request::RequestUrl;
use crate::window::{PageWindow, single_value};
use crate::{ApiRequest, ApiResponse, Version};

/// Default and maximum number of candidates of an item.
pub(crate) const CANDIDATES: u64 = 3;
pub(crate) const MAX_CANDIDATES: u64 = 10;

/// The number of candidates, as the request sets it.
fn candidates(values: &[(String, String)]) -> Result<PageWindow, Vec<ParameterError>> {
    PageWindow::parse(Version::V3, values, CANDIDATES, MAX_CANDIDATES)
}

pub(super) const ENDPOINT: Endpoint = Endpoint {
    own: &document::PARAMETERS,
    post: Some(document::post),
    add_schemas: |_, schemas| document::add_schemas(schemas),
    ..Endpoint::new(LookUpAnswer::DEFINITION, parse)
};

struct LookUpRequest {
    item: Item,
    limit: PageWindow,
}

fn parse(url: &RequestUrl<'_>) -> ParsedOperation {
    url.unknown_names()?;
    let mut errors = Vec::new();
    let mut texts = ItemTexts::default();
    for name in ItemTexts::NAMES {
        if ItemTexts::is_list(name) {
            let given = url.values.iter().filter(|(known, _)| known == name);
            given.flat_map(|(_, value)| value.split(',')).for_each(|value| texts.set(name, value));
        } else if let Some(value) = single_value(url.values, name, &mut errors) {
            texts.set(name, value);
        }
    }
    let limit = candidates(url.values).map_err(|invalid| errors.extend(invalid)).ok();
    let item = texts.parse_item(url.catalog, &Item::TABLES).map_err(|invalid| errors.extend(invalid)).ok();
    match (item, limit) {
        (Some(item), Some(limit)) if errors.is_empty() => Ok(Box::new(LookUpRequest { item, limit })),
        _ => Err(errors.into()),
    }
}

impl ApiOperation for LookUpRequest {
    fn searches(&self) -> bool {
        true
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let found = request.catalog.look_up(&self.item);
        let answer = answer(&request.catalog, &found, &request.state.public_url, self.limit.limit as usize);
        json_response::<LookUpAnswer>(request, &answer, &self.limit.warnings())
    }
}

/// The tables to search for items without a kind.
fn default_tables(values: &[(String, String)], errors: &mut Vec<ParameterError>) -> Vec<Table> {
    let kind = single_value(values, "kind", errors).unwrap_or_default();
    Item::tables_of(kind).unwrap_or_else(|error| {
        errors.push(error);
        Item::TABLES.to_vec()
    })
}
