//! Guesses the mapping of a data package, whose files `datapackage.json` (Frictionless Data Package v1) describes.

use std::collections::HashMap;
use std::io::Read;

use serde_json::Value;

use crate::sources::guess::sample::Sample;
use crate::sources::guess::{FileDescription, InputNames, Table, document, quote};
use crate::sources::input::json_rows::json_error;
use crate::sources::input::{InputFormat, Member, Quote, encoding, limits};
use crate::sources::mapping::date_format::DateFormat;
use crate::sources::money::Decimal;
use crate::sources::{Source, SourceError};
use data::formula::MARKED_FORMULAS;

const FILE: &str = "datapackage.json";

/// Mapping of the data package among these files, as TOML.
pub(crate) fn mapping(members: &[Member]) -> Result<String, SourceError> {
    let is_package = |path: &str| path == FILE || path.ends_with("/datapackage.json");
    let Some(member) = members.iter().find(|member| is_package(&member.path)) else {
        let problem = format!("no {FILE} among the inputs; give the folder or the archive of the package");
        return Err(SourceError::Problems(vec![problem]));
    };
    let mut package = Value::Null;
    member.open(&mut |from: &mut dyn Read| {
        let text = limits::DOCUMENT.read(from).map_err(|error| member.fault(1, error))?;
        package = serde_json::from_slice(&text).map_err(|error| json_error(member, 1, error))?;
        Ok(())
    })?;
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let name = text(&package, "name");
    let id = if Source::is_id(&name) { name } else { "data-package".to_owned() };
    let title = Some(text(&package, "title")).filter(|title| !title.is_empty()).unwrap_or_else(|| id.clone());
    let license = Some(text(&package["licenses"][0], "name")).filter(|license| !license.is_empty());
    let Some(license) = license else {
        return Err(member
            .error(1, "has no `licenses` with a `name`; add one, such as `\"licenses\": [{\"name\": \"CC0-1.0\"}]`"));
    };
    let source = format!(
        "[source]\nid = {}\ntitle = {}\nlicense = {}\nurl = {}\n",
        quote(&id),
        quote(&title),
        quote(&license),
        quote(&text(&package, "homepage"))
    );
    let folder = member.path.strip_suffix(FILE).unwrap_or_default();
    let (mut names, mut tables) = (InputNames::default(), Vec::new());
    let by_path: HashMap<&str, &Member> = members.iter().rev().map(|member| (&*member.path, member)).collect();
    let resources = package["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
    limits::RESOURCES.check(resources.len() as u64).map_err(|exceeded| member.error(1, exceeded))?;
    for resource in resources {
        let path = resource["path"].as_str().or_else(|| resource["path"][0].as_str()).unwrap_or_default();
        // A compressed file has the path of its content.
        let inside = format!("{folder}{}", path.strip_suffix(".gz").unwrap_or(path));
        let Some(found) = by_path.get(&*inside) else {
            return Err(member.error(1, format!("names the file {path:?}, which is not among the inputs")));
        };
        let schema = &resource["schema"];
        let (none, key) = (texts(&schema["missingValues"]), texts(&schema["primaryKey"]));
        let mut described = FileDescription { none, key, ..FileDescription::default() };
        let mut decimals = Vec::new();
        for field in schema["fields"].as_array().into_iter().flatten() {
            // If fields have different separators, the values of each field decide.
            if let Some(decimal) = Decimal::written(&text(field, "decimalChar")) {
                decimals.push(decimal);
            }
            let format = text(field, "format");
            if field["type"] == "date" && DateFormat::parse(&format).is_ok() {
                described.dates.insert(text(field, "name"), format);
            }
        }
        let dialect = &resource["dialect"];
        let is_one = decimals.windows(2).all(|pair| pair[0] == pair[1]);
        described.decimal = decimals.first().copied().filter(|_| is_one);
        let format = InputFormat {
            delimiter: dialect["delimiter"].as_str().and_then(|text| text.bytes().next()),
            quote: dialect["quoteChar"].as_str().and_then(Quote::named),
            encoding: encoding::named(&text(resource, "encoding")),
            has_marked_formulas: resource[MARKED_FORMULAS] == true,
            ..InputFormat::default()
        };
        let sample = Sample::read_as(found, format)?;
        tables.push(Table { name: names.unused(path), member: found, sample, described });
    }
    Ok(document(&source, members, &tables))
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
