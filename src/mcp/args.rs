//! The arguments of the tools: one table drives their schemas, how they are read, and what a wrong one is told.
//!
//! Models write numbers as text, one value where a list is meant, and empty text for what they leave out; where that
//! has one meaning it is taken. What has none is refused with the mend. The values of vocabularies are read by the
//! catalog, which knows the snapshot's sectors.

use serde_json::{Map, Value, json};

use crate::mcp::Tool;
use crate::search::nearest;

/// One argument of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    /// What tools call it.
    pub name: &'static str,
    /// What the REST parameter of the same meaning is called.
    pub parameter: &'static str,
    pub(crate) kind: ArgType,
    pub(crate) description: &'static str,
}

/// What an argument takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgType {
    /// Text.
    Text,
    /// Text, or a list of texts of which one must hold.
    Texts,
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these words, or a list of them.
    Words(&'static [&'static str]),
    /// A whole number within these bounds.
    Number { least: i64, most: i64 },
    /// A whole number from `least` on; above `most` it means `most`.
    Count { default: i64, least: i64, most: i64 },
    /// A date.
    Day,
}

/// A wrong argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgError {
    /// The argument's name.
    pub argument: String,
    /// What is wrong, and the mend.
    pub detail: String,
    /// Values or names that may have been meant, the nearest first.
    pub did_you_mean: Vec<String>,
    /// What would be accepted, where that is a short list.
    pub accepted: Vec<String>,
}

/// A call whose arguments have the right names and types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool.
    pub tool: Tool,
    /// REST parameters and their values, in the order of the tool's arguments; a list gives one pair per value.
    /// Counts (`limit` and its kin) are always there.
    pub pairs: Vec<(&'static str, String)>,
    /// What the caller should know of how the arguments were taken.
    pub notes: Vec<String>,
}

impl ToolCall {
    /// Reads the arguments of a call of `tool`.
    ///
    /// # Errors
    /// All arguments that are unknown or of a wrong type.
    pub fn read(tool: Tool, arguments: &Map<String, Value>) -> Result<Self, Vec<ArgError>> {
        let table = tool.arguments();
        let mut mistakes: Vec<ArgError> = arguments
            .keys()
            .filter(|name| table.iter().all(|argument| argument.name != name.as_str()))
            .map(|name| unknown(tool, name))
            .collect();
        let (mut pairs, mut notes) = (Vec::new(), Vec::new());
        for argument in table {
            let value = arguments.get(argument.name).filter(|value| !is_left_out(value));
            notes.extend(value.and_then(|value| argument.note(value)));
            match argument.read(value) {
                Ok(values) => pairs.extend(values.into_iter().map(|value| (argument.parameter, value))),
                Err(detail) => mistakes.push(ArgError {
                    argument: argument.name.to_owned(),
                    detail,
                    did_you_mean: Vec::new(),
                    accepted: Vec::new(),
                }),
            }
        }
        if mistakes.is_empty() { Ok(Self { tool, pairs, notes }) } else { Err(mistakes) }
    }

    /// The first value of a REST parameter.
    #[must_use]
    pub fn value(&self, parameter: &str) -> Option<&str> {
        self.pairs.iter().find(|(name, _)| *name == parameter).map(|(_, value)| value.as_str())
    }

    /// The value of a count such as `limit`.
    #[must_use]
    pub fn count(&self, parameter: &str) -> usize {
        self.value(parameter).and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    /// What tools call a REST parameter.
    #[must_use]
    pub fn argument(&self, parameter: &str) -> &'static str {
        let argument = self.tool.arguments().iter().find(|argument| argument.parameter == parameter);
        argument.map_or("", |argument| argument.name)
    }
}

