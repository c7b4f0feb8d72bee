//! Single records, and the answers about the service itself.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::catalog::{Catalog, ParameterError};
use crate::data::{Counts, Table};
use crate::http::problem::{Code, Problem};
use crate::search::nearest;

use crate::api::Version;
use crate::api::fields::Fields;
use crate::api::list::{Meta, append};
use crate::api::record_json;
use crate::api::schema::{Field, Shape, holding, plain};
use crate::api::version::{PageWindow, single};
use crate::api::{ApiRequest, ApiResponse};

/// Finds the record of a slug, or tells the nearest slugs.
pub(crate) fn find(catalog: &Catalog, table: Table, slug: &str) -> Result<u32, Problem> {
    catalog.find(table, slug).ok_or_else(|| {
        let noun = table.noun();
        let did_you_mean = catalog.nearest_slugs(table, slug, 3);
        let detail = match did_you_mean.first() {
            Some(nearest) => format!("no {noun} has the slug `{slug}`; did you mean `{nearest}`?"),
            None => format!("no {noun} has the slug `{slug}`"),
        };
        Problem { did_you_mean, ..Problem::new(Code::NotFound, detail) }
    })
}

/// Complains of parameters that a path does not have: an error under v3, else a warning.
fn check_parameters(call: &ApiRequest<'_>, accepted: &[&str]) -> Result<Vec<ParameterError>, Problem> {
    let ignored = |name: &str| name == "_" || name.starts_with("utm_") || accepted.contains(&name);
    let unknown: Vec<ParameterError> = call
        .values
        .iter()
        .filter(|(name, _)| !ignored(name))
        .map(|(name, _)| ParameterError::unknown_parameter(name, accepted))
        .collect();
    if call.version.is_strict() && !unknown.is_empty() { Err(Problem::of_parameters(unknown)) } else { Ok(unknown) }
}

/// Answers one record.
pub(crate) fn answer(call: &ApiRequest<'_>, table: Table, slug: &str) -> Result<ApiResponse, Problem> {
    let v3 = call.version == Version::V3;
    let row = find(&call.catalog, table, slug)?;
    let warnings = check_parameters(call, if v3 { &["fields"] } else { &[] })?;
    let fields = match v3 {
        true => Fields::read(call.values, Shape::of(table)).map_err(Problem::of_parameters)?,
        false => Fields::Default,
    };
    let mut body = Vec::with_capacity(4 * 1024);
    body.extend_from_slice(b"{\"data\":");
    record_json::write(&mut body, &call.catalog, table, row, &fields, true);
    let snapshot = v3.then(|| call.catalog.version().to_string());
    if v3 || !warnings.is_empty() {
        body.extend_from_slice(b",\"meta\":");
        append(&mut body, &Meta { snapshot, warnings: &warnings, did_you_mean: &[], explain: &[] })?;
    }
    body.push(b'}');
    Ok(ApiResponse { body, snapshot: call.catalog.version(), next_link: None })
}

/// Answers data made for this request, cut to the keys that `fields` names.
pub(crate) fn made(
    call: &ApiRequest<'_>,
    data: &impl Serialize,
    shape: Shape<'_>,
    warnings: &[ParameterError],
) -> Result<ApiResponse, Problem> {
    let fields = Fields::read(call.values, shape).map_err(Problem::of_parameters)?;
    let mut whole = Vec::new();
    append(&mut whole, data)?;
    let mut body = Vec::with_capacity(whole.len() + 64);
    body.extend_from_slice(b"{\"data\":");
    match fields.tree(shape) {
        Some(tree) => tree.write(&mut body, &whole),
        None => body.append(&mut whole),
    }
    body.extend_from_slice(b",\"meta\":");
    let snapshot = Some(call.catalog.version().to_string());
    append(&mut body, &Meta { snapshot, warnings, did_you_mean: &[], explain: &[] })?;
    body.push(b'}');
    Ok(ApiResponse { body, snapshot: call.catalog.version(), next_link: None })
}

/// Answers an object made for this request, cut to the top-level keys that `fields` names.
fn object(call: &ApiRequest<'_>, data: &Map<String, Value>) -> Result<ApiResponse, Problem> {
    check_parameters(call, &["fields"])?;
    let keys: Vec<Field<'_>> = data.keys().map(|key| plain(key)).collect();
    made(call, data, Shape::object(&keys), &[])
}

