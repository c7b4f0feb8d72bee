//! Records that leave the data: those that a source does not have any more, and those that are suppressed. From the import of a
//! list to what is served.

use std::fs;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::harness::{Client, files_below};
use crate::support::installation::Installation;

/// A folder of sources, and the installation that serves them.
struct Operator {
    folder: TempDir,
    installation: Installation,
}

const TEAM: &str = r#"[source]
id = "team"
title = "Team"
license = "LicenseRef-Own"

[input.list]

[[firm]]
key = { column = "Firm", by = "name" }
name = "Firm"

[[person]]
key = { column = "Person", by = "name" }
name = "Person"
title = "Title"
id.wikidata = "Item"
organization = { column = "Firm", by = "name", kind = "firm" }
"#;

impl Operator {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), installation: Installation::new() }
    }

    fn sources(&self) -> PathBuf {
        self.folder.path().join("sources")
    }

    /// Imports people of one firm, as the source `id`.
    fn import(&self, id: &str, license: &str, people: &[&str]) -> String {
        let [mapping, list] = ["map.toml", "list.csv"].map(|name| self.folder.path().join(name));
        fs::write(&mapping, TEAM).unwrap();
        let rows = people.iter().enumerate();
        let rows: String =
            rows.map(|(row, person)| format!("{person},Partner,Alder Capital,Q{}\n", 70_001 + row)).collect();
        fs::write(&list, format!("Person,Title,Firm,Item\n{rows}")).unwrap();
        let [mapping, list, sources] = [&mapping, &list, &self.sources()].map(|path| path.to_str().unwrap().to_owned());
        let source = ["--id", id, "--license", license, "--on", "2026-11-20"];
        let words = ["import", "--mapping", &mapping, &list, "--sources", &sources];
        self.installation.indexer(&[&words[..], &source].concat())
    }

    fn build(&self, release: &str, more: &[&str]) {
        let sources = self.sources();
        let words = ["build", "--sources", sources.to_str().unwrap(), "--release", release, "--bulk"];
        self.installation.indexer(&[&words[..], more].concat());
    }

    fn suppress(&self, words: &[&str]) -> String {
        let sources = self.sources();
        self.installation.indexer(&[&["suppress", "--sources", sources.to_str().unwrap()][..], words].concat())
    }

    /// The names of the people in the bulk file of a release.
    fn published(&self, release: &str) -> Vec<String> {
        let file = self.installation.index().join(release).join("bulk/people.csv.gz");
        let mut reader = csv::Reader::from_reader(GzDecoder::new(fs::File::open(file).unwrap()));
        let name = reader.headers().unwrap().iter().position(|column| column == "name").unwrap();
        let mut names: Vec<String> = reader.records().map(|row| row.unwrap()[name].to_owned()).collect();
        names.sort();
        names
    }
}

/// Whether any file below a folder has a text.
fn has_text(folder: &Path, text: &str) -> bool {
    files_below(folder).iter().any(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).contains(text))
}

/// The changes of people between two releases, as operation and slug.
fn changes(client: &Client, from: &str, to: &str) -> Vec<String> {
    let page = client.get(&format!("/api/v3/changes?table=people&from={from}&to={to}")).json();
    let text = |change: &Value, field: &str| change[field].as_str().unwrap().to_owned();
    let changes = page["data"].as_array().unwrap_or_else(|| panic!("{page}")).iter();
    changes.map(|change| format!("{} {}", text(change, "op"), text(change, "key"))).collect()
}

const PEOPLE: [&str; 6] = ["Ada Quill", "Ben Rosser", "Cem Tarhan", "Dora Ullman", "Eva Varga", "Finn Wolff"];

