//! The indexer as a program: output, exit codes, JSON, and a `kill -9` at any moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use data::{SnapshotVersion, Table};
use release::ReleaseStore;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::harness::{
    copy_as, copy_with_few_reviews, real_data, resident, root, rounds, runs, runs_long_tests, wants_rounds,
};
use crate::support::installation::{overwrite, small};

fn version(text: &str) -> SnapshotVersion {
    text.parse().unwrap()
}

struct Index {
    folder: TempDir,
}

impl Index {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    fn releases(&self) -> ReleaseStore {
        ReleaseStore::at(self.path())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
        command.args(words).env_remove("VENTUREDEX_DATASET").env("VENTUREDEX_INDEX", self.path());
        command
    }

    fn run(&self, words: &[&str]) -> Finished {
        Finished(self.command(words).output().unwrap())
    }

    fn build(&self, dataset: &Path) -> Finished {
        self.run(&["build", "--dataset", dataset.to_str().unwrap()])
    }

    fn build_json(&self, dataset: &Path) -> Value {
        self.run(&["build", "--json", "--dataset", dataset.to_str().unwrap()]).json(0)
    }
}

struct Finished(Output);

impl Finished {
    fn out(&self) -> String {
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    fn err(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    #[track_caller]
    fn code(self, code: i32) -> Self {
        assert_eq!(self.0.status.code(), Some(code), "{}{}", self.out(), self.err());
        self
    }

    /// The JSON object on standard output; standard error is empty.
    #[track_caller]
    fn json(self, code: i32) -> Value {
        let finished = self.code(code);
        assert_eq!(finished.err(), "");
        serde_json::from_str(&finished.out()).unwrap()
    }
}

/// A copy of the small dataset in which `from` is replaced by `to`.
fn changed(version: &str, file: &str, from: &str, to: &str) -> TempDir {
    let folder = copy_as(&small(), version);
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from));
    fs::write(path, text.replace(from, to)).unwrap();
    folder
}

#[test]
fn check_reports_problems_and_writes_nothing() {
    let index = Index::new();
    let good = index.run(&["check", "--dataset", small().to_str().unwrap()]).code(0);
    assert!(good.out().ends_with("small: ok, 0 errors, 0 warnings\n"), "{}", good.out());

    assert!(good.out().contains("known of startups: "), "{}", good.out());

    let bad = changed("2026-11-20.1", "firms.csv", "100000,", "5m,");
    fs::write(bad.path().join("people.csv"), "slug,name,title,organization_kind,organization,country,age\n").unwrap();
    let bad_path = bad.path().to_str().unwrap();
    let text = index.run(&["check", "--dataset", bad_path]).code(1).out();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "error: firms.csv:2: check_min_usd: \"5m\" is not a whole number of US dollars");
    assert!(lines[1].ends_with(": rejected, 1 error, 1 warning (list them with --verbose)"), "{text}");
    let verbose = index.run(&["check", "--verbose", "--dataset", bad_path]).code(1).out();
    assert!(verbose.contains("warning: people.csv:1: unknown column \"age\"\n"), "{verbose}");

    let json = index.run(&["check", "--json", "--dataset", bad_path]).json(1);
    assert_eq!((&json["ok"], &json["code"]), (&Value::Bool(false), &Value::from("dataset_refused")));
    assert_eq!(json["errors"][0]["file"], "firms.csv");
    assert_eq!(json["errors"][0]["line"], 2);
    assert_eq!(json["errors"][0]["column"], "check_min_usd");
    assert_eq!((json["warning_count"].as_u64(), json.get("warnings")), (Some(1), None));
    assert!(!index.path().exists());
}

