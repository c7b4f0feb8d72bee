//! Invalid datasets, each with one fault: each is rejected with its location and a message, and the previous release stays
//! active.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use data::import::DatasetInput;
use data::import::meta::MetaValues;
use data::{DiagnosticReport, NoProgress, Severity, Table, check, compile};
use release::ReleaseStore;
use tempfile::TempDir;
use venturedex::cli::indexer::IndexerExit;

use crate::support::dataset_faults::{Edit, FAULTS, WARNINGS};
use crate::support::harness::files_below;

/// A small dataset without a fault. The first firm takes two lines, so that line numbers differ from row numbers; nothing
/// refers to the last sector, firm and startup, so that faults in their slugs cause no other errors.
const VALID: [(&str, &str); 8] = [
    (
        "snapshot.toml",
        "version = \"2026-01-31.1\"\n\
         released_on = \"2026-01-31\"\n\
         title = \"A small dataset\"\n\
         source = \"Made by a test\"\n\
         license = \"CC0-1.0\"\n",
    ),
    (
        "sectors.csv",
        "slug,name,parent,description\n\
         fintech,Fintech,,Money\n\
         payments,Payments,fintech,\n\
         cards,Cards,payments,Plastic\n\
         health,Health,,Care\n\
         pets,Pets,,Animals\n",
    ),
    (
        "firms.csv",
        "slug,name,aliases,kind,website,description,country,city,founded_year,stages,sectors,check_min_usd,check_max_usd,aum_usd\n\
         alder-capital,Alder Capital,AC|Alder,vc,https://alder.example,\"A fund,\n\
         of \"\"people\"\"\",DE,Berlin,2010,seed|series-a,fintech|health,100000,500000,90000000\n\
         birch-fund,Birch Fund,,angel-network,,,FR,,1999,,,,,\n\
         cedar-bank,Cedar Bank,,bank,,,,,,debt,cards,,,\n\
         dunlin-club,Dunlin Club,,angel-network,,,PT,Lisboa,,,,,,\n",
    ),
    (
        "startups.csv",
        "slug,name,aliases,website,description,country,city,founded_year,stage,sectors,status\n\
         tidewick,Tidewick,,https://tidewick.example,Tills,GB,London,2018,series-a,payments|cards,operating\n\
         lomar,Lomar,Lo,,,,,,,health,closed\n\
         oxbow,Oxbow,,,Boats,,,,,,\n",
    ),
    (
        "funding_rounds.csv",
        "id,startup,stage,amount_usd,announced_on,lead_investors,investors\n\
         r-1,tidewick,seed,750000,2019-05-04,alder-capital,birch-fund\n\
         r-2,tidewick,series-a,6000000,2021-02-28,,alder-capital|cedar-bank\n\
         r-3,lomar,grant,,,,\n",
    ),
    (
        "people.csv",
        "slug,name,title,organization_kind,organization,country\n\
         ada-birchden,Ada Birchden,Partner,firm,birch-fund,FR\n\
         olu-tanner,Olu Tanner,CEO,startup,lomar,\n",
    ),
    (
        "reviews.csv",
        "id,firm,stage,rating,responsiveness,fairness,value_add,ghosted,title,body,status,created_on,role,contact_month,\
         proof,author,author_since,reply,replied_on,disputed_on,cleared\n\
         v-1,alder-capital,seed,5,4,3,2,false,Fine,Quick and fair,approved,2025-10-01,founder,2025-09,email,\
         0123456789abcdef,2025-08-01,Thank you,2025-10-20,2025-12-01,false\n\
         v-2,birch-fund,,1,,,,true,,,pending,2025-11-30,,,,,,,,,\n",
    ),
    (
        "aliases.csv",
        "kind,slug,alias,source\n\
         firm,birch-fund,Birchwood,Its website\n\
         startup,tidewick,Tidewick Tills,\n\
         person,ada-birchden,A. B. Birchden,Her book\n",
    ),
];

type Files = BTreeMap<&'static str, Vec<u8>>;

fn valid() -> Files {
    VALID.iter().map(|(file, text)| (*file, text.as_bytes().to_vec())).collect()
}