impl Argument {
    /// The argument's values as the texts of a REST parameter.
    fn read(&self, value: Option<&Value>) -> Result<Vec<String>, String> {
        let Some(value) = value else {
            return Ok(match self.kind {
                ArgType::Count { default, .. } => vec![default.to_string()],
                _ => Vec::new(),
            });
        };
        let wanted = || Err(format!("must be {}; {} was given", self.kind.noun(), shown(value)));
        match self.kind {
            ArgType::Text | ArgType::Word(_) => text(value).map_or_else(wanted, |text| Ok(vec![text])),
            ArgType::Texts | ArgType::Words(_) => match value {
                Value::Array(values) => {
                    let texts: Option<Vec<String>> =
                        values.iter().filter(|value| !is_left_out(value)).map(text).collect();
                    texts.map_or_else(wanted, Ok)
                }
                value => text(value).map_or_else(wanted, |text| Ok(vec![text])),
            },
            ArgType::Number { least, most } => match number(value) {
                Some(number) if (least..=most).contains(&number) => Ok(vec![number.to_string()]),
                _ => wanted(),
            },
            ArgType::Count { least, most, .. } => match number(value) {
                Some(number) if number >= least => Ok(vec![number.min(most).to_string()]),
                _ => wanted(),
            },
            ArgType::Day => match value.as_str().map(|text| text.trim().parse::<crate::data::Date>()) {
                Some(Ok(date)) => Ok(vec![date.to_string()]),
                _ => wanted(),
            },
        }
    }

    /// What is to be told of a value that is taken as another one.
    fn note(&self, value: &Value) -> Option<String> {
        match self.kind {
            ArgType::Count { most, .. } if number(value)? > most => {
                Some(format!("`{}` is at most {most}: {most} was used", self.name))
            }
            _ => None,
        }
    }

    /// The argument's JSON Schema.
    pub(crate) fn schema(&self) -> Value {
        let mut schema = match self.kind {
            ArgType::Text => json!({ "type": "string" }),
            // A list of types would say the same, but not all models' providers take one.
            ArgType::Texts => json!({ "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
            ] }),
            ArgType::Word(words) => json!({ "type": "string", "enum": words }),
            ArgType::Words(words) => json!({ "anyOf": [
                { "type": "string", "enum": words },
                { "type": "array", "items": { "type": "string" } },
            ] }),
            ArgType::Number { least, most: i64::MAX } => json!({ "type": "integer", "minimum": least }),
            ArgType::Number { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
            ArgType::Count { default, least, .. } => json!({ "type": "integer", "minimum": least, "default": default }),
            ArgType::Day => json!({ "type": "string", "format": "date" }),
        };
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), self.description.into());
        }
        schema
    }
}

impl ArgType {
    fn noun(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Texts => "text or a list of texts".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Words(words) => format!("one of {}, or a list of them", words.join(", ")),
            Self::Number { least, most: i64::MAX } => format!("a whole number of at least {least}"),
            Self::Number { least, most } => format!("a whole number from {least} to {most}"),
            Self::Count { least, most, .. } => {
                format!("a whole number of at least {least} (above {most} it means {most})")
            }
            Self::Day => "a date of the form YYYY-MM-DD".to_owned(),
        }
    }
}

fn unknown(tool: Tool, name: &str) -> ArgError {
    let accepted: Vec<&str> = tool.arguments().iter().map(|argument| argument.name).collect();
    let near = tool.arguments().iter().find(|argument| argument.parameter == name).map(|argument| argument.name);
    let near = near.or_else(|| nearest(name, accepted.iter().copied()));
    ArgError {
        argument: name.to_owned(),
        detail: format!("is not an argument of {}", tool.name()),
        did_you_mean: near.map(str::to_owned).into_iter().collect(),
        accepted: accepted.into_iter().map(str::to_owned).collect(),
    }
}

