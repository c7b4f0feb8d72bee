use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn source(on: &str) -> Source {
    Source {
        id: "our-list".to_owned(),
        title: "Our \"list\"".to_owned(),
        license: "CC0-1.0".to_owned(),
        url: String::new(),
        priority: 50,
        imported_on: on.parse().unwrap(),
        imports: 0,
        last_complete: 0,
    }
}

type StatementText<'a> = (&'a str, &'a str, &'a str);

fn update(folder: &Path, on: &str, extent: Extent, statements: &[StatementText<'_>]) -> Update {
    let mut update = Update::begin(folder, source(on), extent).unwrap();
    for (entity, field, value) in statements {
        update.add(NewStatement { entity, field, value, original: "", source_key: "k" }).unwrap();
    }
    update
}

/// Runs a complete import.
fn import(folder: &Path, on: &str, statements: &[StatementText<'_>]) -> StatementChanges {
    update(folder, on, Extent::Complete, statements).finish(true).unwrap()
}

fn all(folder: &Path) -> Vec<Statement> {
    Source::list(folder).unwrap()[0].statements(folder).unwrap().map(Result::unwrap).collect()
}

fn kept(folder: &Path) -> Vec<String> {
    let kept = all(folder).into_iter().map(|statement| {
        let Statement { entity, field, value, first_seen, last_seen, last_import, .. } = statement;
        format!("{entity} {field} {value} {first_seen} {last_seen} {last_import}")
    });
    kept.collect()
}

/// Current statements as entity, field and value.
fn current(folder: &Path) -> BTreeSet<String> {
    let current = all(folder).into_iter().filter(|statement| statement.standing == Standing::Current);
    current.map(|Statement { entity, field, value, .. }| format!("{entity} {field} {value}")).collect()
}

#[test]
fn a_second_import_keeps_what_was_first_seen_and_what_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let first = [("firm:a", "city", "Oslo"), ("firm:a", "name", "A, \"B\"\nC"), ("startup:z", "name", "Z")];
    assert_eq!(import(path, "2026-01-01", &first), StatementChanges { new: 3, ..StatementChanges::default() });
    let second = [("firm:a", "city", "Rome"), ("firm:a", "name", "A, \"B\"\nC"), ("firm:b", "name", "B")];
    let changes = import(path, "2026-02-01", &second);
    assert_eq!(changes, StatementChanges { new: 2, known: 1, gone: 2, gone_records: 1 });
    let expected = [
        "firm:a city Oslo 2026-01-01 2026-01-01 1",
        "firm:a city Rome 2026-02-01 2026-02-01 2",
        "firm:a name A, \"B\"\nC 2026-01-01 2026-02-01 2",
        "firm:b name B 2026-02-01 2026-02-01 2",
        "startup:z name Z 2026-01-01 2026-01-01 1",
    ];
    assert_eq!(kept(path), expected);
    let imported = |on, imports| Source { imports, last_complete: imports, ..source(on) };
    assert_eq!(Source::list(path).unwrap(), [imported("2026-02-01", 2)]);
    // Statements that are gone are not counted as gone again.
    assert_eq!(import(path, "2026-02-01", &second), StatementChanges { known: 3, ..StatementChanges::default() });
    // An import of an older state also decides, and keeps later days of `last_seen`.
    let older = update(path, "2025-12-01", Extent::Complete, &first);
    assert_eq!(older.later_day(), Some("2026-02-01".parse().unwrap()));
    older.finish(true).unwrap();
    assert_eq!(Source::list(path).unwrap(), [imported("2026-02-01", 4)]);
    assert_eq!(kept(path)[2], "firm:a name A, \"B\"\nC 2025-12-01 2026-02-01 4");
    let expected = ["firm:a city Oslo", "firm:a name A, \"B\"\nC", "startup:z name Z"];
    assert_eq!(current(path), expected.map(str::to_owned).into());
}

#[test]
fn a_correction_on_the_same_day_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(path, "2026-01-01", &[("firm:a", "aliases", "WRONG"), ("firm:a", "city", "Rome"), ("firm:a", "name", "A")]);
    let corrected = [("firm:a", "city", "Oslo"), ("firm:a", "name", "A")];
    assert_eq!(import(path, "2026-01-01", &corrected), StatementChanges { new: 1, known: 1, gone: 2, gone_records: 0 });
    assert_eq!(current(path), ["firm:a city Oslo", "firm:a name A"].map(str::to_owned).into());
}

