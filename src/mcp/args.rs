//! The arguments of the tools: one table defines their schemas, parsing and error messages.
//!
//! Models write numbers as text, a single value instead of a list, and empty text for an absent value. What has only one
//! meaning is accepted, anything else is an error that says how to fix it. Vocabulary values are parsed by the catalog,
//! which knows the sectors of the snapshot.

use serde_json::{Map, Value, json};

use crate::catalog::params::{ParamType, Unit};
use crate::mcp::{ArgError, Tool};
use crate::search::nearest;

#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub name: &'static str,
    /// The name of the equivalent REST parameter.
    pub(crate) parameter: &'static str,
    pub(crate) kind: ArgType,
    pub(crate) description: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgType {
    Text,
    /// Text with several values separated by commas, or a list.
    Texts,
    /// A whole number, as the catalog reads it.
    Number,
    Bool,
    /// An integer from `min` on; above `max` it is clamped.
    Count {
        default: i64,
        min: i64,
        max: i64,
    },
}

impl ArgType {
    /// The type of the argument that corresponds to a parameter.
    pub(crate) fn of(parameter: ParamType) -> Self {
        match parameter {
            ParamType::Text | ParamType::Metric | ParamType::Range { unit: Unit::Date, .. } => Self::Text,
            ParamType::Number { .. } | ParamType::Range { .. } => Self::Number,
            ParamType::Bool(_) => Self::Bool,
            _ => Self::Texts,
        }
    }
}

/// A call with known arguments of the right types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    pub(crate) tool: Tool,
    /// REST parameters and values, in the order of the tool's arguments; a list gives one pair per value. Counts such as
    /// `limit` are always present.
    pub(crate) pairs: Vec<(&'static str, String)>,
    /// What the caller should know about how the arguments were interpreted.
    pub(crate) notes: Vec<String>,
}

impl ToolCall {
    /// # Errors
    /// All arguments that are unknown or of a wrong type.
    pub fn parse(tool: Tool, arguments: &Map<String, Value>) -> Result<Self, Vec<ArgError>> {
        let table = tool.arguments();
        let is_known = |name: &str| table.iter().any(|argument| argument.name == name);
        let unknown_names = arguments.keys().filter(|name| !is_known(name));
        let mut errors: Vec<ArgError> = unknown_names.map(|name| unknown(tool, name)).collect();
        let (mut pairs, mut notes) = (Vec::new(), Vec::new());
        for argument in table {
            let value = arguments.get(argument.name).filter(|value| !is_empty(value));
            notes.extend(value.and_then(|value| argument.note(value)));
            match argument.parse(value) {
                Ok(values) => pairs.extend(values.into_iter().map(|value| (argument.parameter, value))),
                Err(detail) => {
                    errors.push(ArgError { argument: argument.name.to_owned(), detail, ..ArgError::default() });
                }
            }
        }
        if errors.is_empty() { Ok(Self { tool, pairs, notes }) } else { Err(errors) }
    }

    /// The first value of a REST parameter.
    pub(crate) fn value(&self, parameter: &str) -> Option<&str> {
        self.pairs.iter().find(|(name, _)| *name == parameter).map(|(_, value)| value.as_str())
    }

    /// The value of a count such as `limit`.
    pub(crate) fn count(&self, parameter: &str) -> usize {
        let value = self.value(parameter).and_then(|value| value.parse().ok());
        value.expect("a count has a default and is not negative")
    }

    /// The argument that a REST parameter comes from.
    pub(crate) fn argument(&self, parameter: &str) -> Option<&'static str> {
        let argument = self.tool.arguments().iter().find(|argument| argument.parameter == parameter);
        argument.map(|argument| argument.name)
    }
}

impl Argument {
    /// The values as texts of the REST parameter, or what is wrong.
    fn parse(&self, value: Option<&Value>) -> Result<Vec<String>, String> {
        let Some(value) = value else {
            return Ok(match self.kind {
                ArgType::Count { default, .. } => vec![default.to_string()],
                _ => Vec::new(),
            });
        };
        let invalid = || Err(format!("must be {}, but is {}", self.kind.noun(), abbreviated(value)));
        match self.kind {
            ArgType::Text => text(value).map_or_else(invalid, |text| Ok(vec![text])),
            ArgType::Texts => match value {
                Value::Array(values) => {
                    let texts: Option<Vec<String>> = values.iter().filter(|value| !is_empty(value)).map(text).collect();
                    texts.map_or_else(invalid, Ok)
                }
                value => text(value).map_or_else(invalid, |text| Ok(vec![text])),
            },
            ArgType::Bool => match value {
                Value::Bool(truth) => Ok(vec![truth.to_string()]),
                value => text(value).map_or_else(invalid, |text| Ok(vec![text])),
            },
            // The catalog reads amounts in all their spellings.
            ArgType::Number => match (number(value), text(value)) {
                (Some(number), _) => Ok(vec![number.to_string()]),
                (None, Some(text)) => Ok(vec![text]),
                (None, None) => invalid(),
            },
            ArgType::Count { min, max, .. } => match number(value) {
                Some(number) if number >= min => Ok(vec![number.min(max).to_string()]),
                _ => invalid(),
            },
        }
    }

    /// A note about a value that is clamped.
    fn note(&self, value: &Value) -> Option<String> {
        match self.kind {
            ArgType::Count { max, .. } if number(value)? > max => {
                Some(format!("`{}` is at most {max}: {max} was used", self.name))
            }
            _ => None,
        }
    }

