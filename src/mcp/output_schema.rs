//! The shapes of the tools' results, as JSON Schema.
//!
//! Clients check answers against them, and models read them with every list of tools: so they are short, written in a
//! notation of their own (`health_score:i?` is a whole number or null), name the fields that matter and require only
//! what every answer has.

use serde_json::{Map, Value, json};

use crate::mcp::Tool;

const FIRM: &str = "slug:s name:s health_score:i? ghosting_rate:n? review_count:i stages:[] sectors:[] \
                    country:s? check_min_usd:i? check_max_usd:i? portfolio_count:i last_investment_on:s?";
const PROFILE: &str = "slug:s name:s health_score:i? ghosting_rate:n? \
                       description:s? ratings:{} top_co_investors:[]";
const STARTUP: &str = "slug:s name:s status:s? stage:s? sectors:[] country:s? total_raised_usd:i? \
                       last_round_on:s? investors:[]";
const ROUND: &str = "startup:{} stage:s amount_usd:i? announced_on:s? lead_investors:[] investors:[] sectors:[]";
const PERSON: &str = "slug:s name:s title:s? organization:{} country:s?";
const SCORE: &str = "value:i? low:i? high:i? status:s components:[]";
const STATS: &str = "firms:i startups:i reviews:i funding_rounds:i people:i sectors:i countries:i snapshot:s";

/// The shape of what `tool` answers.
pub(crate) fn of(tool: Tool) -> Value {
    match tool {
        Tool::SearchVcs => search(FIRM, ""),
        Tool::SearchStartups => search(STARTUP, ""),
        Tool::GetFundingRounds => search(ROUND, " sum_usd:i?"),
        Tool::SearchPeople => search(PERSON, ""),
        Tool::GetVcProfile => {
            let mut properties = fields(
                "reviews:[] portfolio:[] candidates:[] people:[] ghosting:{} reviews_by_rating:{} notes:[] snapshot:s \
                 truncated:b",
            );
            properties.insert("profile".to_owned(), or_null(PROFILE));
            properties.insert("score".to_owned(), or_null(SCORE));
            object(properties, &["profile", "snapshot"])
        }
        Tool::GetPlatformStats => {
            let properties = fields(STATS);
            let required: Vec<String> = properties.keys().cloned().collect();
            object(properties, &required.iter().map(String::as_str).collect::<Vec<_>>())
        }
    }
}

/// The shape of a search: items of `item`, and `more` fields that every answer has.
fn search(item: &str, more: &str) -> Value {
    let always = format!("total:i snapshot:s{more}");
    let mut properties = fields(&always);
    let required: Vec<String> = properties.keys().cloned().chain(["items".to_owned()]).collect();
    properties.insert("items".to_owned(), list(item));
    properties.extend(fields("did_you_mean:[] notes:[] truncated:b"));
    object(properties, &required.iter().map(String::as_str).collect::<Vec<_>>())
}

fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

fn list(item: &str) -> Value {
    json!({ "type": "array", "items": { "type": "object", "properties": fields(item) } })
}

fn or_null(item: &str) -> Value {
    json!({ "type": ["object", "null"], "properties": fields(item) })
}

/// Reads fields in the notation of this module.
fn fields(text: &str) -> Map<String, Value> {
    let fields = text.split_whitespace().filter_map(|field| field.split_once(':'));
    fields.map(|(name, kind)| (name.to_owned(), kind_of(kind))).collect()
}

fn kind_of(kind: &str) -> Value {
    match kind {
        "s" => json!({ "type": "string" }),
        "s?" => json!({ "type": ["string", "null"] }),
        "i" => json!({ "type": "integer" }),
        "i?" => json!({ "type": ["integer", "null"] }),
        "n?" => json!({ "type": ["number", "null"] }),
        "b" => json!({ "type": "boolean" }),
        "[]" => json!({ "type": "array" }),
        "{}" => json!({ "type": "object" }),
        _ => json!(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_type() {
        for tool in Tool::ALL {
            let text = of(tool).to_string();
            assert!(!text.contains(":true") && text.contains("\"snapshot\":{\"type\":\"string\"}"), "{text}");
        }
        assert_eq!(of(Tool::SearchVcs)["properties"]["items"]["items"]["properties"].as_object().unwrap().len(), 12);
        assert_eq!(of(Tool::GetFundingRounds)["required"], json!(["snapshot", "sum_usd", "total", "items"]));
    }
}
