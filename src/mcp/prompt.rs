//! Prompts: requests that a person picks from a menu and completes with arguments.

use serde_json::{Map, Value, json};

use crate::RpcResult;
use crate::dispatch::{invalid_params, named_call, unknown};

const MAX_CHARS: usize = 200;

pub(crate) struct Prompt {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    pub(crate) arguments: &'static [PromptArgument],
    /// The request of the person; `{arguments}` is replaced by the arguments as JSON.
    text: &'static str,
}

pub(crate) struct PromptArgument {
    pub(crate) name: &'static str,
    description: &'static str,
    is_required: bool,
}

const fn required(name: &'static str, description: &'static str) -> PromptArgument {
    PromptArgument { name, description, is_required: true }
}

const fn optional(name: &'static str, description: &'static str) -> PromptArgument {
    PromptArgument { name, description, is_required: false }
}

const SECTOR: &str = "Slug or name of a sector, such as fintech.";
const COUNTRY: &str = "ISO code or English name, such as DE.";

static PROMPTS: [Prompt; 3] = [
    Prompt {
        name: "prepare_meeting",
        title: "Prepare a meeting with a firm",
        description: "What a founder should know about a firm before meeting it.",
        arguments: &[required("name", "Name or slug of the firm.")],
        text: "Prepare me for a meeting with a venture capital firm. Call get_vc_profile with {arguments}; if it returns \
               candidates, show them and ask me which one I mean. Then summarize: what the firm invests in (stages, \
               sectors, check size, latest investments); its peer score with the interval and the components that lower \
               it; how often it does not answer; what founders praise and criticize; companies of its portfolio that may \
               compete with mine, and whom I could ask for a reference. End with five questions that I should ask. Say \
               what is unknown instead of guessing.",
    },
    Prompt {
        name: "shortlist_for_round",
        title: "Shortlist firms for a round",
        description: "The firms that fit a round best, with reasons.",
        arguments: &[
            required("stage", "Stage of the round, such as seed."),
            required("sector", SECTOR),
            required("raise_usd", "Size of the round in US dollars, such as 2000000."),
            optional("country", COUNTRY),
        ],
        text: "Make a shortlist of ten investors for my round. Call search_vcs with {arguments} and read `fit` of each \
               firm. Present a table: firm with its URL, points, `summary` with its counts, the most similar deals and \
               whether the firm led them, conflicts, peer score, ghosting rate. Leave out firms with a `missing` condition \
               unless fewer than ten have none. Below it, say which three to contact first and why, who could introduce me, \
               and which facts are `unknown`: null means unknown, never zero.",
    },
    Prompt {
        name: "market_in_sector",
        title: "The market in a sector",
        description: "Who raises and who invests in a sector, and how much.",
        arguments: &[
            required("sector", SECTOR),
            optional("country", COUNTRY),
            optional("since", "First date, such as 2024-01-01."),
        ],
        text: "Describe the venture market of a sector. Call get_funding_rounds with {arguments} for the number of rounds \
               and the amounts, then search_startups and search_vcs with the same sector and country for the startups that \
               raised most and the most active firms. Say the dates that the data covers, which amounts are unknown, and \
               the snapshot.",
    },
];

pub(crate) fn list() -> Value {
    let argument = |argument: &PromptArgument| json!({ "name": argument.name, "description": argument.description, "required": argument.is_required });
    let prompt = |prompt: &Prompt| {
        let arguments: Vec<Value> = prompt.arguments.iter().map(argument).collect();
        json!({
            "name": prompt.name, "title": prompt.title, "description": prompt.description, "arguments": arguments,
        })
    };
    json!({ "prompts": PROMPTS.iter().map(prompt).collect::<Vec<_>>() })
}

pub(crate) fn find(name: &str) -> RpcResult<&'static Prompt> {
    let names: Vec<&str> = PROMPTS.iter().map(|prompt| prompt.name).collect();
    let prompt = PROMPTS.iter().find(|prompt| prompt.name == name);
    prompt.ok_or_else(|| invalid_params(format!("{} Prompts: {}", unknown("prompt", name, &names), names.join(", "))))
}

pub(crate) fn get(params: &Map<String, Value>) -> RpcResult<Value> {
    let (name, arguments) = named_call("prompts/get", params)?;
    let prompt = find(name)?;
    let mut given = Map::new();
    for (name, value) in &*arguments {
        let is_known = prompt.arguments.iter().any(|argument| argument.name == name);
        match value.as_str().map(str::trim) {
            Some(text) if is_known && text.chars().count() <= MAX_CHARS => {
                if !text.is_empty() {
                    given.insert(name.clone(), text.into());
                }
            }
            _ => {
                let names: Vec<&str> = prompt.arguments.iter().map(|argument| argument.name).collect();
                let detail = format!(
                    "the arguments of {} are texts of at most {MAX_CHARS} characters: {}",
                    prompt.name,
                    names.join(", ")
                );
                return Err(invalid_params(detail));
            }
        }
    }
    let missing = |argument: &&PromptArgument| argument.is_required && !given.contains_key(argument.name);
    if let Some(missing) = prompt.arguments.iter().find(missing) {
        let detail = format!("{} needs the argument `{}`: {}", prompt.name, missing.name, missing.description);
        return Err(invalid_params(detail));
    }
    let text = prompt.text.replace("{arguments}", &Value::Object(given).to_string());
    Ok(json!({
        "description": prompt.description,
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tool, ToolCall};

    #[test]
    fn the_arguments_of_a_prompt_are_those_of_the_tool_that_it_calls() {
        for prompt in &PROMPTS {
            let tool = Tool::ALL.into_iter().find(|tool| prompt.text.contains(&format!("{} with {{", tool.name())));
            let tool = tool.unwrap_or_else(|| panic!("{} calls no tool", prompt.name));
            let value = |argument: &PromptArgument| match argument.name {
                "raise_usd" => "2000000",
                "since" => "2024-01-01",
                "stage" => "seed",
                _ => "x",
            };
            let arguments: Map<String, Value> =
                prompt.arguments.iter().map(|argument| (argument.name.to_owned(), value(argument).into())).collect();
            assert!(ToolCall::parse(tool, &arguments).is_ok(), "{}", prompt.name);
            let params = json!({ "name": prompt.name, "arguments": arguments });
            let message = get(params.as_object().unwrap()).unwrap();
            let text = message["messages"][0]["content"]["text"].as_str().unwrap();
            assert!(text.contains(&Value::Object(arguments).to_string()), "{text}");
            for word in text.split(|char: char| !char.is_ascii_alphanumeric() && char != '_') {
                let is_tool = ["search_", "get_"].iter().any(|start| word.starts_with(start));
                assert!(!is_tool || Tool::from_name(word).is_some(), "{word}");
            }
        }
    }
}