/// `GET /stats`: totals of the snapshot.
pub(crate) fn stats(call: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let totals = serde_json::to_value(call.catalog.totals()).unwrap_or_default();
    object(call, &totals.as_object().cloned().unwrap_or_default())
}

/// Names suggested where no `limit` is asked for.
pub const SUGGESTIONS: u64 = 10;

/// `GET /suggest?q=`: names over all kinds that a text being typed may become, the best first.
pub(crate) fn suggest(call: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    check_parameters(call, &["q", "limit", "fields"])?;
    let mut errors = Vec::new();
    let text = single(call.values, "q", &mut errors).unwrap_or("");
    if text.is_empty() && errors.is_empty() {
        errors.push(ParameterError::invalid("q", "`q` is missing: give what has been typed so far"));
    }
    if !errors.is_empty() {
        return Err(Problem::of_parameters(errors));
    }
    let mut warnings = Vec::new();
    let limit = match call.values.iter().any(|(name, value)| name == "limit" && !value.trim().is_empty()) {
        true => PageWindow::read(Version::V1, call.values, &mut warnings).map_err(Problem::of_parameters)?.limit,
        false => SUGGESTIONS,
    };
    let data: Vec<Value> = call
        .catalog
        .suggest(text, limit as usize)
        .into_iter()
        .map(|(table, row, score)| {
            let snapshot = call.catalog.snapshot();
            let mut entry = Map::new();
            entry.insert("kind".to_owned(), table.noun().into());
            entry.insert("slug".to_owned(), snapshot.slug(table, row).into());
            entry.insert("name".to_owned(), snapshot.name(table, row).into());
            entry.insert("score".to_owned(), ((f64::from(score) * 1_000.0).round() / 1_000.0).into());
            Value::Object(entry)
        })
        .collect();
    const SHAPE: &[Field<'_>] = &[plain("kind"), plain("slug"), plain("name"), plain("score")];
    made(call, &data, Shape::object(SHAPE), &warnings)
}

/// `GET /snapshots`: the releases that are held, newest first.
pub(crate) fn snapshots(call: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    check_parameters(call, &["fields"])?;
    let mut data = Vec::new();
    for catalog in call.state.live.all() {
        let snapshot = catalog.snapshot();
        data.push(json!({
            "version": snapshot.version().to_string(),
            "released_on": snapshot.released_on().to_string(),
            "title": snapshot.title(),
            "source": snapshot.source(),
            "license": snapshot.license(),
            "serving": snapshot.version() == call.catalog.version(),
            "checksum": format!("{:016x}", snapshot.content()),
            "counts": Counts { reviews: catalog.totals().reviews, ..snapshot.counts() },
        }));
    }
    const COUNTS: &[Field<'_>] = &[
        plain("firms"),
        plain("startups"),
        plain("funding_rounds"),
        plain("people"),
        plain("reviews"),
        plain("sectors"),
    ];
    const SHAPE: &[Field<'_>] = &[
        plain("version"),
        plain("released_on"),
        plain("title"),
        plain("source"),
        plain("license"),
        plain("serving"),
        plain("checksum"),
        holding("counts", COUNTS),
    ];
    made(call, &data, Shape::object(SHAPE), &[])
}

/// `GET /usage`: the caller's quota; costs nothing.
pub(crate) fn usage(call: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let quota = &call.quota;
    let mut data = Map::new();
    data.insert("tier".to_owned(), quota.tier.map(|tier| tier.name()).into());
    data.insert("limit".to_owned(), quota.limit.into());
    data.insert("used".to_owned(), quota.used.into());
    data.insert("remaining".to_owned(), quota.remaining.into());
    data.insert("resets_at".to_owned(), crate::http::headers::instant(quota.resets_at).into());
    object(call, &data)
}

/// A path that the version does not have: tells the nearest one.
pub(crate) fn unknown_route(call: &ApiRequest<'_>) -> Problem {
    let (version, path) = (call.version.number(), call.path);
    let routes = crate::api::endpoint::shown(call.version);
    let meant = crate::api::endpoint::meant(call.version, path);
    let near = meant.as_deref().or_else(|| nearest(path, routes.iter().copied()));
    let detail = match near {
        Some(near) => format!("v{version} has no path `/{path}`; did you mean `/{near}`?"),
        None => format!("v{version} has no path `/{path}`: it has {}", routes.join(", ")),
    };
    let did_you_mean = meant.map(|meant| format!("/{meant}")).into_iter().collect();
    Problem { did_you_mean, ..Problem::new(Code::UnknownRoute, detail) }
}
