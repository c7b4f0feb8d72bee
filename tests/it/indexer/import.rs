//! `indexer import`: for each preset a folder of files as their publisher has them (of invented companies and people), and the
//! dataset and the statements that they become, byte for byte. `VENTUREDEX_BLESS=1` writes those.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use data::NoProgress;
use import::sources::presets::PRESETS;
use import::sources::view::{self, Clusters, Detail, Licensed};
use import::sources::{Source, Suppressed};
use tempfile::TempDir;

use crate::commands::doctor::copy_folder;
use crate::support::harness::one_of;

const ON: &str = "2026-11-20";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import")
}

fn presets() -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The files of a folder by name, with their content.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    entries
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn indexer<S: AsRef<OsStr>>(arguments: &[S]) -> Ran {
    let ran = Command::new(env!("CARGO_BIN_EXE_indexer")).args(arguments).output().unwrap();
    Ran {
        code: ran.status.code().unwrap(),
        out: String::from_utf8(ran.stdout).unwrap(),
        err: String::from_utf8(ran.stderr).unwrap(),
    }
}

fn import(preset: &str, destination: &str, to: &Path) -> Ran {
    let input = fixtures().join(preset).join("input");
    let ran = indexer(&[
        OsStr::new("import"),
        preset.as_ref(),
        input.as_ref(),
        destination.as_ref(),
        to.as_ref(),
        "--on".as_ref(),
        ON.as_ref(),
    ]);
    assert_eq!(ran.code, 0, "{preset}: {}{}", ran.out, ran.err);
    ran
}

/// Imports presets into one folder of sources.
fn sources_of(presets: &[String]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for preset in presets {
        import(preset, "--sources", folder.path());
    }
    folder
}

/// The files of the dataset that sources make.
fn view(folder: &Path, licenses: &[String]) -> BTreeMap<String, String> {
    let sources = Source::list(folder).unwrap();
    view::check_licenses(&sources, licenses).unwrap();
    let detail =
        if licenses.is_empty() { Detail::Provenance } else { Detail::Licensed(Licensed { licenses, served: None }) };
    let to = tempfile::tempdir().unwrap();
    let (clusters, suppressed) = (Clusters::default(), Suppressed::default());
    view::write(folder, &sources, &clusters, &suppressed, to.path(), detail, &NoProgress).unwrap();
    files(to.path())
}

fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn every_preset_makes_its_golden_dataset() {
    let is_blessed = std::env::var_os("VENTUREDEX_BLESS").is_some();
    let mut wrong = Vec::new();
    for preset in presets() {
        let golden = fixtures().join(&preset);
        let to = tempfile::tempdir().unwrap();
        import(&preset, "--dataset", to.path());
        let mut dataset = files(to.path());
        // Into the same folder once more: the same bytes.
        import(&preset, "--dataset", to.path());
        assert_eq!(files(to.path()), dataset, "{preset}");
        // The list of the files, with their checksums.
        assert!(dataset.remove("imported.txt").is_some(), "{preset}");
        let sources = sources_of(std::slice::from_ref(&preset));
        let source = fs::read_dir(sources.path()).unwrap().next().unwrap().unwrap().path();
        for (name, found) in [("dataset", dataset), ("source", files(&source))] {
            let folder = golden.join(name);
            if is_blessed {
                let _ = fs::remove_dir_all(&folder);
                fs::create_dir_all(&folder).unwrap();
                found.iter().for_each(|(file, text)| fs::write(folder.join(file), text).unwrap());
            }
            let expected = if folder.exists() { files(&folder) } else { BTreeMap::new() };
            let all: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
            wrong.extend(all.into_iter().filter(|file| expected.get(*file) != found.get(*file)).map(|file| {
                format!("{preset}/{name}/{file}: expected\n{:?}\nfound\n{:?}", expected.get(file), found.get(file))
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(presets().len() >= 10);
}

#[test]
fn every_preset_has_a_fixture() {
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    assert_eq!(presets(), names);
}

#[test]
fn no_private_data_is_imported() {
    for preset in presets() {
        for folder in ["dataset", "source"] {
            for (file, text) in files(&fixtures().join(&preset).join(folder)) {
                let text = text.to_lowercase();
                for private in ["private", "555-0100", "555 0100", "hello@", "deals@", "somewhere"] {
                    assert!(!text.contains(private), "{preset}/{folder}/{file} contains {private}");
                }
            }
        }
    }
}

#[test]
fn every_value_names_its_source_and_license() {
    let sources = sources_of(&presets());
    let files = view(sources.path(), &[]);
    let licenses: BTreeMap<String, String> =
        rows(&files["sources.csv"]).into_iter().map(|row| (row["id"].clone(), row["license"].clone())).collect();
    let mut known = BTreeSet::new();
    for row in rows(&files["provenance.csv"]) {
        assert!(!licenses[&row["source"]].is_empty(), "{row:?}");
        known.insert((row["kind"].clone(), row["slug"].clone(), row["field"].clone(), row["value"].clone()));
    }
    let mut checked = 0;
    for (kind, file, key) in [
        ("firm", "firms.csv", "slug"),
        ("startup", "startups.csv", "slug"),
        ("round", "funding_rounds.csv", "id"),
        ("person", "people.csv", "slug"),
    ] {
        for row in rows(&files[file]) {
            for (column, text) in row.iter().filter(|(column, text)| *column != key && !text.is_empty()) {
                let is_list =
                    ["aliases", "stages", "sectors", "lead_investors", "investors"].contains(&column.as_str());
                for value in text.split(if is_list { '|' } else { '\0' }) {
                    let said = (kind.to_owned(), row[key].clone(), column.clone(), value.to_owned());
                    assert!(known.contains(&said), "no source of {said:?}");
                    checked += 1;
                }
            }
        }
    }
    for row in rows(&files["identifiers.csv"]) {
        let said = (row["kind"].clone(), row["slug"].clone(), format!("id:{}", row["scheme"]), row["value"].clone());
        assert!(known.contains(&said), "no source of {said:?}");
    }
    assert!(checked > 300, "{checked}");
}

#[test]
fn a_removed_source_leaves_nothing_behind() {
    let all = presets();
    let sources = sources_of(&all);
    for removed in all.iter().step_by(one_of(3)) {
        let others: Vec<String> = all.iter().filter(|preset| *preset != removed).cloned().collect();
        let copy = tempfile::tempdir().unwrap();
        let with = copy.path().join("sources");
        copy_folder(sources.path(), &with);
        let id = Source::list(sources_of(std::slice::from_ref(removed)).path()).unwrap()[0].id.clone();
        fs::remove_dir_all(with.join(id)).unwrap();
        assert_eq!(view(&with, &[]), view(sources_of(&others).path(), &[]), "{removed}");
    }
}

#[test]
fn a_build_with_licenses_has_values_of_these_licenses_only() {
    let sources = sources_of(&presets());
    let allowed = ["CC0-1.0".to_owned(), "OGL-UK-3.0".to_owned()];
    let files = view(sources.path(), &allowed);
    let named: BTreeSet<String> = rows(&files["sources.csv"]).into_iter().map(|row| row["id"].clone()).collect();
    assert_eq!(named.iter().map(String::as_str).collect::<Vec<_>>(), ["companies-house", "gleif", "wikidata"]);
    // The values are those that the sources have without the others; slugs are those of all sources.
    let alone = view(sources_of(&["companies-house", "gleif", "wikidata-csv"].map(str::to_owned)).path(), &[]);
    assert_eq!(files.keys().collect::<Vec<_>>(), alone.keys().collect::<Vec<_>>());
    for file in ["firms.csv", "startups.csv", "people.csv", "identifiers.csv", "sources.csv"] {
        let values = |files: &BTreeMap<String, String>| -> BTreeSet<Vec<(String, String)>> {
            let rows = files.get(file).map(|text| rows(text)).unwrap_or_default();
            let is_value = |(column, _): &(String, String)| !["slug", "organization"].contains(&column.as_str());
            rows.into_iter().map(|row| row.into_iter().filter(is_value).collect()).collect()
        };
        assert_eq!(values(&files), values(&alone), "{file}");
    }
    let unknown =
        view::check_licenses(&Source::list(sources.path()).unwrap(), &["CC0".to_owned()]).unwrap_err().to_string();
    assert!(unknown.contains("no source has the license CC0; the sources have: CC-BY-4.0, CC0-1.0"), "{unknown}");
}

#[test]
fn sources_are_built_and_served_like_a_dataset() {
    let sources = sources_of(&presets());
    let index = tempfile::tempdir().unwrap();
    let arguments = |more: &[&str]| -> Vec<String> {
        let paths = [sources.path(), index.path()].map(|path| path.to_str().unwrap().to_owned());
        let [sources, index] = paths;
        let words = ["build", "--json", "--sources", &sources, "--index", &index].map(str::to_owned);
        words.into_iter().chain(more.iter().map(|word| (*word).to_owned())).collect()
    };
    let ran = indexer(&arguments(&[]));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let built: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(built["version"], "2026-11-20.1");
    assert!(built["counts"]["firms"].as_u64().unwrap() > 10, "{built}");
    let again = indexer(&arguments(&[]));
    assert!(again.out.contains("\"unchanged\""), "{}", again.out);
    let licensed = indexer(&arguments(&["--licenses", "CC0-1.0", "--release", "2026-11-21.1", "--force"]));
    assert_eq!(licensed.code, 0, "{}{}", licensed.out, licensed.err);
    let wrong = indexer(&arguments(&["--licenses", "MIT"]));
    assert_eq!(wrong.code, 1, "{}", wrong.out);
}

/// A mapping of two columns, with changes.
fn mapped(mapping: &str, csv: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let [mapping_file, input, to] = ["map.toml", "list.csv", "to"].map(|name| folder.path().join(name));
    fs::write(&mapping_file, mapping).unwrap();
    fs::write(&input, csv).unwrap();
    let mut ran = indexer(&[
        OsStr::new("import"),
        "--mapping".as_ref(),
        mapping_file.as_ref(),
        input.as_ref(),
        "--dataset".as_ref(),
        to.as_ref(),
        "--on".as_ref(),
        ON.as_ref(),
        "--verbose".as_ref(),
    ]);
    let above = format!("{}/", folder.path().display());
    (ran.out, ran.err) = (ran.out.replace(&above, ""), ran.err.replace(&above, ""));
    if let Ok(firms) = fs::read_to_string(to.join("firms.csv")) {
        ran.out.push_str(&firms);
    }
    ran
}

const SMALL: &str = r#"[source]
id = "our-list"
title = "Our list"
license = "CC0-1.0"

[input.firms]
none = ["-"]

[[firm]]
name = "Name"
country = "Land"
"#;

#[test]
fn a_list_of_firms_is_a_dataset() {
    let ran = mapped(SMALL, "Name,Land,Phone\nAlder,DE,1\nBirch,-,2\n,FR,3\nCedar,Atlantis,4\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("imported 4 rows"), "{}", ran.out);
    assert!(ran.out.contains("1 left out: its name is empty; the first: list.csv:4"), "{}", ran.out);
    assert!(ran.out.contains("the first: list.csv:5: \"Atlantis\""), "{}", ran.out);
    assert!(ran.out.contains("\nalder,Alder,,,,,DE,"), "{}", ran.out);
    assert!(ran.out.contains("\nbirch,Birch,,,,,,"), "{}", ran.out);
}

/// An import of a list to `--sources`, with more arguments; and the file of the rejects, if there is one.
fn list_with_rejects(mapping: &str, csv: &str, more: &[&str]) -> (Ran, String, bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("map.toml"), mapping).unwrap();
    fs::write(path("list.csv"), csv).unwrap();
    let (map, list, sources, rejects) = (path("map.toml"), path("list.csv"), path("sources"), path("rejects.csv"));
    let arguments = ["import", "--mapping", &map, &list, "--sources", &sources, "--on", ON, "--rejects", &rejects];
    let ran = indexer(&arguments.iter().chain(more).copied().collect::<Vec<_>>());
    let above = format!("{}/", folder.path().display());
    let rejects = fs::read_to_string(path("rejects.csv")).unwrap_or_default().replace(&above, "");
    (ran, rejects, Path::new(&sources).exists())
}

#[test]
fn all_that_is_left_out_is_in_the_file_of_the_rejects() {
    let csv =
        "Name,Land,Owner\nAlder,DE,Ana Reed\n,FR,Bo Li\nCedar,=1+1,Cy Ito\nDorn,DE,Di Orr\nElm,ana@elm.example,\n";
    let (ran, rejects, _) = list_with_rejects(SMALL, csv, &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = rows(&rejects);
    let found: Vec<[&str; 3]> = lines.iter().map(|row| [&*row["line"], &*row["column"], &*row["value"]]).collect();
    assert_eq!(found, [["3", "Name", ""], ["4", "Land", "'=1+1"], ["6", "Land", ""]]);
    assert!(
        lines.iter().all(|row| row["file"] == "list.csv" && !row["reason"].is_empty() && !row["remedy"].is_empty())
    );
    for told in
        ["5 rows = 4 kept + 1 without a key", "not used: \"Owner\" (Ana Reed, Bo Li, Cy Ito)", "remedy: fill the cell"]
    {
        assert!(ran.out.contains(told), "no {told} in\n{}", ran.out);
    }
    let (ran, ..) = list_with_rejects(SMALL, csv, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["sections"][0]["kept"], 4);
    assert_eq!(json["files"][0]["sections"][0]["without_key"], 1);
    assert_eq!(json["not_used"][0]["column"], "Owner");
}

#[test]
fn an_import_of_which_nearly_nothing_is_kept_is_refused_and_leaves_no_folder() {
    let (ran, rejects, has_sources) = list_with_rejects(SMALL, "Name,Land\n,DE\n,FR\nCedar,ES\n", &[]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("2 of 3 rows are left out") && ran.err.contains("list.csv:2"), "{}", ran.err);
    assert!(!has_sources);
    assert_eq!(rejects.lines().count(), 3, "{rejects}");
}

#[test]
fn suspicious_values_are_reported_by_every_build_until_they_are_settled() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("map.toml"), SMALL).unwrap();
    fs::write(path("list.csv"), "Name,Land\n1517,DE\nBirch,FR\n").unwrap();
    let (map, list, sources, index) = (path("map.toml"), path("list.csv"), path("sources"), path("index"));
    let told = |ran: &Ran| ran.out.contains("names without a letter: \"1517\"");
    let import = || indexer(&["import", "--mapping", &map, &list, "--sources", &sources, "--on", ON]);
    let build = || indexer(&["build", "--sources", &sources, "--index", &index]);
    assert!(told(&import()));
    for _ in 0..2 {
        let ran = build();
        assert!(ran.code == 0 && told(&ran), "{}{}", ran.out, ran.err);
    }
    fs::write(path("sources/settled.csv"), "warning,value,note\nname-is-number,1517,its name\n").unwrap();
    assert!(!told(&import()) && !told(&build()));
}

#[test]
fn what_an_import_keeps_can_be_read_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let city = "city = { column = \"Cities\", do = [\"split(|)\", \"first\", \"regex(^(A[0-9]+))\"] }";
    let mapping = SMALL.replace("none = [\"-\"]", "").replace("country = \"Land\"", &format!("key = \"Key\"\n{city}"));
    fs::write(path("map.toml"), mapping).unwrap();
    // Cells above the limit of a field once they are joined, and a key that is far too long.
    let cities: Vec<String> = (0..3_000).map(|number| format!("A{number}{}", "x".repeat(500))).collect();
    let rows = serde_json::json!([
        { "Name": "Alder", "Key": "alder", "Cities": cities },
        { "Name": "Birch", "Key": "b".repeat(1_000_000), "Cities": [] },
    ]);
    fs::write(path("list.json"), rows.to_string()).unwrap();
    for _ in 0..2 {
        let ran = indexer(&[
            "import",
            "--mapping",
            &path("map.toml"),
            &path("list.json"),
            "--sources",
            &path("sources"),
            "--on",
            ON,
        ]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("has more than 2000 characters"), "{}", ran.out);
    }
}

#[test]
fn mistakes_of_a_mapping_are_reported_with_line_column_and_remedy() {
    let csv = "Name,Land\nAlder,DE\n";
    for (from, to, problem) in [
        ("name = \"Name\"", "nmae = \"Name\"", "map.toml:10:1: unknown key \"nmae\"; did you mean `name`?"),
        ("\"Land\"", "\"Lnad\"", "list.csv:1: no column `Lnad`, which map.toml:11:11 names; did you mean `land`?"),
        (
            "\"Land\"",
            "{ column = \"Land\", do = [\"titel\"] }",
            "map.toml:11:36: unknown transform \"titel\"; did you mean `title`?",
        ),
        ("\"Land\"", "{ column = \"Land\", map = \"lands\" }", "map.toml:11:36: unknown vocabulary \"lands\""),
        ("\"Land\"", "\"Land\"\naum_usd = \"Land\"", "map.toml:12:11: no `currency`; write `currency = \"USD\"`"),
        ("license = \"CC0-1.0\"", "", "map.toml:1:1: no `license`; add it, such as `license = \"CC0-1.0\"`"),
        ("\"our-list\"", "\"Our list\"", "map.toml:2:6: \"Our list\" is not an id"),
        ("none = [\"-\"]", "decimal = \";\"", "map.toml:7:11: \";\" is not a decimal separator: \".\" or \",\""),
        (
            "\"Land\"",
            "\"Land\"\naum_usd = { column = \"Land\", currency = \"USD\", unit = \"heap\" }",
            "map.toml:12:55: \"heap\" is not a unit, such as \"million\"",
        ),
        ("[[firm]]", "[[firms]]", "map.toml:9:3: unknown key \"firms\"; did you mean `firm`?"),
        ("none = [\"-\"]", "file = \"*.tsv\"", "map.toml:6:1: input firms: no file matches `*.tsv`; found: list.csv"),
        ("title = ", "title ", "map.toml:3:"),
    ] {
        let ran = mapped(&SMALL.replace(from, to), csv);
        assert_eq!(ran.code, 1, "{to}: {}", ran.out);
        assert!(ran.err.contains(problem), "{to}: expected {problem}\nfound {}", ran.err);
    }
}

#[test]
fn a_column_that_is_read_wrongly_rejects_the_import() {
    let rows: String = (0..30).map(|row| format!("F{row},Place {row}\n")).collect();
    let ran = mapped(SMALL, &format!("Name,Land\n{rows}"));
    assert_eq!(ran.code, 1);
    let problem = "map.toml:11:11: country: 30 of 30 values cannot be used, the first at list.csv:2: \"Place 0\"";
    assert!(ran.err.contains(problem), "{}", ran.err);
    let dropped = SMALL.replace("\"Land\"", "{ column = \"Land\", unknown = \"drop\" }");
    assert_eq!(mapped(&dropped, &format!("Name,Land\n{rows}")).code, 0);
}

#[test]
fn a_folder_with_other_files_is_not_overwritten_and_a_preset_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "x").unwrap();
    let path = folder.path().to_str().unwrap();
    let input = fixtures().join("openvc/input");
    let input = input.to_str().unwrap();
    let ran = indexer(&["import", "openvc", input, "--dataset", path]);
    assert!(
        ran.code == 1 && ran.err.contains("is not empty, and `indexer import --dataset` did not fill it"),
        "{}",
        ran.err
    );
    let ran = indexer(&["import", "opnvc", input, "--dataset", path]);
    assert!(ran.code == 1 && ran.err.contains("did you mean `openvc`?"), "{}", ran.err);
    let ran = indexer(&["import", "openvc", "--dataset", path]);
    assert!(ran.code == 1 && ran.err.contains("no input"), "{}", ran.err);
    assert_eq!(indexer(&["import", "openvc", input]).code, 2);
}

/// Imports a list of firms into a folder of sources.
fn listed(folder: &Path, mapping: &str, csv: &str, on: &str, more: &[&str]) -> Ran {
    let [mapping_file, input] = ["map.toml", "list.csv"].map(|name| folder.join(name));
    fs::write(&mapping_file, mapping).unwrap();
    fs::write(&input, csv).unwrap();
    let sources = folder.join("sources");
    let mut words = vec!["import", "--mapping", mapping_file.to_str().unwrap(), input.to_str().unwrap(), "--sources"];
    words.extend([sources.to_str().unwrap(), "--on", on]);
    words.extend(more);
    indexer(&words)
}

/// The lines of `firms.csv` that the sources make.
fn firms(folder: &Path) -> Vec<String> {
    let files = view(&folder.join("sources"), &[]);
    rows(&files["firms.csv"]).iter().map(|row| format!("{} {}", row["name"], row["country"])).collect()
}

#[test]
fn a_list_that_is_corrected_replaces_what_it_said_and_one_that_shrinks_is_guarded() {
    let folder = tempfile::tempdir().unwrap();
    let import =
        |rows: &str, on: &str, more: &[&str]| listed(folder.path(), SMALL, &format!("Name,Land\n{rows}"), on, more);
    let first = import("Alder,DE\nBirch,DE\nCedar,DE\nDatura,DE\nElder,DE\n", ON, &[]);
    assert!(first.out.contains("\n  complete: no record is gone\n"), "{}", first.out);
    // On the same day: Alder is in another country, which is part of its key here, and Birch is gone.
    let corrected = "Alder,ES\nCedar,DE\nDatura,DE\nElder,DE\n";
    let refused = import(corrected, ON, &[]);
    let problem =
        "our-list: the import lacks more than a fifth of what the source had (2 of 5 of kind firm), and was not";
    assert!(refused.code == 1 && refused.err.contains(problem), "{}", refused.err);
    assert_eq!(firms(folder.path()).len(), 5, "nothing was changed");
    let forced = import(corrected, ON, &["--force"]);
    let told = "statements: 2 new, 6 known, 4 gone\n  complete: 2 records no longer in the source";
    assert!(forced.out.contains(told), "{}", forced.out);
    assert_eq!(firms(folder.path()), ["Alder ES", "Cedar DE", "Datura DE", "Elder DE"]);
    let older = import("Alder,ES\nCedar,DE\nDatura,DE\nElder,FR\n", "2026-01-02", &[]);
    let told = "an earlier import was of 2026-11-20, a later day; this one replaces it";
    assert!(older.out.contains(told), "{}{}", older.out, older.err);
    assert_eq!(firms(folder.path()), ["Alder ES", "Cedar DE", "Datura DE", "Elder FR"]);
}

#[test]
fn an_increment_keeps_what_it_lacks_and_corrects_what_it_has() {
    let keyed = SMALL.replace("[[firm]]\n", "[[firm]]\nkey = \"Id\"\ncity = \"City\"\n");
    let increment = keyed.replace("license =", "import = \"increment\"\nlicense =");
    let [first, second] =
        ["Id,Name,Land,City\n1,Alder,DE,Bonn\n2,Birch,FR,\n", "Id,Name,Land,City\n1,Alder,ES,\n3,Cedar,DE,\n"];
    let said = |mapping: &str, more: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        for csv in [first, second] {
            let ran = listed(folder.path(), mapping, csv, ON, more);
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
        let files = view(&folder.path().join("sources"), &[]);
        let firms = rows(&files["firms.csv"]);
        firms.iter().map(|row| format!("{} {} {}", row["name"], row["country"], row["city"])).collect::<Vec<_>>()
    };
    let amended = ["Alder ES Bonn", "Birch FR ", "Cedar DE "];
    assert_eq!(said(&increment, &[]), amended);
    assert_eq!(said(&keyed, &["--increment"]), amended);
    assert_eq!(said(&increment, &["--complete", "--force"]), ["Alder ES ", "Cedar DE "]);
    let wrong = mapped(&keyed.replace("license =", "import = \"incremental\"\nlicense ="), first);
    let problem =
        "map.toml:4:10: unknown value \"incremental\"; did you mean `increment`? (known: complete, increment)";
    assert!(wrong.err.contains(problem), "{}", wrong.err);
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(listed(folder.path(), &keyed, first, ON, &["--complete", "--increment"]).code, 2);
}

#[test]
fn quarters_of_form_d_are_increments() {
    let increments = PRESETS.iter().filter(|preset| {
        let source = fs::read_to_string(fixtures().join(preset.name).join("source/source.toml")).unwrap();
        assert!(source.contains("\nimports = 1\n"), "{source}");
        source.contains("\nlast_complete = 0\n")
    });
    assert_eq!(increments.map(|preset| preset.name).collect::<Vec<_>>(), ["sec-form-d"]);
}

#[test]
fn a_quotation_mark_that_is_not_closed_rejects_the_import_with_its_line_and_the_remedy() {
    for line_end in ["\n", "\r\n", "\r"] {
        let csv = "Name,Land\nAlder,DE\n\n\"Birch,FR\nCedar,ES\n".replace('\n', line_end);
        let ran = mapped(SMALL, &csv);
        assert_eq!(ran.code, 1, "{}", ran.out);
        let problem = "list.csv:4: a quotation mark opens a cell that is never closed";
        assert!(ran.err.contains(problem) && ran.err.contains("`quote = \"none\"`"), "{}", ran.err);
        let ran = mapped(&SMALL.replace("none = ", "quote = \"none\"\nnone = "), &csv);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("birch,\"\"\"Birch\",,,,,FR,"), "{}", ran.out);
    }
    // Another mark, in which the usual one is text.
    let ran =
        mapped(&SMALL.replace("none = ", "quote = \"'\"\nnone = "), "Name,Land\n'Alder, \"Birch',DE\n\"Cedar,ES\n");
    assert!(ran.code == 0 && ran.out.contains("imported 2 rows"), "{}{}", ran.out, ran.err);
    let ran = mapped(&SMALL.replace("none = ", "quote = \"no\"\nnone = "), "Name,Land\nAlder,DE\n");
    assert!(ran.err.contains("map.toml:7:9: \"no\" is no quotation mark: one character, such as `'`"), "{}", ran.err);
}