#[test]
fn what_is_gone_or_suppressed_is_served_no_more() {
    let operator = Operator::new();
    operator.import("team", "LicenseRef-Own", &PEOPLE);
    operator.build("2026-11-20.1", &[]);
    let key = operator.installation.key();
    let server = operator.installation.serve();
    let client = server.client(&key);
    let is_served = |version: &str| client.get("/api/v3/people?limit=1").header("x-snapshot") == version;
    let names = || client.get("/people.csv").text;
    assert!(PEOPLE.iter().all(|name| names().contains(name)), "{}", names());

    // The list has lost a person.
    let summary = operator.import("team", "LicenseRef-Own", &PEOPLE[..5]);
    assert!(summary.contains("complete: 1 record no longer in the source"), "{summary}");
    operator.build("2026-11-20.2", &[]);
    server.wait(|| is_served("2026-11-20.2"));
    assert!(names().contains("Eva Varga") && !names().contains("Finn Wolff"), "{}", names());
    assert_eq!(changes(&client, "2026-11-20.1", "2026-11-20.2"), ["remove finn-wolff"]);

    // A person is suppressed, and the list still has them.
    let done = operator.suppress(&["person", "ada-quill", "--why", "request 12"]);
    assert!(done.starts_with("1 of 1 added to ") && done.contains("suppressed.csv: team/person:"), "{done}");
    assert!(operator.suppress(&["person", "ada-quill"]).starts_with("0 of 1 added to "));
    let lines = fs::read_to_string(operator.sources().join("suppressed.csv")).unwrap().to_lowercase();
    assert!(lines.contains(",request 12\n") && !lines.contains("quill"), "{lines}");
    operator.import("team", "LicenseRef-Own", &PEOPLE);
    operator.build("2026-11-20.3", &[]);
    server.wait(|| is_served("2026-11-20.3"));
    assert!(names().contains("Finn Wolff") && !names().contains("Ada Quill"), "{}", names());
    assert_eq!(changes(&client, "2026-11-20.2", "2026-11-20.3"), ["remove ada-quill", "add finn-wolff"]);
    assert_eq!(client.get("/people/ada-quill").status, 404);
    assert_eq!(client.get("/api/v3/people/ada-quill").status, 404);
    let release = operator.installation.index().join("2026-11-20.3");
    assert!(has_text(&release, "Ben Rosser") && !has_text(&release, "Ada Quill"));
}

#[test]
fn a_record_is_suppressed_with_all_its_sources_and_whatever_sources_a_build_has() {
    let operator = Operator::new();
    operator.import("team", "LicenseRef-Own", &PEOPLE);
    operator.import("register", "CC0-1.0", &PEOPLE[..3]);
    operator.build("2026-11-20.1", &[]);
    assert_eq!(operator.published("2026-11-20.1"), PEOPLE, "the two sources have the same people");
    let done = operator.suppress(&["person", "ada-quill"]);
    assert!(done.starts_with("2 of 2 added to "), "{done}");
    operator.build("2026-11-20.2", &[]);
    assert_eq!(operator.published("2026-11-20.2"), PEOPLE[1..]);
    operator.build("2026-11-20.3", &["--licenses", "CC0-1.0", "--force"]);
    assert_eq!(operator.published("2026-11-20.3"), PEOPLE[1..3]);

    // One line is enough: another source of the same person is suppressed with it, also alone.
    let file = operator.sources().join("suppressed.csv");
    let line = fs::read_to_string(&file).unwrap().lines().find(|line| line.starts_with("team/")).unwrap().to_owned();
    fs::write(&file, format!("entity,on,why\n{line}\nteam/person:nobody,,\n")).unwrap();
    operator.build("2026-11-20.4", &["--licenses", "CC0-1.0"]);
    assert_eq!(operator.published("2026-11-20.4"), PEOPLE[1..3]);

    let sources = operator.sources();
    let mut command = operator.installation.command(env!("CARGO_BIN_EXE_indexer"));
    command.args(["suppress", "person", "ben-roser", "--sources"]).arg(&sources);
    let refused = command.output().unwrap();
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("has the slug \"ben-roser\"; did you mean `ben-rosser`?"), "{error}");
    let mut command = operator.installation.command(env!("CARGO_BIN_EXE_indexer"));
    command.args(["build", "--release", "2026-11-20.5", "--force", "--sources"]).arg(&sources);
    let built = command.output().unwrap();
    let warned = String::from_utf8(built.stderr).unwrap();
    assert!(built.status.success() && warned.contains("suppressed.csv:3: entity: no source has"), "{warned}");
    assert!(warned.contains("left out: 1 suppressed"), "{warned}");
    fs::write(&file, "entity,on,why\nada-quill,,\n").unwrap();
    let mut command = operator.installation.command(env!("CARGO_BIN_EXE_indexer"));
    let refused = command.args(["build", "--release", "2026-11-20.6", "--sources"]).arg(&sources).output().unwrap();
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && error.contains("suppressed.csv:2: entity: \"ada-quill\""), "{error}");
}