/// Replaces `from`, which occurs in the file once, by `to`.
fn swap(files: &mut Files, file: &'static str, from: &str, to: &[u8]) {
    let text = std::str::from_utf8(&files[file]).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{file} must contain {from:?} once");
    let (before, after) = text.split_once(from).unwrap();
    let changed = [before.as_bytes(), to, after.as_bytes()].concat();
    files.insert(file, changed);
}

fn edited(edit: &Edit) -> Files {
    let mut files = valid();
    match *edit {
        Edit::Swap(file, from, to) => swap(&mut files, file, from, to.as_bytes()),
        Edit::Bytes(file, from, to) => swap(&mut files, file, from, to),
        Edit::Whole(file, text) => {
            files.insert(file, text.as_bytes().to_vec());
        }
        Edit::Remove(file) => {
            files.remove(file);
        }
    }
    files
}

fn written(files: &Files) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, bytes) in files {
        fs::write(folder.path().join(file), bytes).unwrap();
    }
    folder
}

fn messages(report: &DiagnosticReport, severity: Severity) -> Vec<String> {
    report.problems.iter().filter(|problem| problem.severity == severity).map(ToString::to_string).collect()
}

/// Runs `indexer build`; returns its exit code and output.
fn build(dataset: &Path, index: &Path) -> (Option<i32>, String) {
    let mut indexer = Command::new(env!("CARGO_BIN_EXE_indexer"));
    indexer.arg("build").arg("--dataset").arg(dataset).arg("--index").arg(index);
    let output = indexer.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// Every file of an index except the lock.
fn index_files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let is_lock = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains("lock"));
    let files = files_below(folder).into_iter().filter(|path| !is_lock(path));
    files.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

#[test]
fn a_valid_dataset_has_no_problems() {
    let report = check(written(&valid()).path(), &NoProgress);
    assert_eq!(report.problems, []);
    // Windows line endings and a byte order mark are accepted.
    let mut files = valid();
    for (file, bytes) in files.iter_mut().filter(|(file, _)| file.ends_with(".csv")) {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = format!("\u{feff}{}", text.replace('\n', "\r\n")).into_bytes();
        assert!(bytes.len() > text.len(), "{file}");
    }
    let report = check(written(&files).path(), &NoProgress);
    assert_eq!(report.problems, []);
}

#[test]
fn a_dataset_may_lack_aliases() {
    let mut files = valid();
    files.remove("aliases.csv");
    assert_eq!(check(written(&files).path(), &NoProgress).problems, []);
}

#[test]
fn the_number_of_aliases_of_a_record_is_limited() {
    let problems = |count: usize| {
        let mut files = valid();
        let aliases: Vec<String> = (0..count).map(|alias| format!("firm,alder-capital,a{alias},\n")).collect();
        files.insert("aliases.csv", format!("kind,slug,alias,source\n{}", aliases.concat()).into_bytes());
        messages(&check(written(&files).path(), &NoProgress), Severity::Error)
    };
    // Two are in the column of its record.
    assert!(problems(998).is_empty());
    assert_eq!(problems(999), ["aliases.csv:1000: slug: has more than 1000 aliases; remove some"]);
}

#[test]
fn every_fault_is_rejected_with_its_location_and_message() {
    let mut wrong = Vec::new();
    for fault in FAULTS {
        let folder = written(&edited(&fault.edit));
        let report = check(folder.path(), &NoProgress);
        let errors = messages(&report, Severity::Error);
        if errors != fault.messages {
            wrong.push(format!("{}:\n  reported {errors:#?}\n  expected {:#?}", fault.what, fault.messages));
        }
        assert!(compile(folder.path(), &NoProgress).is_err(), "{} compiles", fault.what);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FAULTS.len(), wrong.join("\n"));
    assert!(FAULTS.len() >= 50);
}

/// The columns that DATASET.md requires.
const REQUIRED: [(&str, &str); 7] = [
    ("sectors.csv", "slug,name"),
    ("firms.csv", "slug,name"),
    ("startups.csv", "slug,name"),
    ("funding_rounds.csv", "id,startup"),
    ("people.csv", "slug,name,organization_kind,organization"),
    ("reviews.csv", "id,firm,rating,status,created_on"),
    ("aliases.csv", "kind,slug,alias"),
];

