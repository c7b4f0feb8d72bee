//! `snapshot.toml`: which release a dataset is.

use std::path::Path;

use crate::data::Report;
use crate::data::import::csv_table::{Diagnostics, clean_line};
use crate::data::import::diagnostics::quoted;
use crate::data::import::rows::Meta;

/// The file's name.
pub const FILE: &str = "snapshot.toml";

const KEYS: [&str; 6] = ["version", "released_on", "title", "source", "license", "invented"];

/// Reads `snapshot.toml`; `None` where something required is missing or wrong.
pub(crate) fn read(folder: &Path, report: &mut Report) -> Option<Meta> {
    let mut complaints = Diagnostics::of(FILE, report);
    let text = match std::fs::read(folder.join(FILE)) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let line = lines_before(error.as_bytes(), error.utf8_error().valid_up_to());
                complaints.error(Some(line), None, "is not UTF-8".into());
                return None;
            }
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            complaints.error(None, None, "file is missing".into());
            return None;
        }
        Err(error) => {
            complaints.error(None, None, format!("file cannot be read: {error}"));
            return None;
        }
    };
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => {
            let error: toml::de::Error = error;
            let line = error.span().map(|span| lines_before(text.as_bytes(), span.start));
            complaints.error(line, None, format!("is not TOML: {}", error.message()));
            return None;
        }
    };
    for key in table.keys() {
        if !KEYS.contains(&key.as_str()) {
            complaints.warning(line_of(&text, key), None, format!("unknown key {}", quoted(key)));
        }
    }
    let mut value = |key: &'static str, required: bool| -> Option<String> {
        let text_of = match table.get(key) {
            Some(toml::Value::String(value)) => clean_line(value),
            Some(toml::Value::Datetime(value)) => value.to_string(),
            Some(other) => {
                let message = format!("is of type {}; write it as a text in quotes", other.type_str());
                complaints.error(line_of(&text, key), Some(key), message);
                return None;
            }
            None => String::new(),
        };
        if text_of.is_empty() && required {
            complaints.error(line_of(&text, key), Some(key), "is missing; a snapshot needs one".into());
            return None;
        }
        Some(text_of)
    };
    let (version, released_on) = (value("version", true), value("released_on", true));
    let (title, source, license) = (value("title", false), value("source", false), value("license", false));
    let version = version.and_then(|version| {
        let read = version.parse().ok();
        if read.is_none() {
            let message = format!("{} is not a version of the form YYYY-MM-DD.N", quoted(&version));
            complaints.error(line_of(&text, "version"), Some("version"), message);
        }
        read
    });
    let released_on = released_on.and_then(|date| {
        let read = date.parse().ok();
        if read.is_none() {
            let message = format!("{} is not a date of the form YYYY-MM-DD", quoted(&date));
            complaints.error(line_of(&text, "released_on"), Some("released_on"), message);
        }
        read
    });
    let invented = match table.get("invented") {
        None => Some(false),
        Some(toml::Value::Boolean(invented)) => Some(*invented),
        Some(other) => {
            let message = format!("is of type {}; write true or false without quotes", other.type_str());
            complaints.error(line_of(&text, "invented"), Some("invented"), message);
            None
        }
    };
    Some(Meta {
        version: version?,
        released_on: released_on?,
        title: title?,
        source: source?,
        license: license?,
        invented: invented?,
    })
}

fn lines_before(text: &[u8], end: usize) -> u64 {
    1 + text.iter().take(end).filter(|byte| **byte == b'\n').count() as u64
}

/// The line where `key` stands.
fn line_of(text: &str, key: &str) -> Option<u64> {
    let place = text.lines().position(|line| {
        let line = line.trim_start().trim_start_matches('"');
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with('='))
    });
    place.map(|place| place as u64 + 1)
}