#[test]
fn check_reports_what_is_probably_wrong_or_missing() {
    let folder = copy_as(&small(), "2026-11-20.1");
    let path = folder.path().to_str().unwrap();
    let index = Index::new();
    let before = index.run(&["check", "--json", "--dataset", path]).json(0);
    assert_eq!(before["quality"]["suspect_amounts"], Value::Array(Vec::new()));
    let append = |file: &str, lines: String| {
        let path = folder.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text + &lines).unwrap();
    };
    let rounds = (0..200).map(|number| format!("x-{number},kettlepay,seed,1000000,{},,\n", [2021, 2023][number % 2]));
    append("funding_rounds.csv", rounds.chain(["x-huge,kettlepay,seed,900000000,2022-01,,\n".to_owned()]).collect());
    append(
        "reviews.csv",
        "x-1,birch-lane,seed,1,5,5,5,false,,,approved,2022-01-01\nx-2,birch-lane,seed,1,5,1,1,true,,,approved,2022-01-01\n"
            .into(),
    );
    let found = index.run(&["check", "--json", "--dataset", path]).json(0)["quality"].clone();
    let suspect = &found["suspect_amounts"];
    assert_eq!((suspect.as_array().unwrap().len(), &suspect[0]["id"]), (1, &Value::from("x-huge")));
    assert!(suspect[0]["percentile_99_usd"].as_u64().unwrap() < 90_000_000);
    assert_eq!(found["years"]["funding_rounds"]["rows"]["2021"].as_u64().unwrap(), 100 + rounds_of(&before, 2021));
    assert_eq!(found["years"]["funding_rounds"]["gaps"], serde_json::json!([2022]));
    let problems: Vec<&str> = found["contradictory_reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| review["problem"].as_str().unwrap())
        .collect();
    assert_eq!(problems, ["rating is 1, the mean of the other ratings 5.0", "ghosted, and responsiveness is 5"]);
    let coverage = found["coverage"]["funding_rounds"]
        .as_array()
        .unwrap()
        .iter()
        .find(|field| field["field"] == "amount_usd")
        .unwrap();
    let unknown = |coverage: &Value| coverage["records"].as_u64().unwrap() - coverage["known"].as_u64().unwrap();
    let earlier = before["quality"]["coverage"]["funding_rounds"]
        .as_array()
        .unwrap()
        .iter()
        .find(|field| field["field"] == "amount_usd")
        .unwrap();
    assert_eq!(unknown(coverage), unknown(earlier));

    let text = index.run(&["check", "--dataset", path]).code(0).out();
    assert!(
        text.contains(
            "suspect amounts: 1\n  x-huge of kettlepay: $900,000,000; 99 % of the rounds of seed raised at most $"
        ),
        "{text}"
    );
    assert!(text.contains("funding_rounds are few in 2022\n"), "{text}");
}

fn rounds_of(report: &Value, year: u16) -> u64 {
    report["quality"]["years"]["funding_rounds"]["rows"][year.to_string()].as_u64().unwrap_or(0)
}

#[test]
fn build_prints_counts_sizes_times_and_the_difference() {
    let index = Index::new();
    let first = index.build(&small()).code(0);
    for line in ["  firms                      3\n", "  reviews                    4\n", "  current: 2026-11-20.1\n"] {
        assert!(first.out().contains(line), "{line:?} in {}", first.out());
    }
    assert!(first.out().starts_with("published 2026-11-20.1 in "));
    // If standard error is not a terminal, each step is a line.
    let steps: Vec<String> = first.err().lines().map(|line| line.split_whitespace().next().unwrap().into()).collect();
    for step in ["firms.csv", "tables.bin", "text", "sync", "publish"] {
        assert!(steps.iter().any(|text| text == step), "{step} in {steps:?}");
    }

    let dataset = changed("2026-11-27.1", "people.csv", "li-na-moss,Li Na Moss", "li-moss,Li Moss");
    let second = index.build_json(dataset.path());
    assert_eq!((&second["outcome"], &second["before"]), (&"published".into(), &"2026-11-20.1".into()));
    assert_eq!(second["difference"]["people"], serde_json::json!({ "added": 1, "removed": 1, "changed": 0 }));
    assert_eq!(second["difference"]["startups"], serde_json::json!({ "added": 0, "removed": 0, "changed": 0 }));
    let bytes = |part: &str| second["bytes"][part].as_u64().unwrap();
    let parts = ["tables", "records", "text", "history"].map(bytes);
    assert!(parts.iter().all(|bytes| *bytes > 0) && bytes("total") == parts.iter().sum::<u64>(), "{parts:?}");
    assert!(second["steps"].as_array().unwrap().iter().any(|step| step["name"] == "derive"));

    let third = changed("2026-11-28.1", "startups.csv", "kettlepay,KettlePay", "kettlepay,Kettle Pay");
    let text = index.build(third.path()).code(0).out();
    assert!(text.contains("  startups                   3   0 added, 0 removed, 1 changed\n"), "{text}");
    assert!(text.contains("  compared with: 2026-11-27.1\n"), "{text}");
}

#[test]
fn a_release_does_not_depend_on_the_number_of_processors() {
    const ONE: [&str; 2] = ["-c", "0"];
    if !runs("taskset", &[ONE[0], ONE[1], "true"]) {
        return;
    }
    let dataset = root().join("dataset");
    let [several, one] = [Index::new(), Index::new()];
    several.build(&dataset).code(0);
    let mut restricted = Command::new("taskset");
    restricted.args(ONE).args([env!("CARGO_BIN_EXE_indexer"), "build", "--dataset"]).arg(&dataset);
    Finished(restricted.arg("--index").arg(one.path()).output().unwrap()).code(0);
    let release = several.releases().current().unwrap().unwrap();
    for file in ["tables.bin", "records.bin"] {
        let [several, one] = [&several, &one].map(|index| fs::read(index.path().join(release.to_string()).join(file)));
        assert!(several.unwrap() == one.unwrap(), "{file}");
    }
}

