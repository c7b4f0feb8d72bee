//! Questions in plain words (`ask`), translated into parameters of the request.

use catalog::ask::MAX_QUESTION_CHARS;
use catalog::{Catalog, Interpretation, ParameterError, Resource};

use crate::window::single_value;

pub(crate) const ASK: &str = "ask";

pub(crate) struct AskedQuestion {
    pub(crate) text: String,
    pub(crate) interpretation: Interpretation,
}

impl AskedQuestion {
    /// Parses the question of a request. Ignores readings for parameters that the request or its path already sets.
    pub(crate) fn parse(
        values: &[(String, String)],
        resource: Resource,
        settled: &[&str],
        catalog: &Catalog,
    ) -> Result<Option<Self>, Vec<ParameterError>> {
        let mut errors = Vec::new();
        let text = single_value(values, ASK, &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        let Some(text) = text else { return Ok(None) };
        if text.chars().count() > MAX_QUESTION_CHARS {
            let detail = format!("a question has at most {MAX_QUESTION_CHARS} characters; shorten it");
            return Err(vec![ParameterError::invalid(ASK, detail)]);
        }
        let given = values.iter().filter(|(_, value)| !value.trim().is_empty()).map(|(name, _)| name.as_str());
        let given: Vec<&str> = given.chain(settled.iter().copied()).collect();
        let interpretation = catalog.interpret(resource, text).without(resource, &given);
        Ok(Some(Self { text: text.to_owned(), interpretation }))
    }
}
