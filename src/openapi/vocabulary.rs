//! Vocabularies as named schemas: generators make one type of each, wherever its words stand.

use serde_json::Value;
use utoipa::openapi::schema::{ArrayItems, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::api::{Route, Version};
use crate::catalog::matching::Reason;
use crate::catalog::param_schema::ParamSchema;
use crate::catalog::{Resource, Texts};
use crate::data::derive::score::{DIMENSIONS, GHOSTING};
use crate::data::vocabulary::Vocabulary;
use crate::data::{Country, FirmKind, Metric, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table};

use crate::openapi::schema::{Schemas, item_name, record_name};

/// Adds those that a version's document refers to: fields and sort keys, and words of records.
pub(crate) fn add(version: Version, schemas: &mut Schemas) {
    if version == Version::V3 {
        for endpoint in Route::of(version).filter(|endpoint| endpoint.parameters(version).contains(&"fields")) {
            let item = item_name(version, endpoint.content);
            let names = selectable(schemas, &item);
            let doc = format!("A field of `{item}`, or `*` for all.");
            schemas.insert(field_name(&item), vocabulary_with_names(&doc, &names));
        }
        for resource in Resource::ALL {
            for parameter in resource.parameters() {
                if let ParamSchema::Sort { keys, relevance, .. } = parameter.kind.form(resource) {
                    let words = directed(&keys, relevance);
                    let doc = "A key to sort by; `-` before it turns the order round.";
                    schemas.insert(sort_name(resource), vocabulary_with_names(doc, &words));
                }
            }
        }
    }
    let used: Vec<&str> = used_vocabularies(version).collect();
    for (name, doc, words) in vocabularies().into_iter().filter(|(name, ..)| used.contains(name)) {
        schemas.insert(name.to_owned(), vocabulary(doc, &words));
    }
}

/// The schema of one word out of some.
fn vocabulary(doc: &str, words: &[impl AsRef<str>]) -> RefOr<Schema> {
    let words = words.iter().map(|word| Value::from(word.as_ref()));
    ObjectBuilder::new().schema_type(Type::String).description(Some(doc)).enum_values(Some(words)).into()
}

/// The same with a name for each word, which generators take where the word itself is none.
fn vocabulary_with_names(doc: &str, words: &[String]) -> RefOr<Schema> {
    let mut schema = vocabulary(doc, words);
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        let names: Vec<Value> = words.iter().map(|word| Value::from(constant(word))).collect();
        object.extensions = Some([("x-enum-varnames".to_owned(), Value::from(names))].into_iter().collect());
    }
    schema
}

/// A word as the name of a constant: `-name` → `NAME_DESCENDING`, `score.value` → `SCORE_VALUE`.
fn constant(word: &str) -> String {
    match (word, word.strip_prefix('-')) {
        ("*", _) => "ALL".to_owned(),
        (_, Some(key)) => format!("{}_DESCENDING", constant(key)),
        (word, None) => word.replace('.', "_").to_ascii_uppercase(),
    }
}

/// What `sort` takes: each key in both directions; `relevance` has one.
pub(crate) fn directed(keys: &[&str], relevance: bool) -> Vec<String> {
    let both = keys.iter().flat_map(|key| [(*key).to_owned(), format!("-{key}")]);
    relevance.then(|| "relevance".to_owned()).into_iter().chain(both).collect()
}

/// The name of the vocabulary of a list's sort keys.
pub(crate) fn sort_name(resource: Resource) -> String {
    format!("{}Sort", record_name(resource.table()))
}

/// All vocabularies: name, what a word stands for, words.
fn vocabularies() -> [(&'static str, &'static str, Vec<&'static str>); 12] {
    [
        ("Country", "A country, ISO 3166-1 alpha-2.", Country::all().map(Country::alpha2).collect()),
        ("Stage", "A stage of a startup's life.", Stage::names()),
        ("FirmKind", "A kind of investor.", FirmKind::names()),
        ("StartupStatus", "What has become of a startup.", StartupStatus::names()),
        ("OrganizationKind", "What a person works for.", OrganizationKind::names()),
        ("ReviewStatus", "Whether a review was approved; rejected ones are never served.", ReviewStatus::names()),
        ("Metric", "What firms are ranked by.", Metric::names()),
        ("Tier", "What an account may ask for.", crate::quota::Tier::ALL.into_iter().map(|tier| tier.name()).collect()),
        ("RecordKind", "What a name belongs to.", Texts::TABLES.map(Table::noun).to_vec()),
        ("ScoreStatus", "Whether there are reviews enough for a score.", vec!["published", "insufficient_reviews"]),
        (
            "ScoreComponentName",
            "What was rated.",
            DIMENSIONS.iter().chain([&GHOSTING]).map(|(name, _)| *name).collect(),
        ),
        ("FitReasonName", "What was looked at.", Reason::ALL.into_iter().map(Reason::name).collect()),
    ]
}

/// The vocabularies that a version's document refers to. v1 and v2 take any text for a word, and warn of it.
fn used_vocabularies(version: Version) -> impl Iterator<Item = &'static str> {
    let further: &[&str] = match version {
        Version::V1 | Version::V2 => &[],
        Version::V3 => &["StartupStatus", "OrganizationKind", "Metric", "RecordKind", "FitReasonName"],
    };
    ["Country", "Stage", "FirmKind", "ReviewStatus", "Tier", "ScoreStatus", "ScoreComponentName"]
        .into_iter()
        .chain(further.iter().copied())
}

/// The vocabulary that has just these words.
pub(crate) fn vocabulary_of(words: &[&str]) -> Option<&'static str> {
    vocabularies().into_iter().find(|(.., known)| known == words).map(|(name, ..)| name)
}

/// The name of the vocabulary of a record's fields.
pub(crate) fn field_name(item: &str) -> String {
    format!("{item}Field")
}

/// The fields that `fields` can name, nested ones by their path; camelCase is understood too.
fn selectable(schemas: &Schemas, item: &str) -> Vec<String> {
    let mut paths = Vec::new();
    walk(schemas, item, "", &mut paths);
    paths.push("*".to_owned());
    paths
}

fn walk(schemas: &Schemas, item: &str, before: &str, paths: &mut Vec<String>) {
    let Some(RefOr::T(Schema::Object(object))) = schemas.get(item) else { return };
    for (name, schema) in &object.properties {
        let path = format!("{before}{name}");
        let below = match schema {
            RefOr::Ref(reference) => Some(reference),
            RefOr::T(Schema::Array(array)) => match &array.items {
                ArrayItems::RefOrSchema(item) => match item.as_ref() {
                    RefOr::Ref(reference) => Some(reference),
                    RefOr::T(_) => None,
                },
                ArrayItems::False => None,
            },
            RefOr::T(_) => None,
        };
        paths.push(path.clone());
        if let Some(below) = below.and_then(|reference| reference.ref_location.rsplit('/').next()) {
            walk(schemas, below, &format!("{path}."), paths);
        }
    }
}