#[test]
fn the_same_version_again_succeeds_with_the_same_content_or_names_the_next_free_version() {
    let index = Index::new();
    index.build(&small()).code(0);
    let again = index.build(&small()).code(0).out();
    assert!(again.starts_with("2026-11-20.1 is already published with the same content"), "{again}");
    assert_eq!(index.build_json(&small())["outcome"], "unchanged");
    let other = changed("2026-11-20.1", "firms.csv", "Ostrava Ventures", "Ostrava Capital");
    let path = other.path().to_str().unwrap();
    let words = index.run(&["build", "--dataset", path]).code(1).err();
    assert!(words.contains("error: release 2026-11-20.1 is published already with other content"), "{words}");
    let json = index.run(&["build", "--json", "--dataset", path]).json(1);
    assert_eq!((&json["code"], &json["next_free"]), (&"version_taken".into(), &"2026-11-20.2".into()));
}

#[test]
fn releases_without_a_version_take_the_next_free_number_of_the_day() {
    let index = Index::new();
    let folder = tempfile::tempdir().unwrap();
    let build = |name: &str| {
        fs::write(folder.path().join("firms.csv"), format!("slug,name\nalder,{name}\n")).unwrap();
        index.build_json(folder.path())
    };
    let first = build("Alder");
    let version = first["version"].as_str().unwrap().to_owned();
    assert_eq!((first["outcome"].as_str(), version.ends_with(".1")), (Some("published"), true), "{first}");
    let again = build("Alder");
    assert_eq!((&again["version"], again["outcome"].as_str()), (&first["version"], Some("unchanged")));
    let second = build("Alder Capital");
    assert_eq!(second["version"], version.replace(".1", ".2").as_str());
    assert_eq!(second["current"], second["version"]);
    // A stated day comes after that of the newest release, whatever it is.
    fs::write(folder.path().join("snapshot.toml"), "released_on = \"2026-01-31\"\n").unwrap();
    assert_eq!(build("Alder Partners")["version"], version.replace(".1", ".3").as_str());
}

#[test]
fn a_rejected_dataset_leaves_the_previous_release_active() {
    let index = Index::new();
    index.build(&small()).code(0);
    let bad = changed("2026-11-27.1", "funding_rounds.csv", "kettlepay", "kettlepa");
    let refused = index.build(bad.path()).code(1);
    let line = "error: funding_rounds.csv:2: startup: ";
    assert!(refused.out().contains(line), "{}", refused.out());
    assert_eq!(index.releases().versions().unwrap(), [version("2026-11-20.1")]);
    index.releases().open(version("2026-11-20.1")).unwrap();
}

#[test]
fn releases_are_listed_switched_verified_and_pruned() {
    let index = Index::new();
    for day in ["2026-11-20.1", "2026-11-21.1", "2026-11-22.1"] {
        index.build(copy_as(&small(), day).path()).code(0);
    }
    let list = index.run(&["list"]).code(0).out();
    let lines: Vec<&str> = list.lines().collect();
    assert!(lines.len() == 3 && lines[0].starts_with("* 2026-11-22.1 ") && lines[1].starts_with("  2026-11-21.1 "));

    let back = index.run(&["activate", "2026-11-20.1"]).code(0).out();
    assert_eq!(back, "current: 2026-11-20.1, previously 2026-11-22.1\n");
    let again = index.run(&["activate", "--json", "2026-11-20"]).json(0);
    assert_eq!((&again["current"], &again["changed"]), (&"2026-11-20.1".into(), &Value::Bool(false)));
    let listed = index.run(&["list", "--json"]).json(0);
    assert_eq!(listed["current"], "2026-11-20.1");
    assert_eq!(listed["releases"][2]["current"], true);
    assert_eq!(listed["releases"][2]["counts"]["firms"], 3);

    index.run(&["verify"]).code(0);
    let tables = index.releases().release_folder(version("2026-11-21.1")).join("tables.bin");
    let mut bytes = fs::read(&tables).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    overwrite(&tables, &bytes);
    let text = index.run(&["verify"]).code(1).out();
    assert!(text.contains("2026-11-21.1: failed: release 2026-11-21.1 is damaged: tables.bin has"), "{text}");
    assert!(text.contains("2026-11-22.1: ok, "), "{text}");
    index.run(&["verify", "2026-11-22.1"]).code(0);
    let json = index.run(&["verify", "--json", "2026-11-21.1"]).json(1);
    assert_eq!(json["releases"][0]["code"], "damaged");
    index.run(&["activate", "2026-11-21.1"]).code(1);
    assert_eq!(index.releases().current().unwrap(), Some(version("2026-11-20.1")));

    let pruned = index.run(&["prune", "--keep", "1", "--json"]).json(0);
    assert_eq!(pruned["removed"], serde_json::json!(["2026-11-21.1"]));
    assert_eq!(pruned["kept"], serde_json::json!(["2026-11-22.1", "2026-11-20.1"]));
    assert!(pruned["freed_bytes"].as_u64().unwrap() > 1000);

    fs::write(index.path().join("current"), "2026-12-01.1\n").unwrap();
    let list = index.run(&["list"]).code(1);
    assert!(list.err().contains("holds no release 2026-12-01.1"), "{}", list.err());
    assert!(index.run(&["verify"]).code(1).out().contains("holds no release 2026-12-01.1"));
}

