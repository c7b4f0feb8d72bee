//! Errors in the arguments of a tool, explained to a model.

use crate::Tool;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgError {
    pub argument: String,
    /// The error and the accepted values; follows the argument's name in a sentence.
    pub detail: String,
    /// Values or names that were probably intended, nearest first.
    pub did_you_mean: Vec<String>,
    /// All accepted values, if they are few.
    pub accepted: Vec<String>,
}

pub(crate) fn explain(tool: Tool, errors: &[ArgError]) -> String {
    let mut text = format!("{}: invalid arguments; fix them and retry:", tool.name());
    for error in errors {
        text.push_str(&format!("\n- `{}` {}", error.argument, error.detail));
        if !error.did_you_mean.is_empty() {
            text.push_str(&format!("; did you mean {}?", quoted(&error.did_you_mean)));
        }
        if !error.accepted.is_empty() {
            let stop = if text.ends_with(['.', '?']) { "" } else { "." };
            text.push_str(&format!("{stop} Accepted: {}", quoted(&error.accepted)));
        }
    }
    text
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_argument_is_explained_with_its_correction() {
        let error = ArgError {
            argument: "sector".to_owned(),
            detail: "\"fintec\" is not a sector".to_owned(),
            did_you_mean: vec!["fintech".to_owned()],
            accepted: vec!["fintech".to_owned(), "health".to_owned()],
        };
        let near = error.clone();
        let none = ArgError { did_you_mean: Vec::new(), ..error };
        assert!(explain(Tool::SearchVcs, &[none]).ends_with("is not a sector. Accepted: `fintech`, `health`"));
        assert_eq!(
            explain(Tool::SearchVcs, &[near]),
            "search_vcs: invalid arguments; fix them and retry:\n\
             - `sector` \"fintec\" is not a sector; did you mean `fintech`? Accepted: `fintech`, `health`"
        );
    }
}
