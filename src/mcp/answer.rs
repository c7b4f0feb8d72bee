//! The seam to the catalog: what the bridge asks, and what it is told.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::mcp::Tool;
use crate::mcp::{ArgError, ToolCall};

/// The data that tools answer from.
pub trait Tools: Send + Sync + 'static {
    /// The release that is served now; a request keeps it to its end.
    fn current(&self) -> Arc<dyn Release>;
}

/// One release of the data.
pub trait Release: Send + Sync + 'static {
    /// Its version, as `X-Snapshot` tells it.
    fn snapshot(&self) -> &str;

    /// Answers a call whose arguments have the right names and types.
    fn answer(&self, call: &ToolCall) -> ToolAnswer;
}

/// What a call of a tool comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolAnswer {
    /// The result: a JSON object of the tool's output schema, at most [`super::LONGEST`] bytes. It is sent as it is.
    Found(String),
    /// Arguments whose values are wrong.
    Wrong(Vec<ArgError>),
}

/// What a model is told of wrong arguments: each by name, with its mend.
pub(crate) fn told(tool: Tool, mistakes: &[ArgError]) -> String {
    let mut text = format!("{} was not run; mend its arguments and call it again:", tool.name());
    for mistake in mistakes {
        // Writing to a string does not fail.
        let _ = write!(text, "\n- `{}` {}", mistake.argument, mistake.detail);
        match mistake.did_you_mean.as_slice() {
            [] => {}
            near => {
                let _ = write!(text, "; did you mean {}?", quoted(near));
            }
        }
        match mistake.accepted.as_slice() {
            [] => {}
            accepted => {
                let _ = write!(text, " Accepted: {}", quoted(accepted));
            }
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
    fn a_mistake_is_told_with_its_mend() {
        let mistake = ArgError {
            argument: "sector".to_owned(),
            detail: "\"fintec\" is not a sector".to_owned(),
            did_you_mean: vec!["fintech".to_owned()],
            accepted: vec!["fintech".to_owned(), "health".to_owned()],
        };
        assert_eq!(
            told(Tool::SearchVcs, &[mistake]),
            "search_vcs was not run; mend its arguments and call it again:\n\
             - `sector` \"fintec\" is not a sector; did you mean `fintech`? Accepted: `fintech`, `health`"
        );
    }
}
