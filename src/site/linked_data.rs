//! JSON-LD in pages (schema.org): the record, and the breadcrumbs of its page.
//!
//! It is data, not a script that runs, so the content security policy needs no exception.

use serde_json::{Map, Value, json};

use catalog::Catalog;
use data::model::{Firm, Identifier, Person, Startup};
use service::bulk;

/// The record of the page at `path`, without unknown members, and breadcrumbs below `list`, a path and a name.
pub(crate) fn graph(base: &str, list: (&str, String), path: &str, mut record: Value, is_invented: bool) -> String {
    let (list_path, list_name) = list;
    let crumb = |position: u32, name: &Value, path: &str| json!({ "@type": "ListItem", "position": position, "name": name, "item": format!("{base}{path}") });
    let crumbs = json!({
        "@type": "BreadcrumbList",
        "itemListElement": [crumb(1, &json!(list_name), list_path), crumb(2, &record["name"], path)],
    });
    record["@id"] = json!(format!("{base}{path}"));
    record["url"] = record["@id"].clone();
    record["disambiguatingDescription"] = json!(invented(is_invented));
    script_text(vec![without_unknown(record), crumbs])
}

pub(crate) fn firm(firm: &Firm) -> Value {
    let rating = firm.ratings.overall.map(|overall| {
        json!({
            "@type": "AggregateRating", "ratingValue": overall, "bestRating": 5, "worstRating": 1,
            "ratingCount": firm.review_count,
        })
    });
    json!({
        "@type": "Organization",
        "name": firm.name,
        "alternateName": firm.aliases,
        "description": firm.description,
        "foundingDate": firm.founded_year.map(|year| year.to_string()),
        "address": address(&firm.city, &firm.country),
        "sameAs": same_as(&firm.website, &firm.identifiers),
        "aggregateRating": rating,
    })
}

pub(crate) fn startup(startup: &Startup) -> Value {
    json!({
        "@type": "Organization",
        "name": startup.name,
        "alternateName": startup.aliases,
        "description": startup.description,
        "foundingDate": startup.founded_year.map(|year| year.to_string()),
        "address": address(&startup.city, &startup.country),
        "sameAs": same_as(&startup.website, &startup.identifiers),
    })
}

/// `organization` is the path of the person's organization.
pub(crate) fn person(person: &Person, base: &str, organization: &str) -> Value {
    json!({
        "@type": "Person",
        "name": person.name,
        "jobTitle": person.title,
        "worksFor": {
            "@type": "Organization", "name": person.organization.name, "url": format!("{base}{organization}"),
        },
        "sameAs": same_as(&None, &person.identifiers),
    })
}

/// The dataset of a release, with its bulk files if `has_files`.
pub(crate) fn dataset(catalog: &Catalog, base: &str, publisher: &str, has_files: bool) -> String {
    let snapshot = catalog.snapshot();
    let files = catalog.bulk_files().iter().filter(|_| has_files).map(|file| {
        json!({
            "@type": "DataDownload", "name": file.name, "sha256": file.checksum(),
            "contentUrl": format!("{base}{}", bulk::path_of(catalog.version(), file)),
        })
    });
    script_text(vec![without_unknown(json!({
        "@type": "Dataset",
        "@id": format!("{base}/data"),
        "url": format!("{base}/data"),
        "name": snapshot.title(),
        "description": "Venture capital firms, startups, funding rounds, people and reviews, as a versioned snapshot.",
        "disambiguatingDescription": invented(snapshot.is_invented()),
        "version": snapshot.version(),
        "datePublished": snapshot.released_on(),
        "license": Some(snapshot.license()).filter(|license| !license.is_empty()),
        "publisher": { "@type": "Organization", "name": publisher, "url": base },
        "distribution": files.collect::<Vec<_>>(),
    }))])
}

fn invented(is_invented: bool) -> Option<&'static str> {
    is_invented.then_some("Invented data: not real.")
}

fn address(city: &Option<String>, country: &Option<String>) -> Option<Value> {
    let is_known = city.is_some() || country.is_some();
    is_known.then(|| {
        without_unknown(json!({ "@type": "PostalAddress", "addressLocality": city, "addressCountry": country }))
    })
}

fn same_as<'a>(website: &'a Option<String>, identifiers: &'a [Identifier]) -> Vec<&'a String> {
    website.iter().chain(identifiers.iter().filter_map(|identifier| identifier.url.as_ref())).collect()
}

/// An object without unknown or empty members.
fn without_unknown(object: Value) -> Value {
    let Value::Object(members) = object else { return object };
    let is_known = |value: &Value| !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty());
    Value::Object(members.into_iter().filter(|(_, value)| is_known(value)).collect::<Map<_, _>>())
}

/// The content of a script element. `<` is escaped, so that no text can end the element.
fn script_text(graph: Vec<Value>) -> String {
    json!({ "@context": "https://schema.org", "@graph": graph }).to_string().replace('<', "\\u003c")
}
