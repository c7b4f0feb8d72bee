//! Examples: answers that the service gave to real requests on the bundled snapshot.
//!
//! A test asks again and compares; with `VENTUREDEX_BLESS=1` it writes the file anew.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::api::{Route, Version};

/// Stands for the address of the service in the file.
pub const BASE: &str = "https://venturedex.invalid";

/// The answers, by `v3 list_vcs` or by `400`.
pub struct Examples(BTreeMap<String, Box<RawValue>>);

impl Examples {
    /// Those of the bundled snapshot.
    #[must_use]
    pub fn bundled() -> Self {
        Self(serde_json::from_str(include_str!("examples.json")).unwrap_or_default())
    }

    /// The text of an endpoint's good answer.
    #[must_use]
    pub fn text(&self, version: Version, endpoint: &Route) -> Option<&str> {
        self.0.get(&format!("{} {}", version.segment(), endpoint.operation)).map(|raw| raw.get())
    }

    /// The text of an error.
    #[must_use]
    pub fn problem_text(&self, status: u16) -> Option<&str> {
        self.0.get(&status.to_string()).map(|raw| raw.get())
    }

    pub(crate) fn answer(&self, version: Version, endpoint: &Route, base: &str) -> Option<Value> {
        value(self.text(version, endpoint)?, base)
    }

    pub(crate) fn problem(&self, status: u16, base: &str) -> Option<Value> {
        value(self.problem_text(status)?, base)
    }
}

fn value(text: &str, base: &str) -> Option<Value> {
    serde_json::from_str(&text.replace(BASE, base)).ok()
}
