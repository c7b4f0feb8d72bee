//! `snapshot.toml`: version, date and origin of a dataset.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::import::clean::{clean_line, hidden_count};
use crate::import::diagnostics::{Diagnostics, quoted, too_long};
use crate::{Date, DiagnosticReport, SnapshotVersion};

pub const FILE: &str = "snapshot.toml";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotMeta {
    pub version: SnapshotVersion,
    /// Ages are counted from this date; by default the version's.
    pub released_on: Date,
    pub title: String,
    pub source: String,
    pub license: String,
    /// Firms, people and reviews are invented; pages mark them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invented: bool,
}

const MAX_VALUE: usize = 1_000;

const KEYS: [&str; 6] = ["version", "released_on", "title", "source", "license", "invented"];

/// Values in place of those of `snapshot.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetaValues {
    pub version: Option<SnapshotVersion>,
    pub released_on: Option<Date>,
    pub title: Option<String>,
    pub source: Option<String>,
    pub license: Option<String>,
    /// Day of a release whose version nobody has set.
    pub today: Option<Date>,
    /// Version and date of `snapshot.toml` do not count: the next release of the day is published from the same folder.
    pub is_next: bool,
}

impl MetaValues {
    fn entries(&self) -> impl Iterator<Item = (&'static str, String)> {
        let version = self.version.map(|version| ("version", version.to_string()));
        let released_on = self.released_on.map(|date| ("released_on", date.to_string()));
        let texts = [("title", &self.title), ("source", &self.source), ("license", &self.license)];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key, text.clone()?)));
        version.into_iter().chain(released_on).chain(texts)
    }
}

/// Reads `snapshot.toml`, which may be absent if `given` has a version or a day; `None` if something is missing or invalid.
/// The flag is true if nobody has set the version: then it is the first one of its day.
pub(crate) fn read(folder: &Path, given: &MetaValues, report: &mut DiagnosticReport) -> Option<(SnapshotMeta, bool)> {
    let mut diagnostics = Diagnostics::new(FILE, report);
    let text = match std::fs::read(folder.join(FILE)) {
        Ok(bytes) => {
            let text = String::from_utf8(bytes).map_err(|error| {
                let line = lines_before(error.as_bytes(), error.utf8_error().valid_up_to());
                diagnostics.error(Some(line), None, "is not UTF-8".into());
            });
            text.ok()?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && (given.version.is_some() || given.today.is_some()) => {
            String::new()
        }
        Err(error) => {
            let message =
                "file is missing; write it with a line such as `version = \"2026-11-20.1\"`, or give --release";
            match error.kind() {
                io::ErrorKind::NotFound => diagnostics.error(None, None, message.into()),
                _ => diagnostics.unreadable(&error),
            }
            return None;
        }
    };
    let parsed = text.parse::<toml::Table>().map_err(|error| {
        let line = error.span().map(|span| lines_before(text.as_bytes(), span.start));
        diagnostics.error(line, None, format!("is not TOML: {}", error.message()));
    });
    let mut table = parsed.ok()?;
    if given.is_next {
        table.retain(|key, _| !matches!(key, "version" | "released_on"));
    }
    table.extend(given.entries().map(|(key, value)| (key.to_owned(), toml::Value::String(value))));
    for key in table.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        diagnostics.warning(line_of(&text, key), None, format!("unknown key {}", quoted(key)));
    }
    let mut value = |key: &'static str| -> Option<String> {
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
        if let Some(value) = table.get(key).and_then(toml::Value::as_str).filter(|value| hidden_count(value) > 0) {
            let message = format!("{}: invisible or control characters were removed", quoted(value));
            diagnostics.warning(line_of(&text, key), Some(key), message);
        }
        Some(string)
    };
    let (version, released_on) = (value("version"), value("released_on"));
    let (title, source, license) = (value("title"), value("source"), value("license"));
    let mut error = |key: &str, message| diagnostics.error(line_of(&text, key), Some(key), message);
    let version = version.and_then(|version| {
        let message = || format!("{} is not a version of the form YYYY-MM-DD.N", quoted(&version));
        let parsed = (!version.is_empty()).then(|| version.parse().map_err(|_| error("version", message())));
        parsed.transpose().ok()
    });
    let released_on = released_on.and_then(|date| {
        let message = || format!("{} is not a date of the form YYYY-MM-DD", quoted(&date));
        let parsed = (!date.is_empty()).then(|| date.parse::<Date>().map_err(|_| error("released_on", message())));
        parsed.transpose().ok()
    });
    let (version, released_on): (Option<SnapshotVersion>, Option<Date>) = (version?, released_on?);
    let Some(day) = version.map(|version| version.date).or(released_on).or(given.today) else {
        error("version", "is missing; every snapshot needs one, such as \"2026-11-20.1\"".to_owned());
        return None;
    };
    let is_numbered = version.is_some();
    let version = version.unwrap_or(SnapshotVersion { date: day, counter: 1 });
    let invented = match table.get("invented") {
        None => false,
        Some(toml::Value::Boolean(invented)) => *invented,
        Some(other) => {
            let message = format!("is of type {}; expected true or false without quotes", other.type_str());
            error("invented", message);
            return None;
        }
    };
    let (released_on, title, source, license) = (released_on.unwrap_or(day), title?, source?, license?);
    Some((SnapshotMeta { version, released_on, title, source, license, invented }, !is_numbered))
}

fn lines_before(text: &[u8], end: usize) -> u64 {
    1 + text.iter().take(end).filter(|byte| **byte == b'\n').count() as u64
}

fn line_of(text: &str, key: &str) -> Option<u64> {
    let is_of_key = |line: &str| {
        let line = line.trim_start().trim_start_matches('"');
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with('='))
    };
    (1..).zip(text.lines()).find_map(|(number, line)| is_of_key(line).then_some(number))
}