#[test]
fn a_quoted_cell_that_swallows_rows_is_reported_with_its_line() {
    let swallowed = "Birch,FR,\"Lyon\nCedar,ES,Vigo\nDorn,NL,\"Delft\"\n";
    let ran = mapped(SMALL, &format!("Name,Land,City\nAlder,DE,Kiel\n{swallowed}"));
    assert_eq!(ran.code, 1, "{}", ran.out);
    let problem = "list.csv:3: the quoted cell that opens here goes on over line breaks, and text follows";
    assert!(ran.err.contains(problem) && ran.err.contains("`quote = \"none\"`"), "{}", ran.err);

    let closed = "Birch,FR,\"Lyon\nCedar,ES,Vigo\nDorn,NL,Delft\nElm,IE,Cork\nFir,IT,Bari\"\n";
    let ran = mapped(SMALL, &format!("Name,Land,City\nAlder,DE,Kiel\n{}", closed.repeat(30)));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let warning =
        "      warning: list.csv:3: the quoted cell that opens here has 4 line breaks, and its lines look like rows";
    assert!(ran.out.contains(warning), "{}", ran.out);
    assert_eq!(ran.out.matches("warning: list.csv:").count(), 20, "{}", ran.out);
    assert!(ran.out.contains("warning: 10 more rows of this file"), "{}", ran.out);

    let ran = mapped(SMALL, "Name,Land,City\nAlder,DE,\"Kiel, at the sea,\nand Bonn\"\nBirch,\"FR\",Lyon\n");
    assert!(ran.code == 0 && !ran.out.contains("warning"), "{}", ran.out);
}

