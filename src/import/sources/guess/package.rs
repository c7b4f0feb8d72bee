//! Guesses the mapping of a data package, whose files `datapackage.json` (Frictionless Data Package v1) describes.

use std::collections::HashMap;
use std::io::Read;

use serde_json::Value;

use crate::sources::guess::sample::Sample;
use crate::sources::guess::{FileDescription, InputNames, Table, csvw, document, quote, table};
use crate::sources::input::json_rows::json_error;
use crate::sources::input::{InputFormat, Member, Quote, encoding, limits};
use crate::sources::mapping::date_format::DateFormat;
use crate::sources::money::Decimal;
use crate::sources::{Source, SourceError};
use data::formula::MARKED_FORMULAS;
use data::import::diagnostics::quoted;

const FILE: &str = "datapackage.json";

/// Mapping of the data package among these files, as TOML.
pub(crate) fn mapping(members: &[Member]) -> Result<String, SourceError> {
    let find = |name: &str| members.iter().find(|member| member.path.ends_with(name));
    let is_package = |path: &str| path == FILE || path.ends_with("/datapackage.json");
    let package = members.iter().find(|member| is_package(&member.path));
    let Some(member) = package.or_else(|| find(csvw::ENDING)) else {
        let problem = format!(
            "no {FILE} and no metadata of CSVW (…{}) among the inputs; give the folder or the archive of the package",
            csvw::ENDING
        );
        return Err(SourceError::Problems(vec![problem]));
    };
    let is_csvw = package.is_none();
    let description = read_json(member)?;
    let package = if is_csvw { csvw::package(&description) } else { description };
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let name = text(&package, "name");
    let id = if Source::is_id(&name) { name } else { "data-package".to_owned() };
    let title = Some(text(&package, "title")).filter(|title| !title.is_empty()).unwrap_or_else(|| id.clone());
    let license = Some(text(&package["licenses"][0], "name")).filter(|license| !license.is_empty());
    let Some(license) = license else {
        let problem = match is_csvw {
            true => "has no license; add one, such as `\"dc:license\": \"CC0-1.0\"`",
            false => "has no `licenses` with a `name`; add one, such as `\"licenses\": [{\"name\": \"CC0-1.0\"}]`",
        };
        return Err(member.error(1, problem));
    };
    let source = format!(
        "[source]\nid = {}\ntitle = {}\nlicense = {}\nurl = {}\n",
        quote(&id),
        quote(&title),
        quote(&license),
        quote(&text(&package, "homepage"))
    );
    let folder = member.path.rfind('/').map_or("", |end| &member.path[..=end]);
    let (mut names, mut tables) = (InputNames::default(), Vec::new());
    let by_path: HashMap<&str, &Member> = members.iter().rev().map(|member| (&*member.path, member)).collect();
    let resources = package["resources"].as_array().map(Vec::as_slice).unwrap_or_default();
    limits::RESOURCES.check(resources.len() as u64).map_err(|exceeded| member.error(1, exceeded))?;
    // A resource may be in several files.
    for (resource, path) in
        resources.iter().flat_map(|resource| texts(&resource["path"]).into_iter().map(move |path| (resource, path)))
    {
        // A compressed file has the path of its content.
        let inside = format!("{folder}{}", path.strip_suffix(".gz").unwrap_or(&path));
        let Some(found) = by_path.get(&*inside) else {
            return Err(member.error(1, format!("names the file {}, which is not among the inputs", quoted(&path))));
        };
        // A schema or dialect may be a file of its own.
        let described = |key: &str| match &resource[key] {
            Value::String(path) => match by_path.get(&*format!("{folder}{path}")) {
                Some(file) => read_json(file),
                None => Err(member.error(1, format!("names the file {}, which is not among the inputs", quoted(path)))),
            },
            value => Ok(value.clone()),
        };
        let (schema, dialect) = (described("schema")?, described("dialect")?);
        let refuse = |problem: String| Err(member.error(1, format!("resource {}: {problem}", quoted(&path))));
        if dialect["header"] == false {
            return refuse("`header` of the dialect is false: its columns have no names; add a header line".to_owned());
        }
        if let Some(comment) = dialect["commentChar"].as_str().filter(|text| !text.is_empty()) {
            return refuse(format!(
                "`commentChar` of the dialect is {}: remove the comment lines and this line",
                quoted(comment)
            ));
        }
        let one_byte = |key: &str, default: u8| match &dialect[key] {
            Value::Null if dialect.get(key).is_some() && key == "quoteChar" => Ok(None),
            Value::Null => Ok(Some(default)),
            Value::String(text) if text.is_empty() => Ok(None),
            value => match value.as_str().unwrap_or_default().as_bytes() {
                [byte] => Ok(Some(*byte)),
                _ => Err(member.error(
                    1,
                    format!("resource {}: `{key}` of the dialect is not one character: {value}", quoted(&path)),
                )),
            },
        };
        let delimiter = one_byte("delimiter", 0)?.filter(|byte| *byte != 0);
        let quote_char = one_byte("quoteChar", b'"')?;
        let label = text(resource, "encoding");
        let encoding = encoding::named(&label);
        if encoding.is_none() && !label.is_empty() {
            return refuse(format!("`encoding` {} is not known; save the file in UTF-8", quoted(&label)));
        }
        let mut none = texts(&package["missingValues"]);
        none.extend([&resource["missingValues"], &schema["missingValues"]].into_iter().flat_map(texts));
        none.retain(|text| !text.is_empty());
        let mut described = FileDescription { none, key: texts(&schema["primaryKey"]), ..FileDescription::default() };
        let mut decimals = Vec::new();
        for field in schema["fields"].as_array().into_iter().flatten() {
            let other = match text(field, "groupChar").as_str() {
                "." => ",",
                "," => ".",
                _ => "",
            };
            // If fields have different separators, the values of each field decide.
            let decimal = Decimal::written(&text(field, "decimalChar")).or_else(|| Decimal::written(other));
            decimals.extend(decimal);
            let format = text(field, "format");
            if ["date", "datetime", "year", "yearmonth"].iter().any(|kind| field["type"] == *kind)
                && DateFormat::parse(&format).is_ok()
            {
                described.dates.insert(text(field, "name"), format);
            }
        }
        let is_one = decimals.windows(2).all(|pair| pair[0] == pair[1]);
        described.decimal = decimals.first().copied().filter(|_| is_one);
        let format = InputFormat {
            delimiter,
            quote: dialect.get("quoteChar").map(|_| Quote(quote_char)),
            encoding,
            has_marked_formulas: resource[MARKED_FORMULAS] == true,
            ..InputFormat::default()
        };
        let fields = || schema["fields"].as_array().into_iter().flatten();
        described.none_of = fields().map(|field| (text(field, "name"), texts(&field["missingValues"]))).collect();
        described.resource = text(resource, "name");
        for key in schema["foreignKeys"].as_array().into_iter().flatten() {
            let (columns, keys) = (texts(&key["fields"]), texts(&key["reference"]["fields"]));
            let target = text(&key["reference"], "resource");
            // An empty name refers to the resource itself.
            let is_target = |other: &&Value| text(other, "name") == target && !target.is_empty();
            let target_key = resources.iter().find(is_target).map_or(&schema, |other| &other["schema"]);
            if let ([column], true) = (&*columns, texts(&target_key["primaryKey"]) == keys) {
                let target = if target.is_empty() { &described.resource } else { &target };
                described.references.insert(column.clone(), target.clone());
            }
        }
        let mut sample = Sample::read_as(found, format)?;
        for (header, values) in sample.headers.iter().zip(&mut sample.values) {
            let own = described.none_of.get(header).into_iter().flatten();
            let none: Vec<&String> = described.none.iter().chain(own).collect();
            values.retain(|value| !none.contains(&value));
        }
        let file = table::meaning_of_file(&found.path);
        tables.push(Table { name: names.unused(&path), member: found, file, sample, described });
    }
    document(&source, members, &tables)
}

