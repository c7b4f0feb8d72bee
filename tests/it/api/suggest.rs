//! `GET /suggest` and the suggestions of the search box: names that complete a text.

use std::collections::{BTreeSet, HashSet};
use std::fs;

use auth::quota::Tier;
use catalog::{Catalog, Suggestion, TextIndexes};
use data::fold::fold;
use data::{Names, Table};
use search::MatchClass;
use serde_json::{Value, json};

use crate::api::fields::keys;
use crate::support::harness::{Server, bundled, catalog_of, code, copy_with_few_reviews, one_of, real_catalog};
use crate::support::html::{Markup, parse};

fn suggest(catalog: &Catalog, text: &str, limit: usize) -> Vec<Suggestion> {
    catalog.suggest(text, &TextIndexes::TABLES, limit)
}

fn name<'c>(catalog: &'c Catalog, suggestion: &Suggestion) -> &'c str {
    catalog.snapshot().name(suggestion.table, suggestion.row)
}

/// Every `step`th name of each kind.
fn some_names(catalog: &Catalog, step: u32) -> Vec<(Table, String)> {
    let rows = |table: Table| (step / 2..catalog.snapshot().rows(table)).step_by(step as usize);
    let of_table = |table: Table| rows(table).map(move |row| (table, catalog.snapshot().name(table, row).to_owned()));
    TextIndexes::TABLES.into_iter().flat_map(of_table).collect()
}

/// Types each name letter by letter: once it is in the list, only names, aliases and initials that equal the text, and the
/// leader put before those, may go before it.
fn assert_typing_on_never_hides(catalog: &Catalog, step: u32) {
    const LIMIT: usize = 10;
    for (table, typed) in some_names(catalog, step) {
        let folded = fold(&typed);
        let mut before = usize::MAX;
        for (end, char) in typed.char_indices() {
            let text = &typed[..end + char.len_utf8()];
            if fold(text).is_empty() || !folded.starts_with(&fold(text)) {
                continue;
            }
            let list = suggest(catalog, text, LIMIT);
            let is_it = |found: &Suggestion| found.table == table && fold(name(catalog, found)) == folded;
            let overtakes =
                |found: &Suggestion| matches!(found.matched_by, MatchClass::Exact | MatchClass::Alias) && !is_it(found);
            let equal = list.iter().filter(|found| overtakes(found)).count();
            let place = list.iter().filter(|found| !overtakes(found)).position(is_it);
            match place {
                Some(place) => assert!(place <= before, "{typed} at {text}: {place} after {before}"),
                None => assert!(before == usize::MAX || before + equal >= LIMIT, "{typed} is gone at {text}: {list:?}"),
            }
            before = before.min(place.unwrap_or(usize::MAX));
        }
    }
}

#[test]
fn a_name_in_the_list_stays_there_while_it_is_typed() {
    assert_typing_on_never_hides(&bundled(), 37 * one_of(4) as u32);
}

#[test]
fn a_name_of_the_real_data_stays_in_the_list_while_it_is_typed() {
    let Some(catalog) = real_catalog() else { return };
    assert_typing_on_never_hides(&catalog, 499 * one_of(10) as u32);
}