#[test]
fn a_value_that_comes_back_counts_again_and_was_first_seen_when_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (on, city) in [("2026-01-01", "Oslo"), ("2026-02-01", "Rome"), ("2026-03-01", "Oslo")] {
        import(path, on, &[("firm:a", "city", city), ("firm:a", "name", "A")]);
    }
    assert_eq!(current(path), ["firm:a city Oslo", "firm:a name A"].map(str::to_owned).into());
    assert_eq!(kept(path)[0], "firm:a city Oslo 2026-01-01 2026-03-01 3");
}

#[test]
fn a_complete_import_that_lacks_more_than_a_fifth_of_a_kind_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let names: Vec<String> = (0..10).map(|number| format!("firm:{number}")).collect();
    let statements = |firms: usize, people: usize, sectors: usize| -> Vec<StatementText<'_>> {
        let firms = names.iter().take(firms).map(|name| (&**name, "name", "N"));
        let people = ["person:1", "person:2"].into_iter().take(people).map(|name| (name, "name", "P"));
        let sectors = ["sector:1", "sector:2", "sector:3"].into_iter().take(sectors).map(|name| (name, "name", "S"));
        firms.chain(people).chain(sectors).collect()
    };
    let complete =
        |statements: &[StatementText<'_>]| update(path, "2026-01-02", Extent::Complete, statements).finish(false);
    complete(&statements(10, 2, 3)).unwrap();
    let before = kept(path);
    let refused = complete(&statements(7, 2, 3)).unwrap_err().to_string();
    let message = "our-list: the import lacks more than a fifth of what the source had (3 of 10 of kind firm), and";
    assert!(refused.starts_with(message), "{refused}");
    let refused = complete(&statements(10, 0, 3)).unwrap_err().to_string();
    assert!(refused.contains("(2 of 2 of kind person)"), "{refused}");
    assert_eq!((kept(path), Source::list(path).unwrap()[0].imports), (before, 1));
    // An increment has new data only.
    update(path, "2026-01-02", Extent::Increment, &statements(1, 0, 0)).finish(false).unwrap();
    // A fifth may go, one record of a small list, and the sectors of lost records.
    assert_eq!(complete(&statements(8, 1, 0)).unwrap().gone_records, 3);
    assert_eq!(current(path).len(), 9);
    assert_eq!(import(path, "2026-01-03", &statements(2, 0, 0)).gone_records, 7);
}

#[test]
fn an_import_that_was_interrupted_is_no_part_of_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(path, "2026-01-01", &[("firm:a", "name", "A"), ("firm:b", "name", "B")]);
    let source = Source::list(path).unwrap().remove(0);
    import(path, "2026-01-02", &[("firm:a", "name", "A"), ("firm:c", "name", "C")]);
    // Its statements are on disk and its number is used up.
    Source { imports: 2, ..source }.write(&path.join("our-list")).unwrap();
    import(path, "2026-01-03", &[("firm:a", "name", "A"), ("firm:b", "name", "B")]);
    assert_eq!(current(path), ["firm:a name A", "firm:b name B"].map(str::to_owned).into());
}

#[test]
fn a_source_of_an_earlier_version_is_imported_again() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("our-list");
    fs::create_dir(&old).unwrap();
    let about =
        "id = \"our-list\"\ntitle = \"T\"\nlicense = \"CC0-1.0\"\npriority = 50\nimported_on = \"2026-02-01\"\n";
    fs::write(old.join("source.toml"), about).unwrap();
    let statements = "entity,field,value,original,source_key,first_seen,last_seen\n\
                      firm:a,aliases,Dropped,,k,2026-01-01,2026-01-01\nfirm:a,city,Rome,,k,2026-01-01,2026-02-01\n\
                      firm:a,name,A,,k,2026-01-01,2026-02-01\nfirm:b,name,B,,k,2026-01-01,2026-01-01\n";
    fs::write(old.join("statements.csv"), statements).unwrap();
    let changes = update(folder.path(), "2026-02-01", Extent::Increment, &[("firm:a", "city", "Oslo")]).finish(false);
    assert_eq!(changes.unwrap(), StatementChanges { new: 1, known: 0, gone: 1, gone_records: 0 });
    let expected = ["firm:a city Oslo", "firm:a name A", "firm:b name B"].map(str::to_owned);
    assert_eq!(current(folder.path()), expected.into());
    assert_eq!(import(folder.path(), "2026-02-01", &[("firm:b", "name", "B")]).gone_records, 1);
    assert_eq!(current(folder.path()), ["firm:b name B".to_owned()].into());
}