#[test]
fn each_failure_has_its_exit_code() {
    let index = Index::new();
    for words in [
        &[][..],
        &["build", "--nonsense"],
        &["prune"],
        &["prune", "--keep", "-1"],
        &["activate"],
        &["activate", "../2026-11-20.1"],
        &["activate", "2026-11-20.1/../x"],
        &["verify", "latest"],
    ] {
        index.run(words).code(2);
    }
    for words in [&["list"][..], &["verify"], &["prune", "--keep", "1"]] {
        let finished = index.run(words).code(3);
        assert!(finished.err().contains("index: No such file"), "{}", finished.err());
    }
    assert_eq!(index.run(&["activate", "--json", "2026-11-20.1"]).json(1)["code"], "missing");
    assert!(!index.path().exists(), "only a build creates the folder");
    index.run(&["--help"]).code(0);
    assert!(index.run(&["--help"]).out().contains("Exit codes:"));

    fs::write(index.path(), "a file where the folder should be").unwrap();
    index.build(&small()).code(3);
    fs::remove_file(index.path()).unwrap();

    index.build(&small()).code(0);
    let lock = fs::File::open(index.path().join(".build.lock")).unwrap();
    lock.lock().unwrap();
    let busy = index.build(&small()).code(4);
    assert!(busy.err().contains("another indexer is working on"), "{}", busy.err());
    assert_eq!(index.run(&["prune", "--keep", "1", "--json"]).json(4)["code"], "busy");
    index.run(&["activate", "2026-11-20.1"]).code(0);
    drop(lock);
    index.build(&small()).code(0);
}

#[test]
fn concurrent_builds_succeed_or_report_that_the_index_is_busy() {
    let index = Index::new();
    let start = |version: &str| {
        let dataset = copy_with_few_reviews(version);
        let words = ["build", "--dataset", dataset.path().to_str().unwrap()];
        let child = index.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        (dataset, child)
    };
    let (mut finished, mut all) =
        (Vec::new(), vec![start("2026-11-20.7"), start("2026-11-20.8"), start("2026-11-20.9")]);
    for (_, child) in &mut all {
        finished.push(child.wait().unwrap().code().unwrap());
    }
    assert!(finished.contains(&0) && finished.iter().all(|code| [0, 4].contains(code)), "{finished:?}");
    let done = finished.iter().filter(|code| **code == 0).count();
    assert_eq!(index.releases().versions().unwrap().len(), done);
    index.run(&["verify"]).code(0);
}

/// After a kill at any moment, the old or the new release is active and complete, and the next build succeeds.
#[test]
fn a_kill_at_any_moment_leaves_the_old_or_the_new_release() {
    let moments = rounds(500, 12) as u32;
    let index = Index::new();
    let (old, new) = (copy_as(&small(), "2026-11-20.1"), copy_as(&small(), "2026-11-27.1"));
    index.build(old.path()).code(0);
    let start = Instant::now();
    index.build(new.path()).code(0);
    let mut usual = start.elapsed();
    let releases = index.releases();
    let (mut served_old, mut killed) = (0, 0);
    for moment in 0..moments {
        index.run(&["activate", "2026-11-20.1"]).code(0);
        index.run(&["prune", "--keep", "0"]).code(0);
        assert_eq!(releases.versions().unwrap(), [version("2026-11-20.1")]);
        let words = ["build", "--dataset", new.path().to_str().unwrap()];
        let mut child = index.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // A good third of them after the time that a build takes.
        sleep(usual * moment * 5 / 3 / moments);
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        let current = releases.current().unwrap().unwrap();
        served_old += u32::from(current == version("2026-11-20.1"));
        let release = releases.open(current).unwrap_or_else(|error| panic!("moment {moment}: {error}"));
        release.smoke_test().unwrap();
        let was_published = releases.versions().unwrap().len() > 1;
        let start = Instant::now();
        let next = index.build_json(new.path());
        // It follows the load of the machine. What is already published is not built again.
        if !was_published {
            usual = (usual * 3 + start.elapsed()) / 4;
        }
        assert_eq!(next["current"], "2026-11-27.1", "moment {moment}: {next}");
        let left: Vec<String> = fs::read_dir(index.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with('.') && !name.ends_with(".lock"))
            .collect();
        assert!(left.is_empty(), "moment {moment}: {left:?}");
    }
    let advanced = moments - served_old;
    eprintln!("{moments} kills: {killed} of a running build, {served_old} before the switch, {advanced} after it");
    assert!(killed >= moments / 3 && served_old >= moments / 4, "{killed} killed, {served_old} before the switch");
    assert!(!wants_rounds() || advanced >= moments / 3, "{advanced} after the switch");
}