fn read_json(member: &Member) -> Result<Value, SourceError> {
    let mut document = Value::Null;
    member.open(&mut |from: &mut dyn Read| {
        let text = limits::DOCUMENT.read(from).map_err(|error| member.fault(1, error))?;
        document = serde_json::from_slice(&text).map_err(|error| json_error(member, 1, error))?;
        Ok(())
    })?;
    Ok(document)
}

/// One text, or each of a list; a missing value may be an object with a label.
fn texts(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().or_else(|| value["value"].as_str()).map(str::to_owned);
    match value {
        Value::Array(values) => values.iter().filter_map(text).collect(),
        value => text(value).into_iter().collect(),
    }
}

/// A line of a section with what is described of its column: texts of unknown values, and that it refers to records by
/// their key, not by their name.
pub(super) fn described_line(line: &str, described: &FileDescription, is_key: impl Fn(&str) -> bool) -> String {
    let mut line = line.to_owned();
    for (column, none) in &described.none_of {
        line = with_none(line, column, none);
    }
    for column in described.references.keys().filter(|column| is_key(column)) {
        if line.contains(&format!("column = {}", quote(column))) {
            line = line.replace(", by = \"name\"", "").replace(", create = true", "");
        }
    }
    line
}

fn with_none(line: String, column: &str, none: &[String]) -> String {
    const NONE: &str = ", none = [";
    let none: Vec<String> = none.iter().filter(|text| !text.is_empty()).map(|text| quote(text)).collect();
    let (column, none) = (quote(column), none.join(", "));
    let table = format!("column = {column}");
    if none.is_empty() {
        line
    } else if let Some(field) = line.strip_suffix(&column).filter(|start| start.ends_with(" = ")) {
        format!("{field}{{ {table}{NONE}{none}] }}")
    } else if line.contains(&table) && line.contains(NONE) {
        line.replace(NONE, &format!("{NONE}{none}, "))
    } else {
        line.replace(&table, &format!("{table}{NONE}{none}]"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::sources::mapping::Mapping;

    /// The mapping of a folder with these files.
    fn made(files: &[(&str, &str)]) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
        let members = Member::list(&[folder.path().to_owned()]).unwrap();
        let text = mapping(&members).map_err(|error| error.to_string())?;
        Mapping::read("made", &text, Path::new("")).unwrap_or_else(|error| panic!("{error}: {text}"));
        Ok(text)
    }

    const LIST: &str = "reg;name;founded;city\n'1';'Alder; Co';03.05.2019;k.A.\n2;Birch;?;Bonn\n";

    #[test]
    fn a_package_says_how_its_tables_are_written() {
        let package = r#"{"name":"list","licenses":[{"name":"CC0-1.0"}],"missingValues":["k.A."],"resources":[{"name":"list",
            "path":["investors.csv"],"dialect":"dialect.json","schema":{"primaryKey":"reg","fields":[{"name":"reg"},{"name":"name"},
            {"name":"founded","type":"date","format":"%d.%m.%Y","missingValues":["?"]},{"name":"city"}]}}]}"#;
        let dialect = r#"{"delimiter":";","quoteChar":"'"}"#;
        let files = |dialect| [("datapackage.json", package), ("investors.csv", LIST), ("dialect.json", dialect)];
        let text = made(&files(dialect)).unwrap();
        for line in [
            "delimiter = \";\"",
            "quote = \"'\"",
            "none = [\"k.A.\"]",
            "founded_year = { column = \"founded\", none = [\"?\"], dates = [\"%d.%m.%Y\"] }",
            "key = { columns = [\"reg\"] }",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        for (dialect, problem) in [
            (r#"{"header":false}"#, "add a header line"),
            (r##"{"commentChar":"#"}"##, "remove the comment lines"),
            (r#"{"delimiter":"||"}"#, "`delimiter` of the dialect is not one character"),
        ] {
            assert!(made(&files(dialect)).unwrap_err().contains(problem), "{dialect}");
        }
    }

    #[test]
    fn a_described_key_is_what_other_tables_refer_to() {
        let table = |name: &str, key: &str, of: &str| {
            format!(r#"{{"name":"{name}","path":"{name}.csv","schema":{{"primaryKey":"{key}","foreignKeys":[{of}]}}}}"#)
        };
        let of = r#"{"fields":"company","reference":{"resource":"startups","fields":"KEY"}}"#;
        let rounds =
            "no,company,round,announced on,amount\n1,Cedar,Seed,2024-01-02,$5\n2,Dogwood,Series A,2024-02-03,$6\n";
        for (key, startups, lines) in [
            (
                "reg",
                "reg,startup,status\nCedar,Alder,active\nDogwood,Birch,closed\n",
                ["startup = \"company\"", "[\"reg\"]"],
            ),
            // Names are compared as names.
            (
                "startup",
                "reg,startup,status\n1,Cedar,active\n2,Dogwood,closed\n",
                ["startup = { column = \"company\", by = \"name\" }", "{ column = \"startup\", by = \"name\" }"],
            ),
        ] {
            let tables = [table("startups", key, ""), table("rounds", "no", &of.replace("KEY", key))].join(",");
            let package = format!(r#"{{"name":"list","licenses":[{{"name":"CC0-1.0"}}],"resources":[{tables}]}}"#);
            let files = [("datapackage.json", &*package), ("startups.csv", startups), ("rounds.csv", rounds)];
            let text = made(&files).unwrap();
            assert!(text.contains("[[round]]\nfrom = \"rounds\"\nkey = { columns = [\"no\"] }"), "{text}");
            for line in lines {
                assert!(text.contains(line), "{line} in {text}");
            }
        }
    }

    #[test]
    fn metadata_of_csvw_is_read_like_a_package() {
        let metadata = r#"{"@context":"http://www.w3.org/ns/csvw","url":"investors.csv","dc:title":"List","dc:license":"CC0-1.0",
            "dialect":{"delimiter":";","quoteChar":"'"},"tableSchema":{"primaryKey":"id","columns":[
            {"name":"id","titles":"reg"},{"name":"n","titles":["name"]},
            {"name":"founded","datatype":{"base":"date","format":"dd.MM.yyyy"},"null":["?"]},{"name":"city","null":"k.A."}]}}"#;
        let text = made(&[("investors.csv-metadata.json", metadata), ("investors.csv", LIST)]).unwrap();
        for line in [
            "title = \"List\"",
            "license = \"CC0-1.0\"",
            "founded_year = { column = \"founded\", none = [\"?\"], dates = [\"%d.%m.%Y\"] }",
            "city = { column = \"city\", none = [\"k.A.\"] }",
            "key = { columns = [\"reg\"] }",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
}
