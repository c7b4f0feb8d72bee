//! `/reconcile`: the reconciliation API 0.2 of the W3C community group, for OpenRefine and others, with or without a key.
//!
//! Types are the kinds of records, ids the paths of their pages. Queries use the look-up of `/resolve`; features are
//! its evidence. Every ten queries or records, rounded up, are charged as one page and one request. A query with invalid values gets an
//! `error` and no results, so that the other queries still succeed.

mod extension;

use std::net::IpAddr;

use askama::Template;
use http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::browse::PER_PAGE;
use crate::error_page::PageError;
use crate::layout::HTML;
use crate::routes::{PageCharge, PageRow, batch, raw};
use crate::{
    PageRequest, PageResult, PathValues, admit_batch, charge_work, fail, in_turn, page_headers, response_of, see_other,
};
use catalog::look_up::{answer as published, id_of, row_of_id};
use catalog::param_error::shortened;
use catalog::{Catalog, Item, ItemTexts, LookUpAnswer};
use data::{Names, Table, identifier};
use transport::headers::{Caching, CommonHeaders, Vary};
use view::format;

const MAX_BYTES: usize = 512 * 1024;
/// Maximum number of queries, or of records to extend, per request.
const MAX_BATCH: usize = 100;
/// Candidates per query by default, and the maximum.
const CANDIDATES: usize = 3;
const MAX_CANDIDATES: usize = 10;
const MAX_SUGGESTIONS: usize = 10;
const ROWS_OF_PREVIEW: u32 = PER_PAGE as u32;

/// The content security policy of previews, which other sites may frame.
const FRAMED: &str =
    "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *";

const SUGGEST_ENTITY: &str = "/reconcile/suggest/entity";
const SUGGEST_TYPE: &str = "/reconcile/suggest/type";
const SUGGEST_PROPERTY: &str = "/reconcile/suggest/property";
const PROPERTIES: &str = "/reconcile/properties";
const PREVIEW: &str = "/reconcile/preview";
const VIEW: &str = "/reconcile/view";

/// The endpoints of the service. The first one has the manifest, queries and data extension.
pub(crate) const PAGES: &[PageRow] = &[
    batch("/reconcile", |request, _, address| Box::pin(answer(request, request.query.as_bytes(), address)))
        .with_batch(MAX_BYTES, |request, form, address| Box::pin(answer(request, form, address))),
    raw(SUGGEST_ENTITY, |catalog, request, _| Ok(json_response(&suggest_entities(catalog, request))))
        .charged(PageCharge::Names(MAX_SUGGESTIONS as u32)),
    raw(SUGGEST_TYPE, |_, request, _| Ok(json_response(&suggest_types(request)))).charged(PageCharge::Nothing),
    raw(SUGGEST_PROPERTY, |_, request, _| Ok(json_response(&extension::suggest_properties(request))))
        .charged(PageCharge::Nothing),
    raw(PROPERTIES, |_, request, _| {
        extension::proposals(&parameter(request, "type")).map(|found| json_response(&found)).or_else(Refusal::response)
    })
    .charged(PageCharge::Nothing),
    raw(PREVIEW, preview).charged(PageCharge::Rows(ROWS_OF_PREVIEW)),
    raw(VIEW, view).charged(PageCharge::Nothing),
];