    pub(crate) fn schema(&self) -> Value {
        let mut schema = match self.kind {
            // Alternatives with a list would be exact, but some model providers reject them.
            ArgType::Text | ArgType::Texts => json!({ "type": "string" }),
            ArgType::Number => json!({ "type": "number" }),
            ArgType::Bool => json!({ "type": "boolean" }),
            ArgType::Count { default, min, .. } => json!({ "type": "integer", "minimum": min, "default": default }),
        };
        if !self.description.is_empty() {
            schema["description"] = self.description.into();
        }
        schema
    }
}

impl ArgType {
    fn noun(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Texts => "text or a list of texts".to_owned(),
            Self::Number => "a number, such as 500000".to_owned(),
            Self::Bool => "true or false".to_owned(),
            Self::Count { min, max, .. } => format!("an integer from {min} to {max} (larger ones are clamped)"),
        }
    }
}

fn unknown(tool: Tool, name: &str) -> ArgError {
    let accepted: Vec<&str> = tool.arguments().iter().map(|argument| argument.name).collect();
    let of_rest = tool.arguments().iter().find(|argument| argument.parameter == name).map(|argument| argument.name);
    let suggestion = of_rest.or_else(|| nearest(name, accepted.iter().copied()));
    ArgError {
        argument: name.to_owned(),
        detail: format!("is not an argument of {}", tool.name()),
        did_you_mean: suggestion.map(str::to_owned).into_iter().collect(),
        accepted: accepted.into_iter().map(str::to_owned).collect(),
    }
}

/// Null, empty text and an empty list count as absent.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.iter().all(is_empty),
        _ => false,
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            // Clients whose numbers are all floats write 10 as 10.0.
            let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
            Some(float as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn abbreviated(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(60) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(tool: Tool, arguments: Value) -> Result<Vec<(&'static str, String)>, Vec<ArgError>> {
        ToolCall::parse(tool, arguments.as_object().unwrap()).map(|call| call.pairs)
    }

    #[test]
    fn arguments_become_rest_parameters() {
        let arguments = json!({ "query": "sequoia", "stage": ["seed", "series-a"], "check_usd": 500_000, "limit": 3 });
        let pairs = parse(Tool::SearchVcs, arguments).unwrap();
        let expected =
            [("q", "sequoia"), ("stage", "seed"), ("stage", "series-a"), ("check_usd", "500000"), ("limit", "3")];
        assert_eq!(pairs, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn unambiguous_values_are_accepted() {
        for (arguments, name, value) in [
            (json!({}), "limit", "10"),
            (json!({ "limit": null }), "limit", "10"),
            (json!({ "limit": "7" }), "limit", "7"),
            (json!({ "limit": 7.0 }), "limit", "7"),
            (json!({ "limit": 1_000 }), "limit", "50"),
            (json!({ "query": 500 }), "q", "500"),
            (json!({ "sector": ["fintech", "", null] }), "sector", "fintech"),
        ] {
            let call = ToolCall::parse(Tool::SearchVcs, arguments.as_object().unwrap()).unwrap();
            assert_eq!(call.value(name), Some(value), "{arguments}");
        }
        for arguments in [json!({ "query": " " }), json!({ "stage": [] }), json!({ "country": "" })] {
            assert_eq!(parse(Tool::SearchVcs, arguments).unwrap(), [("limit", "10".to_owned())]);
        }
    }

    #[test]
    fn all_errors_are_reported_with_their_correction() {
        let errors = parse(Tool::SearchVcs, json!({ "limit": -1, "stge": "seed", "query": true })).unwrap_err();
        let reported: Vec<(&str, &str)> = errors.iter().map(|m| (m.argument.as_str(), m.detail.as_str())).collect();
        assert_eq!(
            reported,
            [
                ("stge", "is not an argument of search_vcs"),
                ("query", "must be text, but is true"),
                ("limit", "must be an integer from 0 to 50 (larger ones are clamped), but is -1"),
            ]
        );
        assert_eq!(errors[0].did_you_mean, ["stage"]);
        assert_eq!(errors[0].accepted.len(), Tool::SearchVcs.arguments().len());
        for (arguments, detail) in [
            (json!({ "min_health_score": [1] }), "must be a number, such as 500000, but is [1]"),
            (json!({ "country": { "code": "DE" } }), "must be text or a list of texts, but is {\"code\":\"DE\"}"),
        ] {
            assert_eq!(parse(Tool::SearchVcs, arguments).unwrap_err()[0].detail, detail);
        }
        let since = parse(Tool::GetFundingRounds, json!({ "since": true })).unwrap_err();
        assert_eq!(since[0].detail, "must be text, but is true");
        let pairs = parse(Tool::SearchVcs, json!({ "check_usd": "$1.5m" })).unwrap();
        assert_eq!(pairs[0], ("check_usd", "$1.5m".to_owned()));
    }

    #[test]
    fn an_unknown_argument_gets_a_suggestion() {
        for (name, suggestion) in [
            ("qeury", Some("query")),
            ("Stage", Some("stage")),
            ("stages", Some("stage")),
            ("min_heath_scor", Some("min_health_score")),
            ("q", Some("query")),
            ("zzz", None),
            ("", None),
        ] {
            let errors = parse(Tool::SearchVcs, json!({ name: "a" })).unwrap_err();
            assert_eq!(errors[0].did_you_mean.first().map(String::as_str), suggestion, "{name}");
        }
    }

    #[test]
    fn a_clamped_count_is_noted() {
        let call = |limit| ToolCall::parse(Tool::SearchVcs, json!({ "limit": limit }).as_object().unwrap()).unwrap();
        assert_eq!(call(51).notes, ["`limit` is at most 50: 50 was used"]);
        assert_eq!(call(50).notes, [""; 0]);
    }
}