#[test]
fn lines_are_those_of_the_file_however_they_end() {
    for (line_end, in_cell) in [("\n", "\r"), ("\r\n", "\r"), ("\r\n", "\n"), ("\n", "\n"), ("\r", "\n")] {
        let csv = format!("Name,Land\nAlder,DE\n\n\"Birch{in_cell}Lane\",FR\nCedar,Atlantis\n\nDorn,ES,x\n");
        let line = if in_cell == "\r" { 5 } else { 6 };
        let csv = csv.replace('\n', line_end);
        let ran = mapped(SMALL, &csv);
        assert!(ran.out.contains(&format!("the first: list.csv:{line}: \"Atlantis\"")), "{csv:?}: {}", ran.out);
        assert!(ran.out.contains(&format!("the first: list.csv:{}\n", line + 2)), "{csv:?}: {}", ran.out);
    }
}

#[test]
fn a_mapping_is_guessed_without_quoting_where_quotation_marks_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let guessed = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        indexer(&[OsStr::new("import"), "--guess".as_ref(), path.as_ref()])
    };
    let rows: String = (0..9).map(|row| format!("Issuer {row}\tKiel\n")).collect();
    for marks in ["\"Alder\tBonn\n", "\"Alder\tBonn\nBirch\t\"Lyon\n", "\"Alder\" Capital\tBonn\n\"Birch\tLyon\n"] {
        let ran = guessed("issuers.tsv", &format!("Issuer\tCity\n{marks}{rows}"));
        assert!(ran.code == 0 && ran.out.contains("\nquote = \"none\"\n"), "{}{}", ran.out, ran.err);
    }
    // Cells in quotation marks: then the open one is a mistake.
    let ran = guessed("firms.csv", "Firm,City\n\"Alder, Bonn\",Bonn\n\"Birch,Lyon\nCedar,Vigo\n");
    assert!(ran.code == 1 && ran.err.contains("firms.csv:3: a quotation mark opens"), "{}{}", ran.out, ran.err);
    let ran = guessed("firms.csv", "Firm,City\n\"Alder\",Bonn\n\"Birch,Lyon\nCedar,Vigo\n");
    assert!(ran.code == 1 && ran.err.contains("firms.csv:3: a quotation mark opens"), "{}{}", ran.out, ran.err);
    let ran = guessed("firms.csv", "Firm,City\n\"Alder, Bonn\",Bonn\n");
    assert!(ran.code == 0 && !ran.out.contains("quote"), "{}{}", ran.out, ran.err);
}

