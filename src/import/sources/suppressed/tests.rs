use std::fs;

use super::*;
use crate::sources::{Extent, NewStatement, Update};

fn entity(text: &str) -> EntityId {
    text.parse().unwrap()
}

/// Creates a folder with a source of these entities.
fn source(id: &str, entities: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = Source {
        id: id.to_owned(),
        title: id.to_owned(),
        license: "CC0-1.0".to_owned(),
        url: String::new(),
        priority: 50,
        imported_on: "2026-01-01".parse().unwrap(),
        imports: 0,
        last_complete: 0,
    };
    let mut update = Update::begin(folder.path(), source, Extent::Complete).unwrap();
    for entity in entities {
        update.add(NewStatement { entity, field: "name", value: "N", original: "", source_key: "k" }).unwrap();
    }
    update.finish(false).unwrap();
    folder
}

#[test]
fn lines_name_entities_by_key_or_by_the_digest_of_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let people = [("crm".to_owned(), entity("person:ann|alder")), ("crm".to_owned(), entity("firm:7"))];
    let suppressed = Suppressed::read(folder.path()).unwrap();
    assert!(suppressed.is_empty() && !suppressed.covers("crm", &people[0].1));
    let on = "2026-11-27".parse().unwrap();
    assert_eq!(suppressed.add(folder.path(), &people, on, "request 12").unwrap(), 2);
    let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
    assert!(text.contains("crm/firm:7,2026-11-27,request 12\n") && !text.contains("ann"), "{text}");
    let suppressed = Suppressed::read(folder.path()).unwrap();
    assert!(people.iter().all(|(source, entity)| suppressed.names(source, entity)));
    assert!(!suppressed.names("crm", &entity("person:ann")) && !suppressed.names("other", &people[0].1));
    assert_eq!(suppressed.add(folder.path(), &people, on, "").unwrap(), 0, "they are known");
    // Columns may be missing or reordered, and digests may have capital letters.
    fs::write(
        folder.path().join(FILE),
        format!(
            "why,entity\n,{}\n",
            text.lines()
                .nth(1)
                .unwrap()
                .split(',')
                .next()
                .unwrap()
                .replace("sha256:", "SHA256:")
                .to_uppercase()
                .replace("CRM/PERSON:SHA256", "crm/person:sha256")
        ),
    )
    .unwrap();
    assert!(Suppressed::read(folder.path()).unwrap().names("crm", &people[0].1));
}

#[test]
fn the_cluster_of_a_named_entity_is_covered() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), "entity\na/person:1\n").unwrap();
    let mut clusters = Clusters::default();
    for (source, key, cluster) in [("a", "person:1", 3), ("b", "person:x", 3), ("b", "person:y", 4)] {
        clusters.add(source, entity(key), cluster);
    }
    let suppressed = Suppressed::read(folder.path()).unwrap().with_clusters(&clusters);
    let covers = |source, key| suppressed.covers(source, &entity(key));
    assert!(covers("a", "person:1") && covers("b", "person:x"));
    assert!(!covers("b", "person:y") && !covers("c", "person:1"));
}

#[test]
fn wrong_lines_are_errors_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    for (line, problem) in [
        ("ann-quill", "suppressed.csv:2: entity: \"ann-quill\" is not an entity of a source; write it as"),
        ("ann-quill", "`indexer suppress KIND SLUG --sources DIR` writes the entities of a record"),
        ("crm/sector:x", "kind (firm, startup, round, person) and key"),
        ("crm/person:", "is not an entity of a source"),
        ("\"\"", "suppressed.csv:2: entity: is empty"),
        ("crm/person:1,26 November", "suppressed.csv:2: on: \"26 November\""),
    ] {
        let line = if line.contains(',') { line.to_owned() } else { format!("{line},") };
        fs::write(folder.path().join(FILE), format!("entity,on\n{line}\n")).unwrap();
        let error = Suppressed::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(problem), "{line}: {error}");
    }
}

#[test]
fn a_line_of_nothing_is_reported_with_the_nearest_entity_and_stays_valid() {
    let folder = source("our-list", &["firm:alder-capital", "person:ann|alder", "person:ben|alder"]);
    let lines = "entity\nour-list/person:ann|alder\nour-list/firm:alder-capitol\nour-lst/person:ben|alder\n\
                 our-list/person:zyx\n";
    fs::write(folder.path().join(FILE), lines).unwrap();
    let sources = Source::list(folder.path()).unwrap();
    let messages = Suppressed::read(folder.path()).unwrap().find_unknown(folder.path(), &sources).unwrap();
    let messages: Vec<&str> =
        messages.iter().map(|message| message.rsplit_once("suppressed.csv:").unwrap().1).collect();
    let expected = [
        "3: entity: no source has \"our-list/firm:alder-capitol\"; did you mean `our-list/firm:alder-capital`?",
        "4: entity: no source has \"our-lst/person:ben|alder\"; did you mean `our-list/person:ben|alder`?",
        "5: entity: no source has \"our-list/person:zyx\"",
    ];
    assert_eq!(messages, expected);
}