/// Everything below a folder, and the folder itself.
#[cfg(unix)]
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if path.is_dir() {
            found.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

#[cfg(unix)]
#[test]
fn others_cannot_write_to_a_release_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;

    let index = Index::new();
    let dataset = small();
    let words = ["-c", "umask 000 && exec \"$0\" build --dataset \"$1\"", env!("CARGO_BIN_EXE_indexer")];
    let mut shell = Command::new("sh");
    shell.args(words).arg(&dataset).env("VENTUREDEX_INDEX", index.path());
    let output = shell.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !errors.contains("warning"), "{errors}");
    let paths = all_below(&index.path());
    assert!(paths.len() > 20, "{paths:?}");
    for path in paths {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        // Nobody writes to what is published; locks and `current` are the indexer's.
        let expected = match path.strip_prefix(index.path().join("2026-11-20.1")) {
            _ if path.is_dir() => 0o755,
            Ok(_) => 0o444,
            Err(_) => 0o644,
        };
        assert_eq!(mode, expected, "{}: {mode:o}", path.display());
    }

    let release = index.releases().release_folder(index.releases().current().unwrap().unwrap());
    for (path, mode) in
        [(index.path(), 0o777), (release.join("tables.bin"), 0o664), (release.join("text/firms"), 0o775)]
    {
        let before = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let listed = index.run(&["list"]);
        let warning = String::from_utf8(listed.0.stderr).unwrap();
        let expected = format!("warning: {} is writable by its group or by everybody", path.display());
        assert!(warning.starts_with(&expected) && warning.contains("run chmod -R go-w "), "{warning}");
        fs::set_permissions(&path, before).unwrap();
    }
    assert!(index.run(&["list"]).0.stderr.is_empty());
}

#[test]
fn the_real_data_compiles_without_an_error() {
    let Some(folder) = real_data() else { return };
    if !runs_long_tests() {
        return;
    }
    let index = Index::new();
    let built = index.build_json(&folder);
    let counts = serde_json::json!({
        "firms": 8_229, "startups": 87_269, "funding_rounds": 119_893, "people": 4_793, "reviews": 0, "sectors": 1_246
    });
    assert_eq!(built["counts"], counts);
    index.run(&["verify"]).code(0);
}

#[test]
fn a_search_shows_the_components_of_each_score() {
    let index = Index::new();
    let (status, _) = index.build(copy_with_few_reviews("2026-11-20.1").path()).0.status.code().zip(Some(())).unwrap();
    assert_eq!(status, 0);
    let found = index.run(&["search", "--json", "aldr captial", "--limit", "2"]).json(0);
    assert_eq!(found["matches"][0]["slug"], "alder-capital");
    assert_eq!(found["matches"].as_array().unwrap().len(), 2);
    assert!(!found["matches"][0]["parts"].as_array().unwrap().is_empty());
    let one = index.run(&["search", "--json", "aldr captial", "--slug", "aldern-ventures"]).json(0);
    assert_eq!(one["matches"][0]["name"], "Aldern Ventures");
    assert_eq!(index.run(&["search", "x", "--slug", "aldern-venture"]).0.status.code(), Some(1));
}

/// A copy of the small dataset with more lines in a file, which may be new.
fn extended(file: &str, lines: &str) -> TempDir {
    let folder = copy_as(&small(), "2026-11-20.1");
    let path = folder.path().join(file);
    let before = fs::read_to_string(&path).unwrap_or_default();
    fs::write(path, before + lines).unwrap();
    folder
}