#[test]
fn statements_out_of_order_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut update = Update::begin(folder.path(), source("2026-01-01"), Extent::Complete).unwrap();
    let statement = |entity| NewStatement { entity, field: "name", value: "A", original: "", source_key: "" };
    update.add(statement("firm:b")).unwrap();
    update.add(statement("firm:b")).unwrap();
    assert!(update.add(statement("firm:a")).is_err());
    drop(update);
    assert_eq!(Source::list(folder.path()).unwrap(), [], "an import that did not finish leaves no source");
}

#[test]
fn a_damaged_file_is_reported_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), "2026-01-01", &[("firm:a", "city", "Oslo"), ("firm:a", "name", "A")]);
    let path = folder.path().join("our-list/statements.csv");
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, problem) in [
        ("firm:a,name", "fund:a,name", "statements.csv:3: entity: \"fund:a\" is not an entity"),
        ("firm:a,name", "firm:a,area", "statements.csv:3: is not after the line before"),
        ("A,,k,2026", "A,,k,26", "statements.csv:3: first_seen: \"26-01-01\" is not a date"),
        (
            "A,,k,2026-01-01,2026-01-01,1",
            "A,,k,2026-01-01,2026-01-01,",
            "statements.csv:3: last_import: \"\" is not the number",
        ),
        ("entity,", "entities,", "statements.csv:1: the header is not"),
    ] {
        fs::write(&path, good.replace(from, to)).unwrap();
        let sources = Source::list(folder.path()).unwrap();
        let result = sources[0].statements(folder.path()).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let error = result.unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    fs::write(folder.path().join("our-list/source.toml"), "id = \"x\"\nprio = 1\n").unwrap();
    let error = Source::list(folder.path()).unwrap_err().to_string();
    assert!(error.contains("source.toml:2: unknown field `prio`"), "{error}");
}

#[test]
fn lines_are_added_to_a_file_that_people_edit() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list.csv");
    append(&file, "a,b", &[["1", "x, y"]]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "a,b\n1,\"x, y\"\n");
    // The last line has no line break, and a spreadsheet wrote the header.
    fs::write(&file, "\u{feff}a,b\r\n1,2").unwrap();
    append(&file, "a,b", &[["3", "4"]]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "\u{feff}a,b\r\n1,2\n3,4\n");
    fs::write(&file, "b,a\n2,1\n").unwrap();
    let error = append(&file, "a,b", &[["3", "4"]]).unwrap_err().to_string();
    assert!(error.contains("list.csv:1: the header is \"b,a\"; write it as `a,b`"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "b,a\n2,1\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Imports in any order of days, compared with a model of the current statements.
    #[test]
    fn what_counts_is_what_a_list_that_is_replaced_or_amended_has(
        imports in proptest::collection::vec(
            (any::<bool>(), 1..9_u8, proptest::collection::btree_set((0..3_usize, 0..3_usize, 0..3_usize), 1..9)),
            1..7,
        ),
    ) {
        const ENTITIES: [&str; 3] = ["firm:a", "firm:b", "person:a"];
        const FIELDS: [&str; 3] = ["aliases", "city", "name"];
        let folder = tempfile::tempdir().unwrap();
        let mut model: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for (is_complete, day, statements) in &imports {
            let statements: Vec<StatementText<'_>> = statements
                .iter()
                .map(|(entity, field, value)| (ENTITIES[*entity], FIELDS[*field], ["1", "2", "3"][*value]))
                .collect();
            let records = |model: &BTreeMap<(&str, &str), BTreeSet<&str>>| -> BTreeSet<String> {
                model.keys().map(|(entity, _)| (*entity).to_owned()).collect()
            };
            let before = records(&model);
            match is_complete {
                true => model.clear(),
                false => statements.iter().for_each(|(entity, field, _)| drop(model.remove(&(*entity, *field)))),
            }
            for (entity, field, value) in &statements {
                model.entry((*entity, *field)).or_default().insert(value);
            }
            let extent = if *is_complete { Extent::Complete } else { Extent::Increment };
            let changes = update(folder.path(), &format!("2026-01-0{day}"), extent, &statements).finish(true).unwrap();
            let expected: BTreeSet<String> = model
                .iter()
                .flat_map(|((entity, field), values)| values.iter().map(move |value| format!("{entity} {field} {value}")))
                .collect();
            prop_assert_eq!(current(folder.path()), expected);
            prop_assert_eq!(changes.gone_records, before.difference(&records(&model)).count() as u64);
            prop_assert_eq!(changes.new + changes.known, statements.len() as u64);
        }
    }
}
