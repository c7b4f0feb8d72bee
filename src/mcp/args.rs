//! The arguments of the tools: one table defines their schemas, parsing and error messages.
//!
//! Models write numbers as text, a single value instead of a list, a list as JSON text or for a single value, an
//! argument under another name, and empty text for an absent value. Unambiguous input is accepted; anything else is an
//! error that says how to fix it. The catalog parses vocabulary values, because it knows the sectors of the snapshot.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::Tool;
use crate::tool::MAX_ITEMS;
use catalog::ParameterError;
use catalog::json::fields::snake_case;
use catalog::params::{BoundUnit, ParamType};
use catalog::parse::scalars::parse_whole;
use data::parameter_error::shortened_to;
use search::nearest;

#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub name: &'static str,
    pub(crate) parameter: &'static str,
    pub(crate) kind: ArgType,
    pub(crate) description: &'static str,
    /// Example value for errors; empty if any text is valid.
    pub(crate) example: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgType {
    Text,
    /// Text with several values separated by commas, or a list.
    Texts,
    /// A whole number, in any spelling that the catalog parses.
    Number,
    Bool,
    /// An integer of at least 0; clamped to `max`.
    Count {
        default: i64,
        max: i64,
    },
}

impl ArgType {
    pub(crate) fn from_param_type(parameter: ParamType) -> Self {
        match parameter {
            ParamType::Text
            | ParamType::Words
            | ParamType::Like(_)
            | ParamType::Metric
            | ParamType::Release
            | ParamType::Range { unit: BoundUnit::Date, .. } => Self::Text,
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
    /// REST parameters and values, in the order of the tool's arguments; a list gives one pair per value.
    pub(crate) pairs: Vec<(&'static str, String)>,
    /// Notes to the caller on how arguments were interpreted.
    pub(crate) notes: Vec<String>,
}

impl ToolCall {
    /// The error lists all arguments that are unknown or of a wrong type.
    pub fn parse(tool: Tool, arguments: &Map<String, Value>) -> Result<Self, Vec<ParameterError>> {
        let table = tool.arguments();
        let mut values: Vec<Option<Cow<'_, Value>>> = vec![None; table.len()];
        let mut errors = Vec::new();
        let position = |name: &str| table.iter().position(|argument| argument.name == name);
        let (own, others): (Vec<_>, Vec<_>) = arguments.iter().partition(|(name, _)| position(name).is_some());
        for (name, value) in own {
            values[position(name).expect("it is an argument")] = given(value);
        }
        // Some hosts pass a placeholder to a tool without arguments.
        for (name, value) in others.into_iter().filter(|_| !table.is_empty()) {
            let value = given(value);
            match alias(table, name).and_then(position) {
                Some(at) if values[at].is_none() => values[at] = value,
                Some(at) if value.is_some() && value != values[at] => {
                    let own = table[at].name;
                    let detail = format!("is another name of `{own}`, which has another value; pass one of them");
                    errors.push(ParameterError::invalid(name, detail));
                }
                Some(_) => {}
                None => errors.push(unknown(tool, name)),
            }
        }
        let (mut pairs, mut notes) = (Vec::new(), Vec::new());
        for (argument, value) in table.iter().zip(&values) {
            let Some(value) = value else { continue };
            notes.extend(argument.note(value));
            match argument.parse(value) {
                Ok(values) => pairs.extend(values.into_iter().map(|value| (argument.parameter, value))),
                Err(detail) => errors.push(ParameterError::invalid(argument.name, detail)),
            }
        }
        if errors.is_empty() { Ok(Self { tool, pairs, notes }) } else { Err(errors) }
    }

    pub(crate) fn value(&self, parameter: &str) -> Option<&str> {
        self.pairs.iter().find(|(name, _)| *name == parameter).map(|(_, value)| value.as_str())
    }

    pub(crate) fn count(&self, parameter: &str) -> usize {
        let default = || match self.tool.arguments().iter().find(|argument| argument.parameter == parameter)?.kind {
            ArgType::Count { default, .. } => usize::try_from(default).ok(),
            _ => None,
        };
        let value = self.value(parameter).and_then(|value| value.parse().ok());
        value.or_else(default).expect("a count has a default and is not negative")
    }

    /// The records that the call is for, at most. A profile, with all that belongs to it, is worth a request as everywhere.
    pub(crate) fn records(&self) -> usize {
        let counts = self.tool.arguments().iter().filter(|argument| matches!(argument.kind, ArgType::Count { .. }));
        let counted: usize = counts.map(|argument| self.count(argument.parameter)).sum();
        if self.tool == Tool::GetVcProfile { (counted + 1).max(MAX_ITEMS) } else { counted }
    }

    pub(crate) fn argument(&self, parameter: &str) -> Option<&'static str> {
        let argument = self.tool.arguments().iter().find(|argument| argument.parameter == parameter);
        argument.map(|argument| argument.name)
    }
}

impl Argument {
    fn parse(&self, value: &Value) -> Result<Vec<String>, String> {
        let texts = match (self.kind, value) {
            (ArgType::Texts, Value::Array(values)) => {
                values.iter().filter(|value| !is_empty(value)).map(text).collect::<Option<Vec<String>>>()
            }
            (ArgType::Bool, Value::Bool(truth)) => Some(vec![truth.to_string()]),
            // The catalog parses all spellings of amounts.
            (ArgType::Number, value) => {
                number(value).map(|number| number.to_string()).or_else(|| text(value)).map(|text| vec![text])
            }
            (ArgType::Count { max, .. }, value) => {
                number(value).filter(|number| *number >= 0).map(|number| vec![number.min(max).to_string()])
            }
            (_, value) => text(value).map(|text| vec![text]),
        };
        texts.ok_or_else(|| format!("must be {}, but is {}", self.noun(), shortened_to(60, &value.to_string())))
    }

    fn note(&self, value: &Value) -> Option<String> {
        match self.kind {
            ArgType::Count { max, .. } if number(value)? > max => {
                Some(format!("`{}` is at most {max}: {max} was used", self.name))
            }
            _ => None,
        }
    }

    fn noun(&self) -> String {
        let example = match self.example {
            "" => String::new(),
            example => format!(", such as `{example}`"),
        };
        match self.kind {
            ArgType::Text => format!("text{example}"),
            ArgType::Texts => format!("text{example}; several values are separated by commas"),
            ArgType::Number => "a number, such as 500000".to_owned(),
            ArgType::Bool => "true or false".to_owned(),
            ArgType::Count { default, max } => {
                format!("an integer from 0 to {max} (larger ones are clamped), such as `{default}`")
            }
        }
    }

    pub(crate) fn schema(&self) -> Value {
        let mut schema = match self.kind {
            // Lists are accepted too, but some model providers reject a schema with alternatives.
            ArgType::Text | ArgType::Texts => json!({ "type": "string" }),
            ArgType::Number => json!({ "type": "number" }),
            ArgType::Bool => json!({ "type": "boolean" }),
            ArgType::Count { default, .. } => json!({ "type": "integer", "default": default }),
        };
        schema["description"] = self.description.into();
        schema
    }
}

fn unknown(tool: Tool, name: &str) -> ParameterError {
    let accepted: Vec<&str> = tool.arguments().iter().map(|argument| argument.name).collect();
    let of_rest = tool.arguments().iter().find(|argument| argument.parameter == name).map(|argument| argument.name);
    let suggestion = of_rest.or_else(|| nearest(name, accepted.iter().copied()));
    ParameterError {
        did_you_mean: suggestion.map(str::to_owned),
        accepted: Some(accepted.into_iter().map(str::to_owned).collect()),
        ..ParameterError::invalid(name, format!("is not an argument of {}", tool.name()))
    }
}

/// Other names that models use, each with the arguments that it may stand for; the first one that the tool has applies.
const ALIASES: &[(&[&str], &[&str])] = &[
    (&["q", "search", "text"], &["query", "name"]),
    (&["name"], &["query"]),
    (&["query"], &["name"]),
    (&["id"], &["slug"]),
    (&["firm", "vc", "fund", "organisation"], &["organization", "investor", "name", "query"]),
    (&["company"], &["organization", "startup", "query"]),
    (&["investors", "organization"], &["investor"]),
    (&["sectors", "industry"], &["sector"]),
    (&["domain", "url"], &["website"]),
    (&["stages", "round"], &["stage"]),
    (&["countries", "location"], &["country"]),
    (&["from", "after", "start_date"], &["since"]),
    (&["to", "before", "end_date"], &["until"]),
    (&["sort_by", "order_by"], &["sort"]),
    (&["max_results", "count", "page_size"], &["limit"]),
    (&["next_cursor", "page_token"], &["cursor"]),
];

/// Finds the argument for another name, ignoring letter case and hyphens.
fn alias(table: &'static [Argument], name: &str) -> Option<&'static str> {
    let name = snake_case(name);
    let named = |candidate: &&str| table.iter().find(|argument| argument.name == *candidate);
    let meant = || ALIASES.iter().find(|(names, _)| names.contains(&&*name))?.1.iter().find_map(named);
    named(&&*name).or_else(meant).map(|argument| argument.name)
}

fn given(value: &Value) -> Option<Cow<'_, Value>> {
    Some(unwrapped(value)).filter(|value| !is_empty(value))
}

/// Unwraps a value: a text that is a JSON list becomes that list, and a list of one becomes its value.
fn unwrapped(value: &Value) -> Cow<'_, Value> {
    let parsed = match value {
        Value::String(text) if text.trim_start().starts_with('[') => serde_json::from_str(text).ok(),
        _ => None,
    };
    let value = parsed.map_or(Cow::Borrowed(value), Cow::Owned);
    match value.as_array().map(Vec::as_slice) {
        Some([only]) => Cow::Owned(only.clone()),
        _ => value,
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
        Value::String(text) => {
            let text = text.trim();
            text.parse().ok().or_else(|| parse_whole(text).and_then(|number| i64::try_from(number).ok()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(tool: Tool, arguments: Value) -> Result<Vec<(&'static str, String)>, Vec<ParameterError>> {
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
            (json!({ "limit": "7" }), "limit", "7"),
            (json!({ "limit": 7.0 }), "limit", "7"),
            (json!({ "limit": "7.0" }), "limit", "7"),
            (json!({ "limit": "1e+01" }), "limit", "10"),
            (json!({ "min_aum_usd": "1e9" }), "min_aum_usd", "1000000000"),
            (json!({ "limit": 1_000 }), "limit", "50"),
            (json!({ "query": 500 }), "q", "500"),
            (json!({ "sector": ["fintech", "", null] }), "sector", "fintech"),
            (json!({ "sector": "[\"fintech\", \"health\"]" }), "sector", "fintech"),
            (json!({ "sort": ["-health_score"] }), "sort", "-health_score"),
            (json!({ "limit": "[7]" }), "limit", "7"),
            (json!({ "query": "[x" }), "q", "[x"),
            (json!({ "name": "sequoia" }), "q", "sequoia"),
            (json!({ "Sectors": "fintech" }), "sector", "fintech"),
            (json!({ "minHealthScore": 60 }), "min_health_score", "60"),
        ] {
            let call = ToolCall::parse(Tool::SearchVcs, arguments.as_object().unwrap()).unwrap();
            assert_eq!(call.value(name), Some(value), "{arguments}");
        }
        for arguments in [json!({ "query": " " }), json!({ "stage": [] }), json!({ "country": "" })] {
            assert_eq!(parse(Tool::SearchVcs, arguments).unwrap(), []);
        }
    }

    #[test]
    fn all_errors_are_reported_with_their_correction() {
        let errors = parse(Tool::SearchVcs, json!({ "limit": -1, "stge": "seed", "query": true })).unwrap_err();
        let reported: Vec<(&str, &str)> = errors.iter().map(|m| (m.parameter.as_str(), m.detail.as_str())).collect();
        assert_eq!(
            reported,
            [
                ("stge", "is not an argument of search_vcs"),
                ("query", "must be text, but is true"),
                ("limit", "must be an integer from 0 to 50 (larger ones are clamped), such as `10`, but is -1"),
            ]
        );
        assert_eq!(errors[0].did_you_mean.as_deref(), Some("stage"));
        assert_eq!(errors[0].accepted.as_ref().unwrap().len(), Tool::SearchVcs.arguments().len());
        for (arguments, detail) in [
            // A list of one value is taken for that value; this one has two.
            (json!({ "min_health_score": [1, 2] }), "must be a number, such as 500000, but is [1,2]"),
            (
                json!({ "country": { "code": "DE" } }),
                "must be text, such as `DE,GB`; several values are separated by commas, but is {\"code\":\"DE\"}",
            ),
        ] {
            assert_eq!(parse(Tool::SearchVcs, arguments).unwrap_err()[0].detail, detail);
        }
        let since = parse(Tool::GetFundingRounds, json!({ "since": true })).unwrap_err();
        assert_eq!(since[0].detail, "must be text, such as `2025-01-01`, but is true");
        let pairs = parse(Tool::SearchVcs, json!({ "check_usd": "$1.5m" })).unwrap();
        assert_eq!(pairs[0], ("check_usd", "$1.5m".to_owned()));
    }

    #[test]
    fn an_unknown_argument_gets_a_suggestion() {
        for (name, suggestion) in
            [("qeury", Some("query")), ("min_heath_scor", Some("min_health_score")), ("zzz", None), ("", None)]
        {
            let errors = parse(Tool::SearchVcs, json!({ name: "a" })).unwrap_err();
            assert_eq!(errors[0].did_you_mean.as_deref(), suggestion, "{name}");
        }
    }

    #[test]
    fn other_names_are_accepted_if_the_argument_itself_is_absent() {
        for (tool, name, parameter) in [
            (Tool::GetVcProfile, "query", "name"),
            (Tool::GetVcProfile, "id", "slug"),
            (Tool::GetVcProfile, "firm", "name"),
            (Tool::SearchStartups, "firm", "investor"),
            (Tool::GetFundingRounds, "company", "startup"),
            (Tool::SearchPeople, "company", "organization"),
            (Tool::SearchVcs, "next_cursor", "cursor"),
        ] {
            assert_eq!(parse(tool, json!({ name: "a" })).unwrap(), [(parameter, "a".to_owned())], "{name}");
        }
        let query = |arguments: Value| parse(Tool::SearchVcs, arguments);
        for absent in [json!(null), json!(""), json!([""])] {
            assert_eq!(query(json!({ "name": "a", "query": absent })).unwrap(), [("q", "a".to_owned())], "{absent}");
            assert_eq!(query(json!({ "name": absent, "query": "a" })).unwrap(), [("q", "a".to_owned())], "{absent}");
        }
        assert_eq!(query(json!({ "name": "a", "q": "a" })).unwrap(), [("q", "a".to_owned())]);
        for (arguments, name) in
            [(json!({ "name": "a", "query": "b" }), "name"), (json!({ "q": "a", "search": "b" }), "search")]
        {
            let errors = query(arguments).unwrap_err();
            assert_eq!((errors.len(), errors[0].parameter.as_str()), (1, name));
            assert!(errors[0].detail.contains("another name of `query`"), "{errors:?}");
        }
        assert_eq!(parse(Tool::GetPlatformStats, json!({ "random_string": "x" })).unwrap(), []);
        for (names, arguments) in ALIASES {
            let known = |name: &&str| Tool::ALL.iter().any(|tool| tool.arguments().iter().any(|own| own.name == *name));
            assert!(arguments.iter().all(known), "{names:?}");
        }
    }

    #[test]
    fn a_clamped_count_is_noted() {
        let call = |limit| ToolCall::parse(Tool::SearchVcs, json!({ "limit": limit }).as_object().unwrap()).unwrap();
        assert_eq!(call(51).notes, ["`limit` is at most 50: 50 was used"]);
        assert_eq!(call(50).notes, [""; 0]);
    }
}