#[derive(Debug, Error)]
enum Refusal {
    /// An invalid request, with the accepted values.
    #[error("{0}")]
    Invalid(String),
    #[error(transparent)]
    Page(#[from] PageError),
}

impl Refusal {
    /// The response to a program; an error page if the request itself is valid.
    fn response(self) -> PageResult {
        let detail = match self {
            Self::Page(error) => return Err(error),
            Self::Invalid(detail) => detail,
        };
        let mut response = json_response(&json!({ "status": "error", "message": detail }));
        *response.status_mut() = StatusCode::BAD_REQUEST;
        CommonHeaders { caching: Some(Caching::Never), ..CommonHeaders::default() }.write(response.headers_mut());
        Ok(response)
    }
}

fn parameter(request: PageRequest<'_>, name: &str) -> String {
    request.parameter(name).unwrap_or_default().trim().to_owned()
}

/// Answers a request to `/reconcile`; `text` is the query, or the body of a POST.
async fn answer(request: PageRequest<'_>, text: &[u8], address: IpAddr) -> Response<Vec<u8>> {
    if text.is_empty() {
        return in_turn(request, address, |catalog| Ok(manifest_response(catalog, request))).await;
    }
    let catalog = request.state.releases.current();
    let response = answer_service(&catalog, request, text, address).await;
    response.or_else(Refusal::response).unwrap_or_else(|error| fail(&error, &catalog, request))
}

fn manifest_response(catalog: &Catalog, request: PageRequest<'_>) -> Response<Vec<u8>> {
    let (service, base) = (&request.state.operator.brand.name, &request.state.public_url);
    let endpoint = |path: &str| json!({ "service_url": base, "service_path": path });
    let used = Item::TABLES.into_iter().filter(|table| catalog.snapshot().names(*table).len() > 0);
    json_response(&json!({
        "versions": ["0.1", "0.2"],
        "name": format!("{service} ({})", catalog.version()),
        "identifierSpace": format!("{base}/"),
        "schemaSpace": format!("{base}/docs/resolve#reconcile"),
        "documentation": format!("{base}/docs/resolve#reconcile"),
        "defaultTypes": used.map(|table| kind(table.noun())).collect::<Vec<_>>(),
        "batchSize": MAX_BATCH,
        "view": { "url": format!("{base}{}?id={{{{id}}}}", VIEW) },
        "preview": { "url": format!("{base}{}?id={{{{id}}}}", PREVIEW), "width": 430, "height": 300 },
        "suggest": {
            "entity": endpoint(SUGGEST_ENTITY),
            "type": endpoint(SUGGEST_TYPE),
            "property": endpoint(SUGGEST_PROPERTY),
        },
        "extend": { "propose_properties": endpoint(PROPERTIES), "property_settings": [] },
    }))
}

fn json_response(value: &Value) -> Response<Vec<u8>> {
    let (caching, varies) = (Some(Caching::Private), Some(Vary::Encoding));
    let headers = CommonHeaders { caching, varies, is_cross_origin: true, ..CommonHeaders::default() };
    response_of(value.to_string().into_bytes(), "application/json", headers)
}

/// Answers with the manifest, or the results of `queries` or `extend`. Each query and each record waits for its turn.
async fn answer_service(
    catalog: &Catalog,
    request: PageRequest<'_>,
    text: &[u8],
    address: IpAddr,
) -> Result<Response<Vec<u8>>, Refusal> {
    let mut turns =
        request.state.work.batch(request.work_caller(address), request.trace.work()).map_err(PageError::from)?;
    let base = &request.state.public_url;
    let mut answers = Map::new();
    let given: Vec<(String, String)> = turns.run(|| form_urlencoded::parse(text).into_owned().collect()).await;
    let part = |name: &str| given.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text.trim());
    match (part("queries"), part("extend")) {
        ("", "") => Ok(turns.run(|| manifest_response(catalog, request)).await),
        ("", extend) => {
            let extension = turns.run(|| extension::Extension::parse(&object("extend", extend)?)).await?;
            admit_batch(request, address, extension.ids.len())?;
            for id in &extension.ids {
                answers.insert(id.clone(), turns.run(|| extension.values(catalog, id)).await);
            }
            charge_work(request, address, extension.ids.len());
            Ok(turns.run(|| json_response(&extension.answer(answers))).await)
        }
        (queries, _) => {
            let queries = turns.run(|| object("queries", queries)).await?;
            if queries.len() > MAX_BATCH {
                return Err(too_many("queries", queries.len()));
            }
            admit_batch(request, address, queries.len())?;
            for (key, query) in &queries {
                let answer = turns.run(|| answer_query(catalog, key, query, base)).await?;
                answers.insert(key.clone(), answer);
            }
            charge_work(request, address, queries.len());
            Ok(turns.run(|| json_response(&Value::Object(answers))).await)
        }
    }
}

fn too_many(name: &str, count: usize) -> Refusal {
    Refusal::Invalid(format!("`{name}` has {count} entries; send at most {MAX_BATCH} at a time"))
}

fn object(name: &str, text: &str) -> Result<Map<String, Value>, Refusal> {
    let detail = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => return Ok(object),
        Ok(_) => format!("`{name}` is not a JSON object, such as `{{\"q0\": {{\"query\": \"…\"}}}}`"),
        Err(error) => format!("`{name}` is not JSON: {error}"),
    };
    Err(Refusal::Invalid(detail))
}

fn answer_query(catalog: &Catalog, key: &str, query: &Value, base: &str) -> Result<Value, Refusal> {
    let invalid = |detail: &str| Refusal::Invalid(format!("query `{}`: {detail}", shortened(key)));
    let Value::Object(query) = query else { return Err(invalid("is not an object with `query` or `properties`")) };
    let tables = types(query.get("type")).map_err(|detail| invalid(&detail))?;
    let limit = query.get("limit").and_then(Value::as_u64);
    let limit = limit.map_or(CANDIDATES, |limit| limit.min(MAX_CANDIDATES as u64) as usize);
    let values = query_values(query);
    let mut texts = ItemTexts::default();
    values.iter().for_each(|(name, text)| texts.set(name, text));
    // With an invalid property, only the name is looked up.
    let item = texts.parse_item(catalog, &tables).or_else(|_| {
        let name = ItemTexts { name: texts.name, ..ItemTexts::default() };
        name.parse_item(catalog, &tables)
    });
    let item = match item {
        Ok(item) => item,
        Err(errors) => {
            let details: Vec<&str> = errors.iter().map(|error| error.detail.as_str()).collect();
            return Ok(json!({ "result": [], "error": format!("query `{}`: {}", shortened(key), details.join("; ")) }));
        }
    };
    let found = published(catalog, &catalog.look_up(&item), base, limit);
    Ok(json!({ "result": results(&found) }))
}