/// Null, empty text and an empty list say nothing.
fn is_left_out(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(values) => values.iter().all(is_left_out),
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
            // Some clients have one number type only, and write 10 as 10.0.
            let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9e15)?;
            Some(float as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A value as it is told back: short.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(tool: Tool, arguments: Value) -> Result<Vec<(&'static str, String)>, Vec<ArgError>> {
        ToolCall::read(tool, arguments.as_object().unwrap()).map(|call| call.pairs)
    }

    #[test]
    fn arguments_become_the_parameters_of_rest() {
        let arguments = json!({ "query": "sequoia", "stage": ["seed", "series-a"], "check_usd": 500_000, "limit": 3 });
        let pairs = read(Tool::SearchVcs, arguments).unwrap();
        let expected =
            [("q", "sequoia"), ("stage", "seed"), ("stage", "series-a"), ("check_usd", "500000"), ("limit", "3")];
        assert_eq!(pairs, expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn what_models_write_is_understood() {
        for (arguments, name, value) in [
            (json!({}), "limit", "10"),
            (json!({ "limit": null }), "limit", "10"),
            (json!({ "limit": "7" }), "limit", "7"),
            (json!({ "limit": 7.0 }), "limit", "7"),
            (json!({ "limit": 1_000 }), "limit", "50"),
            (json!({ "query": 500 }), "q", "500"),
            (json!({ "sector": ["fintech", "", null] }), "sector", "fintech"),
        ] {
            let call = ToolCall::read(Tool::SearchVcs, arguments.as_object().unwrap()).unwrap();
            assert_eq!(call.value(name), Some(value), "{arguments}");
        }
        for arguments in [json!({ "query": " " }), json!({ "stage": [] }), json!({ "country": "" })] {
            assert_eq!(read(Tool::SearchVcs, arguments).unwrap(), [("limit", "10".to_owned())]);
        }
    }

    #[test]
    fn all_mistakes_are_told_with_their_mend() {
        let mistakes = read(Tool::SearchVcs, json!({ "limit": 0, "stge": "seed", "query": true })).unwrap_err();
        let told: Vec<(&str, &str)> = mistakes.iter().map(|m| (m.argument.as_str(), m.detail.as_str())).collect();
        assert_eq!(
            told,
            [
                ("stge", "is not an argument of search_vcs"),
                ("query", "must be text; true was given"),
                ("limit", "must be a whole number of at least 1 (above 50 it means 50); 0 was given"),
            ]
        );
        assert_eq!(mistakes[0].did_you_mean, ["stage"]);
        assert_eq!(mistakes[0].accepted.len(), 8);
        for (arguments, detail) in [
            (json!({ "min_health_score": 101 }), "must be a whole number from 0 to 100; 101 was given"),
            (json!({ "min_health_score": 1.5 }), "must be a whole number from 0 to 100; 1.5 was given"),
            (json!({ "check_usd": "5m" }), "must be a whole number of at least 1; \"5m\" was given"),
            (json!({ "country": { "code": "DE" } }), "must be text or a list of texts; {\"code\":\"DE\"} was given"),
        ] {
            assert_eq!(read(Tool::SearchVcs, arguments).unwrap_err()[0].detail, detail);
        }
        let since = read(Tool::GetFundingRounds, json!({ "since": "last year" })).unwrap_err();
        assert_eq!(since[0].detail, "must be a date of the form YYYY-MM-DD; \"last year\" was given");
    }

    #[test]
    fn an_unknown_argument_is_told_the_nearest() {
        for (name, near) in [
            ("qeury", Some("query")),
            ("Stage", Some("stage")),
            ("stages", Some("stage")),
            ("min_heath_scor", Some("min_health_score")),
            ("q", Some("query")),
            ("zzz", None),
            ("", None),
        ] {
            let mistakes = read(Tool::SearchVcs, json!({ name: "a" })).unwrap_err();
            assert_eq!(mistakes[0].did_you_mean.first().map(String::as_str), near, "{name}");
        }
    }

    #[test]
    fn a_count_above_its_most_is_noted() {
        let call = |limit| ToolCall::read(Tool::SearchVcs, json!({ "limit": limit }).as_object().unwrap()).unwrap();
        assert_eq!(call(51).notes, ["`limit` is at most 50: 50 was used"]);
        assert_eq!(call(50).notes, [""; 0]);
    }
}
