//! `snapshot.toml`: version, date and origin of a dataset.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::import::clean::{clean_line, hidden_count};
use crate::data::import::diagnostics::{Diagnostics, quoted, too_long};
use crate::data::{Date, Report, SnapshotVersion};

pub const FILE: &str = "snapshot.toml";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    pub version: SnapshotVersion,
    /// Ages are counted from this date.
    pub released_on: Date,
    pub title: String,
    pub source: String,
    pub license: String,
    /// Firms, people and reviews are invented; pages mark them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invented: bool,
}

/// Maximum characters of a value.
const MAX_VALUE: usize = 1_000;

const KEYS: [&str; 6] = ["version", "released_on", "title", "source", "license", "invented"];

/// Reads `snapshot.toml`; `None` if something required is missing or invalid.
pub(crate) fn read(folder: &Path, report: &mut Report) -> Option<Meta> {
    let mut diagnostics = Diagnostics::of(FILE, report);
    let text = match std::fs::read(folder.join(FILE)) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let line = lines_before(error.as_bytes(), error.utf8_error().valid_up_to());
                diagnostics.error(Some(line), None, "is not UTF-8".into());
                return None;
            }
        },
        Err(error) => {
            diagnostics.unreadable(&error);
            return None;
        }
    };
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => {
            let error: toml::de::Error = error;
            let line = error.span().map(|span| lines_before(text.as_bytes(), span.start));
            diagnostics.error(line, None, format!("is not TOML: {}", error.message()));
            return None;
        }
    };
    for key in table.keys() {
        if !KEYS.contains(&key.as_str()) {
            diagnostics.warning(line_of(&text, key), None, format!("unknown key {}", quoted(key)));
        }
    }
    let mut value = |key: &'static str, required: bool| -> Option<String> {
        let string = match table.get(key) {
            Some(toml::Value::String(value)) => clean_line(value),
            Some(toml::Value::Datetime(value)) => value.to_string(),
            Some(other) => {
                let message = format!("is of type {}; expected a string in quotes", other.type_str());
                diagnostics.error(line_of(&text, key), Some(key), message);
                return None;
            }
            None => String::new(),
        };
        if string.chars().count() > MAX_VALUE {
            diagnostics.error(line_of(&text, key), Some(key), too_long(&string, MAX_VALUE));
            return None;
        }
        if let Some(toml::Value::String(value)) = table.get(key)
            && hidden_count(value) > 0
        {
            let message = format!("{}: invisible or control characters were removed", quoted(value));
            diagnostics.warning(line_of(&text, key), Some(key), message);
        }
        if string.is_empty() && required {
            diagnostics.error(line_of(&text, key), Some(key), "is missing; every snapshot needs it".into());
            return None;
        }
        Some(string)
    };
    let (version, released_on) = (value("version", true), value("released_on", true));
    let (title, source, license) = (value("title", false), value("source", false), value("license", false));
    let mut invalid = |key: &str, value: &str, expected: &str| {
        diagnostics.error(line_of(&text, key), Some(key), format!("{} is not {expected}", quoted(value)));
    };
    let version = version.and_then(|version| {
        let parsed = version.parse();
        parsed.map_err(|_| invalid("version", &version, "a version of the form YYYY-MM-DD.N")).ok()
    });
    let released_on = released_on.and_then(|date| {
        let parsed = date.parse();
        parsed.map_err(|_| invalid("released_on", &date, "a date of the form YYYY-MM-DD")).ok()
    });
    let invented = match table.get("invented") {
        None => Some(false),
        Some(toml::Value::Boolean(invented)) => Some(*invented),
        Some(other) => {
            let message = format!("is of type {}; expected true or false without quotes", other.type_str());
            diagnostics.error(line_of(&text, "invented"), Some("invented"), message);
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

/// The line of `key`.
fn line_of(text: &str, key: &str) -> Option<u64> {
    let index = text.lines().position(|line| {
        let line = line.trim_start().trim_start_matches('"');
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with('='))
    });
    index.map(|index| index as u64 + 1)
}