/// The tables of one or several types; all tables if no type is given.
fn types(given: Option<&Value>) -> Result<Vec<Table>, String> {
    let names: Vec<&str> = match given {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) => return Err("`type` is not a text or a list of texts".to_owned()),
    };
    let mut tables = Vec::new();
    for name in names {
        tables.extend(Item::tables_of(name).map_err(|error| error.detail)?);
    }
    Ok(if tables.is_empty() { Item::TABLES.to_vec() } else { tables })
}

fn query_values(query: &Map<String, Value>) -> Vec<(&'static str, String)> {
    let mut values: Vec<(&'static str, String)> = Vec::new();
    values.extend(query.get("query").and_then(Value::as_str).map(|name| ("name", name.to_owned())));
    for property in query.get("properties").and_then(Value::as_array).into_iter().flatten() {
        let (Some(pid), Some(given)) = (property["pid"].as_str(), property.get("v")) else { continue };
        let texts: Vec<String> = match given {
            Value::Array(values) => values.iter().filter_map(text_of).collect(),
            value => text_of(value).into_iter().collect(),
        };
        for text in texts {
            match ItemTexts::NAMES.into_iter().find(|name| *name == pid) {
                Some(name) => values.push((name, text)),
                None if pid == "identifiers" => values.push(("id", text)),
                None if identifier::scheme(pid).is_some() => values.push(("id", format!("{pid}:{text}"))),
                None => {}
            }
        }
    }
    values
}

/// The text of a value; the name, for a record.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(record) => record.get("name").or_else(|| record.get("id"))?.as_str().map(str::to_owned),
        _ => None,
    }
}

fn results(found: &LookUpAnswer) -> Vec<Value> {
    let results = found.candidates.iter().enumerate().map(|(index, candidate)| {
        let features = candidate.reasons.iter().map(|reason| json!({ "id": reason.evidence, "value": reason.points }));
        let place = format::place(&candidate.city, &candidate.country);
        let notes = [candidate.organization.clone().unwrap_or_default(), place];
        let notes: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        json!({
            "id": candidate.id,
            "name": candidate.name,
            "description": notes.join(", "),
            "type": [kind(candidate.kind)],
            "score": candidate.score,
            "features": features.collect::<Vec<_>>(),
            "match": index == 0 && found.status == "match",
        })
    });
    results.collect()
}

fn suggest_entities(catalog: &Catalog, request: PageRequest<'_>) -> Value {
    let tables = Item::tables_of(&parameter(request, "type")).unwrap_or_else(|_| Item::TABLES.to_vec());
    let found = catalog.suggest(&parameter(request, "prefix"), &tables, MAX_SUGGESTIONS);
    let result = found.into_iter().map(|suggestion| {
        json!({
            "id": id_of(catalog, suggestion.table, suggestion.row),
            "name": catalog.snapshot().name(suggestion.table, suggestion.row),
            "description": suggestion.note.unwrap_or_default(),
            "notable": [kind(suggestion.table.noun())],
        })
    });
    json!({ "result": result.collect::<Vec<_>>() })
}

#[derive(Template)]
#[template(path = "reconcile_preview.html")]
struct Preview {
    brand: String,
    name: String,
    url: String,
    kind: &'static str,
    facts: Vec<(String, String)>,
}

fn record_of(catalog: &Catalog, request: PageRequest<'_>) -> PageResult<(Table, u32)> {
    row_of_id(catalog, &parameter(request, "id")).ok_or(PageError::UnknownPage)
}

fn preview(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult {
    let (table, row) = record_of(catalog, request)?;
    let shown = ["description", "title", "organization", "city", "country", "website", "founded_year"];
    let facts = shown.into_iter().filter_map(|name| {
        let values = extension::values(catalog, table, row, name);
        let texts: Vec<String> = values.iter().filter_map(extension::plain).collect();
        (!texts.is_empty()).then(|| (extension::label(name), texts.join(", ")))
    });
    let page = Preview {
        name: catalog.snapshot().names(table).name(row).to_owned(),
        brand: request.state.operator.brand.name.to_string(),
        url: format!("{}/{}", request.state.public_url, id_of(catalog, table, row)),
        kind: table.noun(),
        facts: facts.collect(),
    };
    let headers = page_headers(Caching::Private);
    let headers = CommonHeaders { page_policy: Some(FRAMED), is_cross_origin: true, ..headers };
    Ok(response_of(page.render()?.into_bytes(), HTML, headers))
}

fn view(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult {
    let (table, row) = record_of(catalog, request)?;
    Ok(see_other(&format!("/{}", id_of(catalog, table, row)), Caching::Private))
}

/// A type by the noun of its records: `firm`.
fn kind(noun: &str) -> Value {
    json!({ "id": noun, "name": extension::label(noun) })
}

fn suggest_types(request: PageRequest<'_>) -> Value {
    let prefix = parameter(request, "prefix").to_lowercase();
    let found = Item::TABLES.map(Table::noun).into_iter().filter(|noun| noun.starts_with(&prefix));
    json!({ "result": found.map(kind).collect::<Vec<_>>() })
}