#[test]
fn every_missing_column_is_reported_if_it_is_required() {
    for (file, text) in VALID.iter().filter(|(file, _)| file.ends_with(".csv")) {
        let header = text.lines().next().unwrap();
        let required = REQUIRED.iter().find(|(name, _)| name == file).unwrap().1;
        for column in header.split(',') {
            let renamed: Vec<&str> =
                header.split(',').map(|name| if name == column { "other" } else { name }).collect();
            let mut files = valid();
            swap(&mut files, file, header, renamed.join(",").as_bytes());
            let report = check(written(&files).path(), &NoProgress);
            let errors = messages(&report, Severity::Error);
            if required.split(',').any(|name| name == column) {
                let expected = format!("{file}:1: no column {column}; required: {}; ", required.replace(',', ", "));
                assert!(errors.len() == 1 && errors[0].starts_with(&expected), "{errors:?}");
            } else {
                assert_eq!(errors, [""; 0], "{file} without {column}");
            }
            let warnings = messages(&report, Severity::Warning);
            assert!(warnings.contains(&format!("{file}:1: unknown column \"other\"")), "{warnings:?}");
        }
    }
}

/// A dataset of these files alone.
fn dataset(files: &[(&'static str, &str)]) -> TempDir {
    written(&files.iter().map(|(file, text)| (*file, text.as_bytes().to_vec())).collect())
}

#[test]
fn a_list_of_firms_is_a_dataset() {
    let folder = dataset(&[
        ("snapshot.toml", "version = \"2026-11-20\"\n"),
        ("firms.csv", "name,slug,country,website\nAlder,alder,DE,https://alder.example\nBirch,birch,,\n"),
    ]);
    let compiled = compile(folder.path(), &NoProgress).unwrap_or_else(|report| panic!("{:?}", report.problems));
    assert_eq!((compiled.rows(Table::Firms), compiled.rows(Table::Startups), compiled.rows(Table::Sectors)), (2, 0, 0));
    assert_eq!(compiled.report.problems, []);
    // Without a version: one message, which says how to give one.
    std::fs::remove_file(folder.path().join("snapshot.toml")).unwrap();
    let errors = messages(&check(folder.path(), &NoProgress), Severity::Error);
    assert!(errors.len() == 1 && errors[0].contains("give --release"), "{errors:?}");
    let meta = MetaValues { version: "2026-11-21.2".parse().ok(), title: Some("Ours".into()), ..MetaValues::default() };
    let Ok(compiled) =
        compile(DatasetInput { folder: folder.path(), format: None, meta, scratch: None, reviews: None }, &NoProgress)
    else {
        panic!("it is rejected")
    };
    assert_eq!(compiled.version().to_string(), "2026-11-21.2");
}

#[test]
fn what_a_dataset_needs_is_one_message() {
    let folder = dataset(&[("snapshot.toml", "version = \"2026-11-20\"\n")]);
    let errors = messages(&check(folder.path(), &NoProgress), Severity::Error);
    assert_eq!(errors.len(), 1, "{errors:?}");
    for (file, columns) in REQUIRED.iter().filter(|(file, _)| *file != "aliases.csv") {
        assert!(errors[0].contains(&format!("{file} ({columns})")), "{errors:?}");
    }
    let folder = dataset(&[
        ("snapshot.toml", "version = \"2026-11-20\"\n"),
        ("firms.csv", "Name,Website,City,Country\nAlder,alder.example,Berlin,Germany\n"),
    ]);
    let report = check(folder.path(), &NoProgress);
    let errors = messages(&report, Severity::Error);
    assert!(
        errors.len() == 1
            && errors[0].starts_with("firms.csv:1: no columns slug, name; required: slug, name; optional: "),
        "{errors:?}"
    );
    let warnings = messages(&report, Severity::Warning);
    assert_eq!(warnings[0], "firms.csv:1: unknown column \"Name\"; did you mean `name`?");
}

#[test]
fn a_mistyped_file_name_is_an_error_and_a_strange_one_a_warning() {
    let files = [
        ("snapshot.toml", "version = \"2026-11-20\"\n"),
        ("firms.csv", "slug,name\nalder,Alder\n"),
        ("Funding-Round.csv", "id,startup,stage\n"),
        ("notes.csv", "a,b\n"),
    ];
    let report = check(dataset(&files).path(), &NoProgress);
    assert_eq!(
        messages(&report, Severity::Error),
        ["Funding-Round.csv: is no file of a dataset; rename it to funding_rounds.csv"]
    );
    assert_eq!(messages(&report, Severity::Warning), ["notes.csv: is no file of a dataset, and not read"]);
}

#[test]
fn a_long_file_is_read_whole_and_its_problems_in_the_order_of_its_lines() {
    const ROWS: usize = 10_000;
    let meta = ("snapshot.toml", "version = \"2026-11-20\"\n");
    let firms = |row: &dyn Fn(usize) -> String| format!("slug,name\n{}", (0..ROWS).map(row).collect::<String>());
    let right = |row: usize| format!("firm-{row},Firm {row}\n");
    let compiled = compile(dataset(&[meta, ("firms.csv", &firms(&right))]).path(), &NoProgress);
    let compiled = compiled.unwrap_or_else(|report| panic!("{:?}", report.problems));
    assert_eq!(compiled.rows(Table::Firms), ROWS);
    let broken = firms(&|row| match row % 1_000 {
        999 => format!("firm-{row}\n"),
        500 => format!("firm-{},Firm {row}\n", row - 1),
        _ => right(row),
    });
    let expected = (0..ROWS).filter_map(|row| match row % 1_000 {
        999 => Some(format!("firms.csv:{}: 1 field, the header has 2", row + 2)),
        500 => Some(format!("firms.csv:{}: slug: \"firm-{}\" is already used in line {}", row + 2, row - 1, row + 1)),
        _ => None,
    });
    let report = check(dataset(&[meta, ("firms.csv", &broken)]).path(), &NoProgress);
    assert_eq!(messages(&report, Severity::Error), expected.collect::<Vec<_>>());
}

#[test]
fn references_to_an_absent_table_are_reported_once() {
    let folder = dataset(&[
        ("snapshot.toml", "version = \"2026-11-20\"\n"),
        ("people.csv", "slug,name,organization_kind,organization\na,A,firm,x\nb,B,firm,y\nc,C,startup,z\n"),
    ]);
    assert_eq!(
        messages(&check(folder.path(), &NoProgress), Severity::Error),
        [
            "people.csv:2: organization: no firm has the slug \"x\": the dataset has no firms.csv",
            "people.csv:4: organization: no startup has the slug \"z\": the dataset has no startups.csv",
        ]
    );
}

#[test]
fn all_faults_of_a_dataset_are_reported_at_once() {
    let mut files = valid();
    swap(&mut files, "snapshot.toml", "2026-01-31.1", b"soon");
    swap(&mut files, "firms.csv", "100000,500000", b"5m,lots");
    swap(&mut files, "firms.csv", ",bank,", b",banc,");
    swap(&mut files, "reviews.csv", ",1,,,,true", b",7,,,,maybe");
    let report = check(written(&files).path(), &NoProgress);
    let locations: Vec<_> = report
        .problems
        .iter()
        .map(|problem| (problem.file.as_str(), problem.line, problem.column.as_deref().unwrap_or("")))
        .collect();
    assert_eq!(
        locations,
        [
            ("snapshot.toml", Some(1), "version"),
            ("firms.csv", Some(2), "check_min_usd"),
            ("firms.csv", Some(2), "check_max_usd"),
            ("firms.csv", Some(5), "kind"),
            ("reviews.csv", Some(3), "rating"),
            ("reviews.csv", Some(3), "ghosted"),
        ]
    );
}

#[test]
fn suspicious_values_are_warnings_and_not_errors() {
    let mut wrong = Vec::new();
    for fault in WARNINGS {
        let folder = written(&edited(&fault.edit));
        let report = check(folder.path(), &NoProgress);
        assert!(!report.has_errors(), "{}: {:?}", fault.what, messages(&report, Severity::Error));
        let warnings = messages(&report, Severity::Warning);
        if warnings != fault.messages {
            wrong.push(format!("{}:\n  reported {warnings:#?}\n  expected {:#?}", fault.what, fault.messages));
        }
        assert!(compile(folder.path(), &NoProgress).is_ok(), "{} does not compile", fault.what);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), WARNINGS.len(), wrong.join("\n"));
}

/// Columns with a valid value of the dataset, and the most characters that are accepted instead.
const LENGTHS: [(&str, &str, &str, usize); 13] = [
    ("sectors.csv", "description", "Animals", 20_000),
    ("firms.csv", "slug", "dunlin-club", 200),
    ("firms.csv", "name", "Dunlin Club", 200),
    ("firms.csv", "city", "Lisboa", 200),
    ("startups.csv", "aliases", ",Lo,", 200),
    ("startups.csv", "description", "Boats", 20_000),
    ("funding_rounds.csv", "id", "r-3", 200),
    ("people.csv", "title", "Partner", 200),
    ("reviews.csv", "title", "Fine", 200),
    ("reviews.csv", "body", "Quick and fair", 20_000),
    ("snapshot.toml", "license", "CC0-1.0", 1_000),
    ("aliases.csv", "alias", "Tidewick Tills", 200),
    ("aliases.csv", "source", "Her book", 200),
];

#[test]
fn the_length_of_a_value_is_limited() {
    for (file, column, value, max) in LENGTHS {
        let problems = |length: usize| {
            let mut files = valid();
            let letter = if matches!(column, "slug" | "id") { "x" } else { "ü" };
            let comma = if value.starts_with(',') { "," } else { "" };
            swap(&mut files, file, value, format!("{comma}{}{comma}", letter.repeat(length)).as_bytes());
            check(written(&files).path(), &NoProgress).problems
        };
        assert_eq!(problems(max), [], "{file} {column}");
        let problems: Vec<String> = problems(max + 1).iter().map(ToString::to_string).collect();
        let [problem] = problems.as_slice() else { panic!("{file} {column}: {problems:?}") };
        let characters = format!("has {} characters; shorten it to at most {max}", max + 1);
        assert!(problem.starts_with(file) && problem.ends_with(&characters), "{problem}");
    }
    let mut files = valid();
    let url = format!("https://alder.example/{}", "x".repeat(2_000));
    swap(&mut files, "firms.csv", "https://alder.example", url.as_bytes());
    let errors = messages(&check(written(&files).path(), &NoProgress), Severity::Error);
    assert!(errors[0].ends_with("has 2022 characters; shorten it to at most 2000"), "{errors:?}");
}

#[test]
fn the_length_of_a_list_is_limited() {
    let problems = |count: usize| {
        let mut files = valid();
        let aliases: Vec<String> = (0..count).map(|alias| format!("a{alias}")).collect();
        swap(&mut files, "firms.csv", "AC|Alder", aliases.join("|").as_bytes());
        messages(&check(written(&files).path(), &NoProgress), Severity::Error)
    };
    assert!(problems(1_000).is_empty());
    assert_eq!(problems(1_001), ["firms.csv:2: aliases: has 1001 values; shorten the list to at most 1000"]);
}

#[test]
fn the_previous_release_stays_active_after_every_fault() {
    let index = tempfile::tempdir().unwrap();
    assert_eq!(build(written(&valid()).path(), index.path()).0, Some(IndexerExit::Success as i32));
    let releases = ReleaseStore::at(index.path());
    let served = releases.current().unwrap();
    assert_eq!(served.map(|version| version.to_string()).as_deref(), Some("2026-01-31.1"));
    let before = index_files(index.path());
    for fault in FAULTS {
        let mut files = edited(&fault.edit);
        // A later release, so that only its fault can stop it.
        if let Some(snapshot) = files.get_mut("snapshot.toml") {
            let text = String::from_utf8_lossy(snapshot).replace("2026-01-31.1", "2026-01-31.2");
            if std::str::from_utf8(snapshot).is_ok() {
                *snapshot = text.into_bytes();
            }
        }
        let (code, report) = build(written(&files).path(), index.path());
        assert_eq!(code, Some(IndexerExit::Rejected as i32), "{}", fault.what);
        for message in fault.messages.iter().filter(|message| !message.contains("2026-01-31.1")) {
            assert!(report.contains(message), "{}: {report}", fault.what);
        }
        assert_eq!(releases.current().unwrap(), served, "{}", fault.what);
        assert!(index_files(index.path()) == before, "{} left files behind", fault.what);
    }
    let open = releases.open(served.unwrap()).unwrap();
    open.smoke_test().unwrap();
}
