//! Questions in plain words (`ask`), translated into parameters of the request.

use crate::envelope::Asked;
use catalog::ask::{COUNT_BY, MAX_QUESTION_CHARS};
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

    /// Builds the part of `meta` about the question. `query` is the equivalent request without a question, `url` its
    /// address, `groups_url` the address of its counts.
    pub(crate) fn meta(
        &self,
        catalog: &Catalog,
        resource: Resource,
        query: impl Iterator<Item = (&'static str, String)>,
        url: String,
        groups_url: Option<String>,
    ) -> Asked<'_> {
        let Interpretation { parts, unread } = &self.interpretation;
        let name = |name: &'static str| if name == "q" { "query" } else { name };
        let groups = self.interpretation.groups().map(|groups| (COUNT_BY, groups.to_owned()));
        let arguments = query.map(|(known, value)| (name(known), value)).chain(groups).collect();
        let suggested = catalog.associations(resource, unread);
        Asked { interpreted: parts, unread, suggested, url, groups_url, arguments }
    }
}
