//! What is wrong with a request's parameters, and what would have worked.

use serde::Serialize;

use crate::dataset::vocabulary::Vocabulary;
use crate::search::nearest;

/// What is wrong with one parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParameterError {
    /// The parameter's name as it was given.
    pub parameter: String,
    /// `unknown_parameter`, `unknown_value`, `invalid_parameter`, `unknown_field`, …
    pub code: &'static str,
    /// What is wrong and how to mend it.
    pub detail: String,
    /// The nearest name or value that would have worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<String>,
    /// What would have been accepted, where that is a short list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Vec<String>>,
}

impl ParameterError {
    /// A value that is none of its type.
    #[must_use]
    pub fn invalid(parameter: &str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { parameter: parameter.to_owned(), code: "invalid_parameter", detail, did_you_mean: None, accepted: None }
    }

    /// A name that no parameter has.
    #[must_use]
    pub fn unknown_parameter(name: &str, accepted: &[&str]) -> Self {
        Self {
            parameter: name.to_owned(),
            code: "unknown_parameter",
            detail: format!("there is no parameter `{name}` here"),
            did_you_mean: nearest(name, accepted.iter().copied()).map(str::to_owned),
            accepted: Some(accepted.iter().map(|name| (*name).to_owned()).collect()),
        }
    }

    /// A value that is not in this snapshot; `noun` says what it should be.
    pub(super) fn unknown_value(parameter: &str, value: &str, noun: &str, did_you_mean: Option<String>) -> Self {
        let detail = format!("`{value}` is not a {noun} of this snapshot");
        Self { parameter: parameter.to_owned(), code: "unknown_value", detail, did_you_mean, accepted: None }
    }
}

/// A value that a closed vocabulary does not have.
pub(super) fn unknown_word<V: Vocabulary>(name: &str, value: &str) -> ParameterError {
    let names = || V::ALL.iter().map(|word| word.name());
    ParameterError {
        parameter: name.to_owned(),
        code: "unknown_value",
        detail: format!("`{value}` is not a {}", V::NOUN.replace('_', " ")),
        did_you_mean: nearest(value, names()).map(str::to_owned),
        accepted: Some(names().map(str::to_owned).collect()),
    }
}