/// For each file of a dataset a row with a quotation mark that nothing closes; the header, if the small dataset lacks the file.
const UNCLOSED: [(&str, &str, &str); 12] = [
    ("firms.csv", "", "elm,\"Elm,,,,,,,,,,,,\n"),
    ("startups.csv", "", "elm,\"Elm,,,,,,,,,\n"),
    ("funding_rounds.csv", "", "r-9,kettlepay,\"seed,,,,\n"),
    ("people.csv", "", "elm,\"Elm,,firm,birch-lane,\n"),
    ("reviews.csv", "", "v-9,birch-lane,seed,5,,,,,\"Great,,approved,2026-03-01\n"),
    ("sectors.csv", "", "elm,\"Elm,,\n"),
    ("aliases.csv", "kind,slug,alias,source\n", "firm,birch-lane,\"Lane,\n"),
    ("identifiers.csv", "kind,slug,scheme,value\n", "firm,birch-lane,lei,\"x\n"),
    ("redirects.csv", "kind,slug,target\n", "firm,birch,\"birch-lane\n"),
    ("gone.csv", "kind,slug,name\n", "firm,birch,\"Birch\n"),
    ("sources.csv", "id,title,license\n", "list,\"List,CC0-1.0\n"),
    ("provenance.csv", "kind,slug,field,value,source\n", "firm,birch-lane,name,\"Birch,list\n"),
];

#[test]
fn a_quotation_mark_that_is_not_closed_is_an_error_in_every_file() {
    let index = Index::new();
    for (file, header, row) in UNCLOSED {
        let dataset = extended(file, &format!("{header}{row}{}", row.replace('"', "").repeat(2)));
        let path = dataset.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        for line_end in ["\n", "\r\n"] {
            fs::write(&path, text.replace('\n', line_end)).unwrap();
            let line = 1 + text[..text.find(row).unwrap()].matches('\n').count();
            let problem = format!("error: {file}:{line}: a quotation mark opens a cell that is never closed");
            let checked = index.run(&["check", "--dataset", dataset.path().to_str().unwrap()]).code(1).out();
            assert_eq!(checked.matches("error: ").count(), 1, "{checked}");
            assert!(checked.contains(&problem), "expected {problem}\nfound {checked}");
            let built = index.build(dataset.path()).code(1);
            assert!(format!("{}{}", built.out(), built.err()).contains(&problem), "{}{}", built.out(), built.err());
        }
    }
    assert_eq!(index.releases().versions().unwrap(), []);
}

#[test]
fn a_quoted_cell_that_swallows_reviews_is_found_where_it_opens() {
    let index = Index::new();
    let review = |number: u32, title: &str| format!("w-{number},birch-lane,seed,1,,,,,{title},,approved,2026-03-01\n");
    let rows = |first: &str, last: &str| [review(1, first), review(2, "Bad"), review(3, last)].concat();
    for line_end in ["\n", "\r\n"] {
        for (rows, code, problem) in [
            (
                rows("\"Good", "\"Worse, still\""),
                1,
                "error: reviews.csv:LINE: the quoted cell that opens here goes on over",
            ),
            (
                rows("\"Good", "Worse\""),
                0,
                "warning: reviews.csv:LINE: the quoted cell that opens here has 2 line breaks",
            ),
        ] {
            let dataset = extended("reviews.csv", &rows);
            let path = dataset.path().join("reviews.csv");
            let text = fs::read_to_string(&path).unwrap();
            let problem = problem.replace("LINE", &(text.matches('\n').count() - 2).to_string());
            fs::write(&path, text.replace('\n', line_end)).unwrap();
            let checked = index.run(&["check", "-v", "--dataset", dataset.path().to_str().unwrap()]).code(code).out();
            assert!(checked.contains(&problem), "expected {problem}\nfound {checked}");
        }
    }
}

#[test]
fn a_strict_check_takes_reviews_that_look_arranged_for_errors_until_they_are_cleared() {
    let index = Index::new();
    let reviews = |cleared: &str| -> String {
        let burst = (1..=5).map(|n| format!("b-{n},zoe-angels,{n},,,,,,approved,2026-03-0{n},{cleared}\n"));
        let contradictory = format!("c-1,zoe-angels,5,5,,,true,,approved,2024-03-01,{cleared}\n");
        let header = "id,firm,rating,responsiveness,fairness,value_add,ghosted,body,status,created_on,cleared\n";
        let pending = "p-1,zoe-angels,5,5,,,true,,pending,2024-04-01,\n";
        format!(
            "{header}p-0,zoe-angels,3,,,,,\"two\nlines\",approved,2023-01-01,\n{pending}{contradictory}{}",
            burst.collect::<String>()
        )
    };
    let dataset = extended("reviews.csv", "");
    let words = ["check", "--dataset", dataset.path().to_str().unwrap()];
    let write = |cleared: &str| fs::write(dataset.path().join("reviews.csv"), reviews(cleared)).unwrap();
    write("");
    index.run(&words).code(0);
    let strict = [&words[..], &["--reviews", "strict"]].concat();
    let report = index.run(&strict).code(1).out();
    let remedy = "look at it, then write `true` if it may count, or reject it in `status`";
    assert!(
        report.contains(&format!(
            "error: reviews.csv:5: cleared: the review contradicts itself: ghosted, and responsiveness is 5; {remedy}\n"
        )),
        "{report}"
    );
    for line in 6..=10 {
        let problem = format!(
            "error: reviews.csv:{line}: cleared: the review does not count: more reviews at a time than usual; {remedy}\n"
        );
        assert!(report.contains(&problem), "{problem}\n{report}");
    }
    assert!(report.contains("rejected, 6 errors"), "{report}");
    let json: Value = serde_json::from_str(&index.run(&[&strict[..], &["--json"]].concat()).code(1).out()).unwrap();
    assert_eq!(
        (&json["code"], &json["error_count"], &json["errors"][0]["line"]),
        (&"dataset_refused".into(), &6.into(), &5.into())
    );
    write("true");
    index.run(&strict).code(0);
}

