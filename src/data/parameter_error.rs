//! The public shape of an error or warning about one request parameter.

use std::borrow::Cow;

use serde::Serialize;

use crate::field::model;

/// Maximum characters of a value that a message repeats.
const MAX_REPEATED: usize = 100;

model! {
    /// What is wrong with one parameter.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct ParameterError {
        /// The parameter's name as written in the request.
        pub parameter: String,
        /// The stable code of the error or warning.
        pub code: &'static str,
        /// What is wrong and how to fix it.
        pub detail: String,
        /// The nearest accepted name or value.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub did_you_mean: Option<String> [optional],
        /// The accepted names or values, if there are few.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub accepted: Option<Vec<String>> [optional],
    }
}

impl ParameterError {
    /// A value of the wrong type or out of range.
    pub fn invalid(parameter: &str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { parameter: parameter.to_owned(), code: "invalid_parameter", detail, did_you_mean: None, accepted: None }
    }

    /// Codes of warnings that are never errors.
    pub const WARNINGS: [&str; 8] = [
        "limit_clamped",
        "total_capped",
        "relaxed",
        "similar",
        "low_coverage",
        "value_interpreted",
        "empty_value",
        "no_match",
    ];

    /// A warning with one of [`Self::WARNINGS`]: `value_interpreted` if a value may mean something else, `no_match` if an
    /// exclusion removes everything that is listed by default, `low_coverage` if the field that a parameter reads is unknown
    /// for some records, if amounts are unknown, suspect or of equal rounds, or the data has few records of its years.
    pub fn warning(code: &'static str, parameter: &str, detail: impl Into<String>) -> Self {
        Self { code, ..Self::invalid(parameter, detail) }
    }

    pub fn limit_clamped(max: u64) -> Self {
        Self::warning("limit_clamped", "limit", format!("the maximum `limit` is {max}; {max} was used"))
    }

    pub fn depends_on_spelling(&self) -> bool {
        self.code == "value_interpreted"
    }

    /// A parameter without a value: an error in v3, else a warning.
    pub fn empty_value(parameter: &str, is_strict: bool) -> Self {
        let ignored = if is_strict { "" } else { " and was ignored" };
        let detail = format!("`{parameter}` is empty{ignored}; give it a value or omit it");
        let code = if is_strict { "invalid_parameter" } else { "empty_value" };
        Self { code, ..Self::invalid(parameter, detail) }
    }

    /// A warning: a search finds nothing; `similar` is the slug of a record with a similar name.
    pub fn nothing_found(text: &str, similar: Option<String>) -> Self {
        let detail = format!("no name matches `{}`", shortened(text));
        Self { code: "no_match", did_you_mean: similar, ..Self::invalid("q", detail) }
    }

    /// A warning: no name has all words of a search text; the text may mean something else.
    pub fn no_name(detail: String, is_partly_named: bool) -> Self {
        let code = if is_partly_named { "value_interpreted" } else { "no_match" };
        Self { code, ..Self::invalid("q", detail) }
    }

    /// A value that no record has or that is not in a list.
    pub fn unknown_value(parameter: &str, detail: String, near: Option<String>, accepted: Option<Vec<&str>>) -> Self {
        let accepted = accepted.map(|names| names.into_iter().map(str::to_owned).collect());
        Self { code: "unknown_value", did_you_mean: near, accepted, ..Self::invalid(parameter, detail) }
    }
}

/// A value in the form of error messages: at most 100 characters of it.
pub fn shortened(value: &str) -> Cow<'_, str> {
    shortened_to(MAX_REPEATED, value)
}

/// A text of at most this many characters, with `…` in place of the others.
pub fn shortened_to(max: usize, text: &str) -> Cow<'_, str> {
    // A character has at least one byte.
    let end = if text.len() > max { text.char_indices().nth(max) } else { None };
    end.map_or(Cow::Borrowed(text), |(end, _)| format!("{}…", &text[..end]).into())
}
