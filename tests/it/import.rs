//! `indexer import`: for each preset a folder of files as their publisher has them (of invented companies and people), and the
//! dataset and the statements that they become, byte for byte. `VENTUREDEX_BLESS=1` writes those.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use venturedex::data::NoProgress;
use venturedex::sources::Source;
use venturedex::sources::presets::PRESETS;
use venturedex::sources::view::{self, Clusters, Detail};

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
    let sources = view::licensed(Source::list(folder).unwrap(), licenses).unwrap();
    let to = tempfile::tempdir().unwrap();
    view::write(folder, &sources, &Clusters::default(), to.path(), Detail::Provenance, &NoProgress).unwrap();
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
        let dataset = files(to.path());
        // Into the same folder once more: the same bytes.
        import(&preset, "--dataset", to.path());
        assert_eq!(files(to.path()), dataset, "{preset}");
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
    for removed in &all {
        let others: Vec<String> = all.iter().filter(|preset| *preset != removed).cloned().collect();
        let with = sources_of(&all);
        let id = Source::list(sources_of(std::slice::from_ref(removed)).path()).unwrap()[0].id.clone();
        fs::remove_dir_all(with.path().join(id)).unwrap();
        assert_eq!(view(with.path(), &[]), view(sources_of(&others).path(), &[]), "{removed}");
    }
}

#[test]
fn a_build_with_licenses_has_values_of_these_licenses_only() {
    let sources = sources_of(&presets());
    let allowed = ["CC0-1.0".to_owned(), "OGL-UK-3.0".to_owned()];
    let files = view(sources.path(), &allowed);
    let named: BTreeSet<String> = rows(&files["sources.csv"]).into_iter().map(|row| row["id"].clone()).collect();
    assert_eq!(named.iter().map(String::as_str).collect::<Vec<_>>(), ["companies-house", "gleif", "wikidata"]);
    assert_eq!(files, view(sources_of(&["companies-house", "gleif", "wikidata-csv"].map(str::to_owned)).path(), &[]));
    let unknown = view::licensed(Source::list(sources.path()).unwrap(), &["CC0".to_owned()]).unwrap_err().to_string();
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
    assert!(ran.code == 1 && ran.err.contains("is not empty, and no import wrote it"), "{}", ran.err);
    let ran = indexer(&["import", "opnvc", input, "--dataset", path]);
    assert!(ran.code == 1 && ran.err.contains("did you mean `openvc`?"), "{}", ran.err);
    let ran = indexer(&["import", "openvc", "--dataset", path]);
    assert!(ran.code == 1 && ran.err.contains("no input"), "{}", ran.err);
    assert_eq!(indexer(&["import", "openvc", input]).code, 2);
}

/// The cells of a column of `firms.csv` by name, as a run printed it.
fn cells<'a>(ran: &'a Ran, column: &str) -> Vec<(String, String)> {
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
                column tells which; write `decimal = \".\"` or `decimal = \",\"` in the mapping; \
                the first: list.csv:2: \"1.234\"\n        list.csv:3: \"2,500\"\n        list.csv:4: \"3.125\"\n";
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