#[test]
fn lines_are_those_of_the_file_however_they_end() {
    let index = Index::new();
    for line_end in ["\n", "\r\n"] {
        let dataset = extended("firms.csv", "\nelm,Elm,,,,\"two\nlines\",,,,,,,,\n\nfir,Fir,,,,,Wakanda,,,,,,,\n");
        let path = dataset.path().join("firms.csv");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace('\n', line_end)).unwrap();
        let checked = index.run(&["check", "--dataset", dataset.path().to_str().unwrap()]).code(1).out();
        let problem = format!("error: firms.csv:{}: country: \"Wakanda\"", text.matches('\n').count());
        assert!(checked.contains(&problem), "expected {problem}\nfound {checked}");
    }
}

#[test]
fn the_memory_of_a_build_does_not_grow_with_its_texts() {
    const REVIEWS: usize = 3_200;
    const CHARACTERS: usize = 20_000;
    let reviews: String = (0..REVIEWS)
        .map(|number| {
            let body = format!("Review {number}. ").repeat(CHARACTERS / 20);
            format!("long-{number},birch-lane,seed,5,5,4,4,false,Long,{body:.<CHARACTERS$},approved,2026-03-01\n")
        })
        .collect();
    let peak = |dataset: &Path| -> Option<u64> {
        let index = Index::new();
        let words = ["build", "--dataset", dataset.to_str().unwrap()];
        let mut build = index.command(&words).stdout(Stdio::null()).spawn().unwrap();
        let mut peak = None;
        loop {
            // In this order: what a process used that has ended is not known.
            peak = peak.max(resident(build.id()));
            if let Some(status) = build.try_wait().unwrap() {
                assert!(status.success());
                return peak;
            }
            sleep(Duration::from_millis(2));
        }
    };
    let (without, with) = (peak(&small()), peak(extended("reviews.csv", &reviews).path()));
    let Some((without, with)) = without.zip(with) else {
        return eprintln!("skipped: this system does not say what memory a process uses");
    };
    let (grown, texts) = (with.saturating_sub(without) / 1024, reviews.len() >> 20);
    assert!(grown < texts as u64 / 2, "a build with {texts} MiB of texts takes {grown} MiB more");
}

