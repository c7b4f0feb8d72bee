//! Errors in the arguments of a tool, explained to a model.

use catalog::ParameterError;

use crate::Tool;

/// The errors in words; the detail of each follows the name of its argument in a sentence.
pub(crate) fn explain(tool: Tool, errors: &[ParameterError]) -> String {
    let mut text = format!("{}: invalid arguments; fix them and retry:", tool.name());
    for error in errors {
        text.push_str(&format!("\n- `{}` {}", error.parameter, error.detail));
        if let Some(nearest) = &error.did_you_mean {
            text.push_str(&format!("; did you mean `{nearest}`?"));
        }
        if let Some(accepted) = error.accepted.as_ref().filter(|accepted| !accepted.is_empty()) {
            let stop = if text.ends_with(['.', '?']) { "" } else { "." };
            text.push_str(&format!("{stop} Accepted: `{}`", accepted.join("`, `")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_argument_is_explained_with_its_correction() {
        let error = ParameterError {
            did_you_mean: Some("fintech".to_owned()),
            accepted: Some(vec!["fintech".to_owned(), "health".to_owned()]),
            ..ParameterError::invalid("sector", "\"fintec\" is not a sector")
        };
        let near = error.clone();
        let none = ParameterError { did_you_mean: None, ..error };
        assert!(explain(Tool::SearchVcs, &[none]).ends_with("is not a sector. Accepted: `fintech`, `health`"));
        assert_eq!(
            explain(Tool::SearchVcs, &[near]),
            "search_vcs: invalid arguments; fix them and retry:\n\
             - `sector` \"fintec\" is not a sector; did you mean `fintech`? Accepted: `fintech`, `health`"
        );
    }
}