/// Checks lists for beginnings of some names against the names themselves.
fn assert_lists_are_sound(catalog: &Catalog, step: u32) {
    for (_, typed) in some_names(catalog, step) {
        for letters in [1, 2, 3, 5, 9] {
            let text: String = typed.chars().take(letters).collect();
            let list = suggest(catalog, &text, 10);
            assert!(list.is_sorted_by(|left, right| left.score >= right.score), "{text}: {list:?}");
            assert!(list.iter().filter(|found| found.table == Table::Sectors).count() <= 2, "{text}: {list:?}");
            let mut shown = HashSet::new();
            for found in &list {
                assert!(
                    shown.insert((found.table, fold(name(catalog, found)), found.note.clone())),
                    "{text}: {list:?}"
                );
                let shown = found.alias.as_deref().unwrap_or_else(|| name(catalog, found));
                match &found.matched {
                    Some(part) => {
                        let part: String = shown.chars().skip(part.start).take(part.len()).collect();
                        let (part, text) = (fold(&part).replace(' ', ""), fold(&text).replace(' ', ""));
                        assert!(part.starts_with(&text) || text.ends_with(&part), "{text}: {part} of {shown}");
                    }
                    // Near, as a search finds it.
                    None => continue,
                }
                let is_equal = fold(shown).replace(' ', "") == fold(&text).replace(' ', "");
                assert_eq!(
                    is_equal,
                    matches!(found.matched_by, MatchClass::Exact | MatchClass::Alias),
                    "{text}: {shown}"
                );
            }
            // Every name that begins with the text and is more prominent than the last of those shown is shown.
            // The letters of a script that leaves vowels out begin names in such a script.
            let lacks_vowels = |text: &str| text.chars().any(|char| ('\u{590}'..='\u{109f}').contains(&char));
            let is_begun = |table: Table, row: u32| {
                let name = catalog.snapshot().name(table, row);
                let may_begin = !fold(&text).is_empty() && (!lacks_vowels(&text) || lacks_vowels(name));
                may_begin && fold(name).starts_with(&fold(&text))
            };
            let prominence = |table: Table, row: u32| catalog.snapshot().names(table).prominence(row);
            let begun =
                list.iter().filter(|found| found.matched_by == MatchClass::Prefix && is_begun(found.table, found.row));
            let last = begun.map(|found| prominence(found.table, found.row));
            let Some(last) = last.min().filter(|_| list.len() == 10) else { continue };
            for table in [Table::Firms, Table::Startups, Table::People] {
                for row in (0..catalog.snapshot().rows(table))
                    .filter(|row| prominence(table, *row) > last && is_begun(table, *row))
                {
                    let is_listed = |found: &Suggestion| {
                        found.table == table && fold(name(catalog, found)) == fold(catalog.snapshot().name(table, row))
                    };
                    assert!(list.iter().any(is_listed), "{text}: {} is missing", catalog.snapshot().name(table, row));
                }
            }
        }
    }
}

#[test]
fn lists_are_ordered_marked_and_without_repetition() {
    assert_lists_are_sound(&bundled(), 41);
}

#[test]
fn lists_of_the_real_data_are_ordered_marked_and_without_repetition() {
    let Some(catalog) = real_catalog() else { return };
    assert_lists_are_sound(&catalog, 2_003 * one_of(4) as u32);
}

#[test]
fn records_of_one_name_have_different_notes_once_it_is_typed() {
    let folder = copy_with_few_reviews("2026-12-01.1");
    let people = folder.path().join("people.csv");
    let mut text = fs::read_to_string(&people).unwrap();
    // Two people at firms, one of them twice.
    for (slug, organization) in [("qa", "alder-capital"), ("qb", "alder-capital-partners"), ("qc", "alder-capital")] {
        text += &format!("{slug},Quilla Verdane,Partner,firm,{organization},\n");
    }
    fs::write(&people, text).unwrap();
    let catalog = catalog_of(folder.path());
    let found = |text: &str| catalog.suggest(text, &TextIndexes::TABLES, 10);
    let mut notes: Vec<Option<String>> = found("quilla  VERDANE").into_iter().map(|found| found.note).collect();
    let prominence = |slug: &str| {
        let row = catalog.find(Table::Firms, slug).unwrap();
        catalog.snapshot().names(Table::Firms).prominence(row)
    };
    if prominence("alder-capital") < prominence("alder-capital-partners") {
        notes.reverse();
    }
    assert_eq!(notes, ["Partner, Alder Capital", "Partner, Alder Capital Partners"].map(|note| Some(note.to_owned())));
    let begun = found("quill").into_iter().filter(|found| name(&catalog, found) == "Quilla Verdane").count();
    assert_eq!(begun, 1, "{:?}", found("quill"));
}

#[test]
fn suggestions_say_how_and_where_they_match() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let first = |text: &str| client.list("/api/v3/suggest", &[("q", text)]).json()["data"][0].clone();
    let row = first("alder c");
    assert_eq!((&row["name"], &row["match"]), (&json!("Alder Capital"), &json!("prefix")), "{row}");
    assert_eq!((&row["matched"], &row["alias"]), (&json!({ "start": 0, "end": 7 }), &Value::Null), "{row}");
    assert!(row["note"].as_str().is_some_and(|note| note.ends_with(" rounds")), "{row}");
    assert_eq!(first("ALDER capital")["match"], "exact");
    let row = first("aldr capitol");
    assert_eq!((&row["slug"], &row["match"], &row["matched"]), (&json!("alder-capital"), &json!("typo"), &Value::Null));
    let firms = client.get("/api/v3/vcs?known=aliases&limit=1&fields=name,aliases").json()["data"].clone();
    if let Some(alias) = firms[0]["aliases"][0].as_str() {
        let row = first(alias);
        assert_eq!((&row["name"], &row["match"], &row["alias"]), (&firms[0]["name"], &json!("alias"), &json!(alias)));
    }
    assert_eq!(client.list("/api/v3/suggest", &[("q", "zzxqwyzz")]).json()["data"], json!([]));
}