/// The slugs that a search of the active release finds.
fn found(index: &Index, kind: &str, query: &str) -> Vec<String> {
    let found = index.run(&["search", "--json", "--kind", kind, query]).json(0);
    let matches = found["matches"].as_array().unwrap();
    matches.iter().map(|found| found["slug"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn aliases_of_the_file_are_searched_and_served() {
    let index = Index::new();
    let lines =
        "kind,slug,alias,source\nfirm,ostrava-ventures,Silesian Seed,a test\nperson,li-na-moss,Moss Quillfeather,\n";
    let dataset = extended("aliases.csv", lines);
    assert_eq!(index.build_json(dataset.path())["known_aliases"], 0);
    assert_eq!(found(&index, "firms", "silesian seed"), ["ostrava-ventures"]);
    assert_eq!(found(&index, "people", "moss quillfeather")[0], "li-na-moss");
    let release = index.releases().open(version("2026-11-20.1")).unwrap();
    let snapshot = release.catalog.snapshot();
    let row = snapshot.find(Table::Firms, "ostrava-ventures").unwrap();
    let record = snapshot.record(Table::Firms, row);
    let aliases = record.value(Table::Firms.field_index("aliases"));
    assert_eq!(*aliases, *br#"["Silesian Seed"]"#);
}

#[test]
fn a_well_known_alias_is_given_by_the_website() {
    let index = Index::new();
    let dataset = changed("2026-11-20.1", "firms.csv", "https://birchlane.example", "https://www.kpcb.com/team");
    let built = index.build_json(dataset.path());
    assert!(built["known_aliases"].as_u64().unwrap() > 0);
    assert_eq!(found(&index, "firms", "kpcb")[0], "birch-lane");
    let text = index.build(dataset.path()).code(0).out();
    assert!(text.contains(&format!("  known aliases added: {}\n", built["known_aliases"])), "{text}");
}

#[test]
fn proposed_aliases_are_lines_of_the_file() {
    let index = Index::new();
    let dataset = changed("2026-11-20.1", "firms.csv", "Ostrava Ventures,", "Ostrava Ventures (OV),");
    let path = dataset.path().to_str().unwrap();
    let proposed = index.run(&["aliases", "--dataset", path]).code(0).out();
    let line = "firm,ostrava-ventures,OV,sure: abbreviation in brackets\n";
    assert!(proposed.starts_with(&format!("kind,slug,alias,source\n{line}")), "{proposed}");
    let json = index.run(&["aliases", "--json", "--dataset", path]).json(0);
    assert_eq!(json["candidates"][0]["alias"], "OV");
    assert_eq!(json["candidates"][0]["sureness"], "sure");
    assert_eq!(json["total"], proposed.lines().count() - 1);

    // The output is a valid file, after which nothing is left to propose.
    fs::write(dataset.path().join("aliases.csv"), proposed).unwrap();
    index.run(&["check", "--dataset", path]).code(0);
    assert_eq!(index.run(&["aliases", "--dataset", path]).code(0).out(), "kind,slug,alias,source\n");
    fs::write(dataset.path().join("aliases.csv"), "kind,slug\n").unwrap();
    assert_eq!(index.run(&["aliases", "--json", "--dataset", path]).json(1)["code"], "dataset_refused");
    assert_eq!(index.run(&["duplicates", "--json", "--dataset", path]).json(1)["code"], "dataset_refused");
}

#[test]
fn near_duplicates_are_listed_and_follow_their_main_record() {
    let index = Index::new();
    let dataset = extended("firms.csv", "birch-lane-2,Birch Lane,,vc,,,DE,Berlin,,,,,,\n");
    let path = dataset.path().to_str().unwrap();
    let listed = index.run(&["duplicates", "--dataset", path]).code(0).out();
    let line = "firm birch-lane-2 (Birch Lane) of birch-lane (Birch Lane Capital): same name; same city\n";
    assert_eq!(
        listed,
        format!("{line}firms: 1 near-duplicate\nstartups: 0 near-duplicates\npeople: 0 near-duplicates\n")
    );
    let json = index.run(&["duplicates", "--json", "--dataset", path]).json(0);
    let firms = &json["duplicates"]["firms"];
    assert_eq!(firms[0]["record"], serde_json::json!({ "slug": "birch-lane-2", "name": "Birch Lane" }));
    assert_eq!(firms[0]["main"]["slug"], "birch-lane");
    assert_eq!(json["duplicates"]["people"], serde_json::json!([]));

    index.build(dataset.path()).code(0);
    for query in ["birch lane", "Birch Lane", "birhc lane", "birch la"] {
        assert_eq!(found(&index, "firms", query), ["birch-lane", "birch-lane-2"], "{query}");
    }
}

#[test]
fn firms_of_one_portfolio_that_never_invest_together_are_one_house() {
    let index = Index::new();
    let dataset = copy_as(&small(), "2026-11-20.1");
    let add = |file: &str, lines: String| {
        let path = dataset.path().join(file);
        let before = fs::read_to_string(&path).unwrap();
        fs::write(path, before + &lines).unwrap();
    };
    add("firms.csv", "tidewick,Tidewick Group,,vc,,,,,,,,,,\n".into());
    let startup = |number: u32| format!("wharf-{number},Wharf {number},,,,,,,,,\n");
    add("startups.csv", (0..6).map(startup).collect());
    let rounds = |firm: &str, count: u32| -> String {
        (0..count)
            .map(|number| format!("{firm}-{number},wharf-{number},seed,,2020-05-0{},,{firm}\n", number + 1))
            .collect()
    };
    add("funding_rounds.csv", rounds("zoe-angels", 6) + &rounds("tidewick", 5));
    let proposed = || {
        let out = index.run(&["aliases", "--dataset", dataset.path().to_str().unwrap()]).code(0).out();
        out.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let source = "probable: has 5 of the 5 startups of tidewick and no common round";
    assert_eq!(proposed(), [format!("firm,zoe-angels,Tidewick Group,{source}")]);
    add("funding_rounds.csv", "both,wharf-5,seed,,2021-01-01,,tidewick|zoe-angels\n".into());
    assert_eq!(proposed(), Vec::<String>::new());
}