#[test]
fn importing_again_replaces_only_what_an_import_wrote_and_nobody_changed() {
    let work = tempfile::tempdir().unwrap();
    let [mapping, list, dataset] = ["map.toml", "list.csv", "dataset"].map(|name| work.path().join(name));
    fs::write(&mapping, SMALL).unwrap();
    let import = |csv: &str| {
        fs::write(&list, csv).unwrap();
        let words = [OsStr::new("import"), "--mapping".as_ref(), mapping.as_ref(), list.as_ref()];
        indexer(&[&words[..], &["--dataset".as_ref(), dataset.as_ref(), "--on".as_ref(), ON.as_ref()]].concat())
    };
    let check = || indexer(&[OsStr::new("check"), "--dataset".as_ref(), dataset.as_ref()]);
    assert_eq!(import("Name,Land\nAlder,DE\n").code, 0);
    let review = "id,firm,rating,status,created_on\nr1,alder,4,approved,2026-01-10\n";
    let alias = "kind,slug,alias,source\nfirm,alder,Alder Tree,\n";
    let mine = [("reviews.csv", review), ("aliases.csv", alias), ("NOTES.txt", "mine"), ("drafts.csv.bak", "mine")];
    mine.iter().for_each(|(name, text)| fs::write(dataset.join(name), text).unwrap());
    assert_eq!(import("Name,Land\nAlder,DE\nBirch,FR\n").code, 0);
    let found = files(&dataset);
    mine.iter().for_each(|(name, text)| assert_eq!(found[*name], *text));
    assert!(found["firms.csv"].contains("birch"));
    assert_eq!(check().code, 0, "{}", check().out);

    for (name, change) in [("firms.csv", "cedar,Cedar,,,,,,,,,,,,\n"), ("snapshot.toml", "# mine\n")] {
        let text = &found[name];
        fs::write(dataset.join(name), format!("{text}{change}")).unwrap();
        let before = files(&dataset);
        let ran = import("Name,Land\nAlder,DE\n");
        let problem = format!("{name}: was changed since `indexer import --dataset` wrote it, and would be replaced");
        assert!(ran.code == 1 && ran.err.contains(&problem), "{}", ran.err);
        assert_eq!(files(&dataset), before);
        fs::write(dataset.join(name), text).unwrap();
    }
    // The first import with startups, where somebody else has put a file of startups.
    fs::write(dataset.join("startups.csv"), "mine").unwrap();
    fs::write(&mapping, format!("{SMALL}\n[[startup]]\nname = \"Name\"\n")).unwrap();
    let ran = import("Name,Land\nAlder,DE\n");
    let problem = "startups.csv: was not written by `indexer import --dataset`";
    assert!(ran.code == 1 && ran.err.contains(problem), "{}{}", ran.out, ran.err);
    assert_eq!(files(&dataset)["startups.csv"], "mine");
    fs::remove_file(dataset.join("startups.csv")).unwrap();

    // Killed while it replaces files: one half may be new.
    let list = files(&dataset)["imported.txt"].clone();
    let unfinished = "Files of this folder are being replaced. If nobody does it now, run the command again.\n";
    fs::write(dataset.join("imported.txt"), format!("{unfinished}{list}")).unwrap();
    let ran = check();
    assert!(
        ran.code == 1 && ran.out.contains("imported.txt: `indexer import --dataset` is replacing files"),
        "{}",
        ran.out
    );
    fs::write(&mapping, SMALL).unwrap();
    assert_eq!(import("Name,Land\nAlder,DE\n").code, 0);
    assert_eq!(check().code, 0, "{}", check().out);
}