#[test]
fn kinds_of_suggestions_can_be_chosen() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let kinds = |kind: &str| -> BTreeSet<String> {
        let reply = client.list("/api/v3/suggest", &[("q", "a"), ("kind", kind), ("limit", "100")]);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let rows = reply.json()["data"].as_array().unwrap().clone();
        rows.iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect()
    };
    let set = |kinds: &[&str]| -> BTreeSet<String> { kinds.iter().map(|kind| (*kind).to_owned()).collect() };
    assert_eq!(kinds("vc"), set(&["firm"]));
    assert_eq!(kinds("Firm"), set(&["firm"]));
    assert_eq!(kinds("person, startup"), set(&["person", "startup"]));
    assert_eq!(kinds("sector"), set(&["sector"]));
    assert_eq!(kinds("vc,startup,person,sector"), set(&["firm", "person", "sector", "startup"]));
    let sectors = client.list("/api/v3/suggest", &[("q", "a"), ("kind", "sector")]).json()["data"].clone();
    assert!(sectors.as_array().unwrap().len() > 2, "{sectors}");
    for (wrong, nearest) in [("startupp", "startup"), ("vc,peson", "person"), ("sectors", "sector")] {
        let reply = client.list("/api/v3/suggest", &[("q", "a"), ("kind", wrong)]);
        let error = reply.json()["errors"][0].clone();
        assert_eq!((reply.status, &error["did_you_mean"]), (400, &json!(nearest)), "{}", reply.text);
        assert_eq!(error["accepted"], json!(["vc", "firm", "startup", "person", "sector"]));
    }
    let etag = |query: &str| client.get(&format!("/api/v3/suggest?q=al{query}")).header("etag").to_owned();
    assert_eq!(etag("&kind=vc,person"), etag("&kind=Person,%20firm"));
    assert_eq!(etag(""), etag("&kind=sector,person,startup,vc"));
    assert_ne!(etag(""), etag("&kind=vc"));
    assert_eq!(code(&client.get("/api/v3/suggest?kind=vc")), (400, "invalid_parameter".into()));
}

#[test]
fn the_search_box_has_notes_and_marks() {
    let server = Server::bundled();
    let visitor = server.anonymous();
    let names = visitor.get("/suggest?q=alder").json()["names"].clone();
    assert!((2..=8).contains(&names.as_array().unwrap().len()), "{names}");
    for row in names.as_array().unwrap() {
        assert!(visitor.get(row["href"].as_str().unwrap()).status == 200, "{row}");
        assert!(row["note"].is_string(), "{row}");
        let shown = row["alias"].as_str().or(row["name"].as_str()).unwrap();
        assert_eq!(row["matched"] == json!([0, 5]), fold(shown).starts_with("alder"), "{row}");
    }
    assert_eq!(visitor.get("/suggest?q=zzxqwyzz").json()["names"], json!([]));
    // The list says so itself.
    let home = parse(&visitor.get("/").text);
    let script = home.values("script", "src").into_iter().find(|path| path.contains("page"));
    assert!(visitor.get(script.expect("the page has a script")).text.contains("Nothing found"));
}

#[test]
fn names_of_all_record_types_are_suggested() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let reply = client.list("/api/v3/suggest", &[("q", "alder cap")]);
    assert_eq!(reply.status, 200, "{}", reply.text);
    let json = reply.json();
    assert_eq!(json["data"][0]["name"], "Alder Capital");
    assert_eq!(keys(&json["data"][0]), ["alias", "kind", "match", "matched", "name", "note", "score", "slug"]);
    let few = client.list("/api/v3/suggest", &[("q", "an"), ("limit", "30"), ("fields", "kind,name")]).json();
    let rows = few["data"].as_array().unwrap();
    assert_eq!(keys(&rows[0]), ["kind", "name"]);
    let kinds: std::collections::BTreeSet<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert!(kinds.len() >= 2, "{kinds:?}");
    assert_eq!(code(&client.get("/api/v3/suggest")), (400, "invalid_parameter".into()));
    assert_eq!(code(&client.get("/api/v1/suggest?q=a")), (404, "unknown_route".into()));
}
