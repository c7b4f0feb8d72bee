//! Vocabularies as named schemas; generators create one type for each.

use serde_json::Value;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::openapi::schema::Schemas;
use crate::{Route, Version};
use auth::quota::Tier;
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
            let (fields, _) = (route.endpoint.fields)(&route.endpoint);
            let mut names = fields.paths();
            names.push("*".to_owned());
            let doc = format!("A field of `{item}`, or `*` for all.");
            schemas.insert(field_name(item), vocabulary_with_names(&doc, &names));
        }
        for resource in Resource::ALL.iter().copied() {
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
    // v1 and v2 accept any text in parameters, with a warning, so that their documents refer to fewer.
    for (name, _, doc, words) in of_responses().filter(|(_, since, ..)| *since <= version) {
        schemas.insert(name.to_owned(), open_vocabulary(doc, &words));
        if version == Version::V3 && OF_BOTH.contains(&name) {
            schemas.insert(accepted_name(name), vocabulary(doc, &words));
        }
    }
    if version == Version::V3 {
        for (name, doc, words) in of_requests() {
            schemas.insert(name.to_owned(), vocabulary(doc, &words));
        }
    }
}

/// The name of the member that lists the known values of an open vocabulary (Zalando's guidelines, rule 112).
pub(crate) const EXTENSIBLE: &str = "x-extensible-enum";

/// The schema of a value in responses, out of `words` today. With a closed `enum`, generated clients would reject
/// responses as soon as a value is added.
pub(crate) fn open_vocabulary(doc: &str, words: &[impl AsRef<str>]) -> RefOr<Schema> {
    let words: Vec<Value> = words.iter().map(|word| Value::from(word.as_ref())).collect();
    let doc = format!("{doc} More values may be added.");
    let open = ObjectBuilder::new().schema_type(Type::String).description(Some(doc));
    open.extensions(Some([(EXTENSIBLE.to_owned(), Value::from(words))].into_iter().collect())).into()
}

/// The name of the schema of the values that parameters accept, if responses have them, too.
pub(crate) fn accepted_name(name: &str) -> String {
    format!("{name}Filter")
}

/// The schema of a value in requests, out of `words`.
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

/// Name, version of the first document that refers to it, and description.
const OF_RECORDS: [(&str, Version, &str); 13] = [
    ("Country", Version::V1, "A country, ISO 3166-1 alpha-2."),
    ("Stage", Version::V1, "A funding stage."),
    ("FirmKind", Version::V1, "A kind of investor."),
    ("StartupStatus", Version::V3, "The status of a startup."),
    ("OrganizationKind", Version::V3, "The type of organization that a person works at."),
    ("CountrySource", Version::V3, "Whose country a person's country is."),
    (
        "ReviewStatus",
        Version::V1,
        "The status of a review. Of a pending one nothing that it says is returned; rejected reviews are never returned.",
    ),
    ("ReviewerRole", Version::V1, "What the author of a review is in their company."),
    (
        "ReviewProof",
        Version::V1,
        "What shows that the author of a review had to do with the firm: `email` is an address at the domain of a startup in \
         the data, `confirmed` a round or a pitch that the operator saw confirmed.",
    ),
    ("HoldReason", Version::V1, "Why an approved review does not count until a person has looked at it."),
    ("ScoreStatus", Version::V1, "Whether there are enough reviews to publish a score."),
    ("ScoreComponentName", Version::V1, "A component of the peer score."),
    (
        "IdentifierStrength",
        Version::V1,
        "What a shared identifier says: `strong` is one entity, `medium` usually one, `weak` nothing by itself.",
    ),
];

/// Vocabularies of records that parameters accept.
const OF_BOTH: [&str; 6] = ["Country", "Stage", "FirmKind", "StartupStatus", "OrganizationKind", "ReviewStatus"];

fn of_responses() -> impl Iterator<Item = (&'static str, Version, &'static str, Vec<&'static str>)> {
    let others = [
        (
            "MatchClass",
            Version::V3,
            "How a name matches a search, the surest first; `relaxed` is not sure.",
            MatchClass::names(),
        ),
        ("Tier", Version::V1, "The tier of an account.", Tier::ALL.map(Tier::name).to_vec()),
        ("RecordKind", Version::V3, "A type of record.", TextIndexes::TABLES.map(Table::noun).to_vec()),
        ("FitReasonName", Version::V3, "A criterion of the match.", MatchReason::names()),
        ("SimilarityReasonName", Version::V3, "What two records have in common.", Common::names()),
    ];
    let of_records =
        OF_RECORDS.map(|(name, since, doc)| (name, since, doc, values_of(name).expect("fields have the vocabulary")));
    of_records.into_iter().chain(others)
}

fn of_requests() -> [(&'static str, &'static str, Vec<&'static str>); 2] {
    [
        ("Role", "What a person does, by the words of the title.", Role::names()),
        ("Metric", "A metric that firms are ranked by.", Metric::names()),
    ]
}

/// The name of the schema of these values in requests.
pub(crate) fn vocabulary_of(words: &[&str]) -> Option<String> {
    let own = of_requests().into_iter().find(|(.., known)| known == words).map(|(name, ..)| name.to_owned());
    own.or_else(|| of_responses().find(|(.., known)| known == words).map(|(name, ..)| accepted_name(name)))
}

pub(crate) fn field_name(item: &str) -> String {
    format!("{item}Field")
}
