//! Vocabularies as named schemas; generators create one type for each.

use serde_json::Value;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::openapi::schema::Schemas;
use crate::{Route, Version};
use catalog::matching::MatchReason;
use catalog::params::ParamType;
use catalog::similar::Common;
use catalog::{Property, Resource, TextIndexes};
use data::vocabulary::{Vocabulary, values_of};
use data::{Metric, Role, Table};
use search::MatchClass;

/// Adds the vocabularies of a version's document: selectable fields, sort keys, and values of records.
pub(crate) fn add(version: Version, schemas: &mut Schemas) {
    if version == Version::V3 {
        for route in Route::all(version).filter(|route| route.parameters(version).contains(&"fields")) {
            let item = route.endpoint.item_name(version);
            let mut names = route.endpoint.field_set().paths();
            names.push("*".to_owned());
            let doc = format!("A field of `{item}`, or `*` for all.");
            schemas.insert(field_name(item), vocabulary_with_names(&doc, &names));
        }
        for resource in Resource::ALL {
            for parameter in resource.parameters() {
                match parameter.kind {
                    ParamType::Sort => {
                        let words = sort_values(resource.table().sort_keys(), resource.is_searchable());
                        let doc = "A sort key; a leading `-` reverses the order.";
                        schemas.insert(sort_name(resource), vocabulary_with_names(doc, &words));
                    }
                    ParamType::Known(table, _) => {
                        let names: Vec<&str> = Property::all(table).map(|(name, _)| name).collect();
                        let doc = "A property that is known or unknown.";
                        schemas.insert(property_name(table), vocabulary(doc, &names));
                    }
                    _ => {}
                }
            }
        }
    }
    let used: Vec<&str> = used_vocabularies(version).collect();
    for (name, doc, words) in vocabularies().filter(|(name, ..)| used.contains(name)) {
        schemas.insert(name.to_owned(), vocabulary(doc, &words));
    }
}

/// The schema of a value out of `words`.
pub(crate) fn vocabulary(doc: &str, words: &[impl AsRef<str>]) -> RefOr<Schema> {
    let words = words.iter().map(|word| Value::from(word.as_ref()));
    ObjectBuilder::new().schema_type(Type::String).description(Some(doc)).enum_values(Some(words)).into()
}

/// The same, with a constant name for each word, for generators.
pub(crate) fn vocabulary_with_names(doc: &str, words: &[String]) -> RefOr<Schema> {
    let mut schema = vocabulary(doc, words);
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        let names: Vec<Value> = words.iter().map(|word| Value::from(constant(word))).collect();
        object.extensions = Some([("x-enum-varnames".to_owned(), Value::from(names))].into_iter().collect());
    }
    schema
}

/// Constant name of a word: `-name` → `NAME_DESCENDING`, `score.value` → `SCORE_VALUE`.
fn constant(word: &str) -> String {
    match (word, word.strip_prefix('-')) {
        ("*", _) => "ALL".to_owned(),
        (_, Some(key)) => format!("{}_DESCENDING", constant(key)),
        (word, None) => word.replace('.', "_").to_ascii_uppercase(),
    }
}

/// Values of `sort`: each key in both directions, and `relevance`.
pub(crate) fn sort_values(keys: &[&str], relevance: bool) -> Vec<String> {
    let both = keys.iter().flat_map(|key| [(*key).to_owned(), format!("-{key}")]);
    relevance.then(|| "relevance".to_owned()).into_iter().chain(both).collect()
}

pub(crate) fn sort_name(resource: Resource) -> String {
    format!("{}Sort", resource.table().model().name)
}

pub(crate) fn property_name(table: Table) -> String {
    format!("{}Property", table.model().name)
}

pub(crate) fn include_name(table: Table) -> String {
    format!("{}Include", table.model().name)
}

const OF_RECORDS: [(&str, &str); 10] = [
    ("Country", "A country, ISO 3166-1 alpha-2."),
    ("Stage", "A funding stage."),
    ("FirmKind", "A kind of investor."),
    ("StartupStatus", "The status of a startup."),
    ("OrganizationKind", "The type of organization that a person works at."),
    ("CountrySource", "Whose country a person's country is."),
    (
        "ReviewStatus",
        "The status of a review. Of a pending one nothing that it says is returned; rejected reviews are never returned.",
    ),
    ("ScoreStatus", "Whether there are enough reviews to publish a score."),
    ("ScoreComponentName", "A component of the peer score."),
    (
        "IdentifierStrength",
        "What a shared identifier says: `strong` is one entity, `medium` usually one, `weak` nothing by itself.",
    ),
];

fn vocabularies() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    let of_requests = [
        ("MatchClass", "How a name matches a search, the surest first; `relaxed` is not sure.", MatchClass::names()),
        ("Role", "What a person does, by the words of the title.", Role::names()),
        ("Metric", "A metric that firms are ranked by.", Metric::names()),
        ("Tier", "The tier of an account.", auth::quota::Tier::ALL.into_iter().map(|tier| tier.name()).collect()),
        ("RecordKind", "A type of record.", TextIndexes::TABLES.map(Table::noun).to_vec()),
        ("FitReasonName", "A criterion of the match.", MatchReason::ALL.into_iter().map(MatchReason::name).collect()),
        (
            "SimilarityReasonName",
            "What two records have in common.",
            Common::ALL.into_iter().map(Common::name).collect(),
        ),
    ];
    let of_records =
        OF_RECORDS.into_iter().map(|(name, doc)| (name, doc, values_of(name).expect("fields have the vocabulary")));
    of_records.chain(of_requests)
}

/// The vocabularies that a version's document refers to. v1 and v2 accept any text in parameters, with a warning.
fn used_vocabularies(version: Version) -> impl Iterator<Item = &'static str> {
    let of_v3: &[&str] = match version {
        Version::V1 | Version::V2 => &[],
        Version::V3 => &[
            "StartupStatus",
            "OrganizationKind",
            "CountrySource",
            "Role",
            "Metric",
            "RecordKind",
            "FitReasonName",
            "SimilarityReasonName",
            "MatchClass",
        ],
    };
    ["Country", "Stage", "FirmKind", "ReviewStatus", "Tier", "ScoreStatus", "ScoreComponentName", "IdentifierStrength"]
        .into_iter()
        .chain(of_v3.iter().copied())
}

pub(crate) fn vocabulary_of(words: &[&str]) -> Option<&'static str> {
    vocabularies().find(|(.., known)| known == words).map(|(name, ..)| name)
}

pub(crate) fn field_name(item: &str) -> String {
    format!("{item}Field")
}
