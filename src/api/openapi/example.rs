//! Examples: real responses of the service to requests on the bundled snapshot.
//!
//! A test repeats the requests and compares; with `VENTUREDEX_BLESS=1` it updates the file.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Route, Version};

/// Placeholder for the base URL of the service in the file.
pub const BASE: &str = "https://venturedex.invalid";

/// The responses, keyed by version and operation (`v3 list_vcs`) or by status (`400`).
pub struct Examples(BTreeMap<String, Box<RawValue>>);

impl Examples {
    pub fn bundled() -> Self {
        Self(serde_json::from_str(include_str!("examples.json")).expect("the examples are JSON"))
    }

    /// The body of an endpoint's successful response.
    pub fn text(&self, version: Version, route: &Route) -> Option<&str> {
        self.0.get(&format!("{} {}", version.segment(), route.operation)).map(|raw| raw.get())
    }

    pub(crate) fn response(&self, version: Version, route: &Route, base: &str) -> Option<Value> {
        value(self.text(version, route)?, base)
    }

    pub(crate) fn problem(&self, status: u16, base: &str) -> Option<Value> {
        value(self.0.get(&status.to_string())?.get(), base)
    }
}

fn value(text: &str, base: &str) -> Option<Value> {
    serde_json::from_str(&text.replace(BASE, base)).ok()
}