/// The cells of a column of `firms.csv` by name, as a run printed it.
fn cells(ran: &Ran, column: &str) -> Vec<(String, String)> {
    let csv = ran.out.find("slug,name,").map_or("", |start| &ran.out[start..]);
    rows(csv).into_iter().map(|mut row| (row.remove("name").unwrap(), row.remove(column).unwrap())).collect()
}

/// Cells as [`cells`] has them.
fn expected(cells: &[(&str, &str)]) -> Vec<(String, String)> {
    cells.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const AMOUNTS: &str = r#"[source]
id = "our-list"
title = "Our list"
license = "CC0-1.0"

[input.firms]

[[firm]]
key = "Name"
name = "Name"
aum_usd = { column = "Size", currency = "USD", unknown = "drop" }
check_min_usd = { column = "Check", do = ["min"], currency = "USD", unknown = "drop" }
check_max_usd = { column = "Check", do = ["max"], currency = "USD", unknown = "drop" }
"#;

#[test]
fn the_cells_of_a_column_tell_what_an_amount_of_two_meanings_is() {
    let csv = "Name,Size,Check\nAlder,250.000,0.5-2M\nBirch,\"1.500.000,00\",€1-3m\nCedar,\"12,5 Mio.\",1.5\n";
    let ran = mapped(AMOUNTS, csv);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let sizes = [("Alder", "250000"), ("Birch", "1500000"), ("Cedar", "12500000")];
    assert_eq!(cells(&ran, "aum_usd"), expected(&sizes));
    assert_eq!(cells(&ran, "check_min_usd"), expected(&[("Alder", "500000"), ("Birch", ""), ("Cedar", "")]));
    assert_eq!(cells(&ran, "check_max_usd"), expected(&[("Alder", "2000000"), ("Birch", ""), ("Cedar", "")]));
    for told in [
        "1 left out: has the currency EUR, for which `rates` has none; the first: list.csv:3: \"€1-3m\"",
        "1 left out: is below 1,000 and lacks its unit",
        "list.csv:4: \"1.5\"",
    ] {
        assert!(ran.out.contains(told), "no {told} in\n{}", ran.out);
    }
}

#[test]
fn an_amount_of_two_meanings_is_left_out_with_its_line_unless_the_mapping_says_it() {
    let csv = "Name,Size,Check\nAlder,1.234,\nBirch,\"2,500\",\nCedar,3.125,\n";
    let ran = mapped(AMOUNTS, csv);
    assert_eq!(cells(&ran, "aum_usd"), expected(&[("Alder", ""), ("Birch", ""), ("Cedar", "")]));
    let told = "3 left out: is ambiguous: it has a decimal point or comma, or groups of digits, and no other amount of its \
                column tells which; the first: list.csv:2: \"1.234\" in Size\n        remedy: write `decimal = \".\"` or \
                `decimal = \",\"` in the mapping\n        list.csv:3: \"2,500\" in Size\n        list.csv:4: \"3.125\" in Size\n";
    assert!(ran.out.contains(told), "{}", ran.out);
    let millions = "aum_usd = { column = \"Size\", decimal = \".\", unit = \"Mio.\",";
    for (mapping, sizes) in [
        (AMOUNTS.replace("[input.firms]", "[input.firms]\ndecimal = \",\""), ["1234", "", "3125"]),
        (AMOUNTS.replace("aum_usd = { column = \"Size\",", millions), ["1234000", "2500000000", "3125000"]),
    ] {
        let ran = mapped(&mapping, csv);
        let found: Vec<String> = cells(&ran, "aum_usd").into_iter().map(|(_, size)| size).collect();
        assert_eq!(found, sizes, "{}", ran.out);
    }
}

#[test]
fn a_code_behind_a_city_is_a_state_or_a_country_by_evidence_only() {
    let mapping = SMALL.replace(
        "country = \"Land\"",
        "key = \"Name\"\ncountry = { column = \"Land\", do = [\"split(,)\", \"last\"], unknown = \"drop\" }",
    );
    let csv = "Name,Land\nAlder,\"Atlanta, GA\"\nBirch,\"Berlin, DE\"\nCedar,\"Smallville, GA\"\nDogwood,\"Tbilisi, Georgia\"\n";
    let ran = mapped(&mapping, csv);
    let places = [("Alder", "US"), ("Birch", "DE"), ("Cedar", ""), ("Dogwood", "GE")];
    assert_eq!(cells(&ran, "country"), expected(&places));
    assert!(ran.out.contains("the first: list.csv:4: \"Smallville, GA\""), "{}", ran.out);
    // Codes of states alone decide.
    let ran = mapped(&mapping, "Name,Land\nAlder,\"Smallville, GA\"\nBirch,\"Austin, TX\"\n");
    assert_eq!(cells(&ran, "country"), expected(&[("Alder", "US"), ("Birch", "US")]));
    // A column of countries has no states.
    let ran = mapped(SMALL, "Name,Land\nAlder,GA\nBirch,DE\nCedar,CA\nElm,\"Germany, France\"\n");
    assert_eq!(cells(&ran, "country"), expected(&[("Alder", "GA"), ("Birch", "DE"), ("Cedar", "CA"), ("Elm", "")]));
}

/// What `deploy/public-data.sh` makes of downloads of which one is missing and one is of another license.
#[test]
#[cfg(unix)]
fn the_recipe_builds_public_sources_only() {
    let work = tempfile::tempdir().unwrap();
    let [downloads, sources, index] = ["downloads", "sources", "index"].map(|name| work.path().join(name));
    fs::create_dir(&downloads).unwrap();
    for preset in ["sec-form-d", "sbir", "gleif"] {
        std::os::unix::fs::symlink(fixtures().join(preset).join("input"), downloads.join(preset)).unwrap();
    }
    import("openvc", "--sources", &sources);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/public-data.sh");
    let run = |downloads: &Path| {
        let mut command = Command::new("sh");
        command.arg(&script).args([downloads, &sources, &index]).arg(ON);
        command.env("INDEXER", env!("CARGO_BIN_EXE_indexer")).output().unwrap()
    };
    let ran = run(&downloads);
    assert!(ran.status.success(), "{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let used = view(&sources, &["CC0-1.0".to_owned(), "LicenseRef-US-Government-Work".to_owned()]);
    let ids: Vec<String> = rows(&used["sources.csv"]).iter().map(|row| row["id"].clone()).collect();
    assert_eq!(ids, ["gleif", "sbir", "sec-form-d"]);
    let listed = indexer(&["list", "--index", index.to_str().unwrap()]);
    assert!(listed.out.contains("2026-11-20.1"), "{}", listed.out);
    let ran = run(work.path());
    assert!(!ran.status.success() && String::from_utf8_lossy(&ran.stderr).contains("has none of the folders"));
}
