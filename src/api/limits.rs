//! The limits of requests and their defaults, as one table for the documents.

use catalog::aggregate::{DEFAULT_GROUPS, MAX_GROUPS};
use catalog::ask::MAX_QUESTION_CHARS;
use catalog::json::fields::MAX_NAMES;
use catalog::look_up::MAX_NAME_WORDS;
use catalog::params::{MAX_PARAMETERS, MAX_TEXT_CHARS, MAX_VALUES};
use data::number::grouped;
use transport::problem::Code;
use transport::server::Limits;

use crate::endpoints::look_up::batch::{MAX_BODY, MAX_ITEMS};
use crate::endpoints::look_up::{CANDIDATES, MAX_CANDIDATES};
use crate::endpoints::suggest::SUGGESTIONS;
use crate::{DEFAULT_LIMIT, MAX_LIMIT};
use auth::quota::BATCHES_OF_CALLER;

pub struct RequestLimit {
    /// What is limited, with code in backquotes.
    pub of: &'static str,
    pub default: Option<u64>,
    pub max: u64,
    /// The error beyond the maximum; without one the maximum is used, with a warning.
    pub error: Option<Code>,
}

impl RequestLimit {
    /// Default, maximum, and what happens beyond it, as text.
    pub fn cells(&self) -> [String; 4] {
        let beyond = match self.error {
            Some(code) => format!("{} `{}`", code.status().as_u16(), code.name()),
            None => "the maximum is used, with the warning `limit_clamped`".to_owned(),
        };
        [self.of.to_owned(), self.default.map_or_else(String::new, grouped), grouped(self.max), beyond]
    }
}

pub fn request_limits() -> Vec<RequestLimit> {
    let clamped = |of, default, max| RequestLimit { of, default: Some(default), max, error: None };
    let refused = |of, max, code| RequestLimit { of, default: None, max, error: Some(code) };
    let invalid = |of, max: usize| refused(of, max as u64, Code::InvalidParameter);
    let head = Limits::default().head_bytes as u64;
    vec![
        clamped("Records on a page (`limit`), more for some tiers", DEFAULT_LIMIT, MAX_LIMIT),
        clamped("Groups of a property (`limit` of aggregates)", DEFAULT_GROUPS as u64, MAX_GROUPS as u64),
        clamped("Names completed by `/suggest` (`limit`)", SUGGESTIONS, MAX_LIMIT),
        clamped("Records of `/ask` (`limit`)", SUGGESTIONS, MAX_LIMIT),
        clamped("Candidates of `/resolve` (`limit`)", CANDIDATES, MAX_CANDIDATES),
        invalid("Values of a parameter", MAX_VALUES),
        invalid("Parameters of a request, repeated ones counted each time", MAX_PARAMETERS),
        invalid("Names in `fields`", MAX_NAMES),
        invalid("Characters of `q` and `text`", MAX_TEXT_CHARS),
        invalid("Characters of a question (`ask`)", MAX_QUESTION_CHARS),
        invalid("Words of a name to look up", MAX_NAME_WORDS),
        invalid("Items of a look-up as JSON", MAX_ITEMS),
        refused("Bytes of a look-up as JSON", MAX_BODY as u64, Code::BodyTooLarge),
        refused("Look-ups of many items at a time", BATCHES_OF_CALLER as u64, Code::Overloaded),
        refused("Bytes of a URL", head / 4 * 3, Code::UrlTooLong),
        refused("Bytes of the URL and all headers", head, Code::HeadTooLarge),
    ]
}
