//! `indexer resolve`: sources, decisions and reviews as an operator meets them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const HEADER: &str = "entity,field,value,original,source_key,first_seen,last_seen\n";

/// Two sources: `lens` and `register` agree in Zyntrix, and have firms of one name that may be the same.
fn sources() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    add_source(
        folder.path(),
        "lens",
        &[
            "firm:1,city,Berlin",
            "firm:1,country,DE",
            "firm:1,name,Zyntrix Ventures",
            "firm:1,website,https://zyntrix.example",
            "firm:2,country,DE",
            "firm:2,name,Orbit Works",
            "firm:3,id:lei,529900T8BM49AURSDO55",
            "firm:3,name,Kite & Loop",
            "person:1,name,Ada Quill",
            "person:1,organization,firm:1",
            "round:1,amount_usd,1250000",
            "round:1,announced_on,2024-05-17",
            "round:1,investors,firm:1",
            "round:1,stage,seed",
            "round:1,startup,startup:1",
            "startup:1,name,Merula Foods",
        ],
    );
    add_source(
        folder.path(),
        "register",
        &[
            "firm:1,city,\"Berlin, Germany\"",
            "firm:1,name,ZYNTRIX VENTURES GmbH",
            "firm:2,name,Orbit Works",
            "person:1,name,Ada Quill",
            "person:1,organization,firm:1",
            "round:7,amount_usd,1250000",
            "round:7,announced_on,2024-05-17",
            "round:7,stage,seed",
            "round:7,startup,startup:9",
            "startup:9,name,Merula Foods Inc.",
        ],
    );
    folder
}

fn add_source(folder: &Path, id: &str, statements: &[&str]) {
    let folder = folder.join(id);
    fs::create_dir(&folder).unwrap();
    let about = format!(
        "id = \"{id}\"\ntitle = \"{id}\"\nlicense = \"CC0-1.0\"\nurl = \"\"\npriority = 10\nimported_on = \"2026-11-20\"\n"
    );
    fs::write(folder.join("source.toml"), about).unwrap();
    let lines: String = statements.iter().map(|line| format!("{line},,key,2026-11-20,2026-11-20\n")).collect();
    fs::write(folder.join("statements.csv"), format!("{HEADER}{lines}")).unwrap();
}

/// A source after two complete imports; each statement has the number of the last import that stated it.
fn add_imported_twice(folder: &Path, id: &str, statements: &[(&str, u32)]) {
    add_source(folder, id, &[]);
    let folder = folder.join(id);
    let about = fs::read_to_string(folder.join("source.toml")).unwrap();
    fs::write(folder.join("source.toml"), format!("{about}imports = 2\nlast_complete = 2\n")).unwrap();
    let lines: String =
        statements.iter().map(|(line, import)| format!("{line},,key,2026-11-20,2026-11-20,{import}\n")).collect();
    fs::write(folder.join("statements.csv"), format!("{},last_import\n{lines}", HEADER.trim_end())).unwrap();
}

fn run(folder: &Path, words: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
    command.arg("resolve").arg("--sources").arg(folder).args(words);
    command.env("USER", "ada").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn resolved(folder: &Path) -> Value {
    let output = run(folder, &["--json"], "");
    assert!(output.status.success(), "{}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The ids of a list of pairs.
fn pairs(list: &Value) -> Vec<(String, String)> {
    let id = |pair: &Value, side: &str| pair[side].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(|pair| (id(pair, "left"), id(pair, "right"))).collect()
}

fn pair(left: &str, right: &str) -> (String, String) {
    (left.to_owned(), right.to_owned())
}

#[test]
fn sources_are_resolved_with_evidence() {
    let folder = sources();
    let found = resolved(folder.path());
    let mut merged = pairs(&found["merged"]);
    merged.sort();
    let expected = [("firm:1", "firm:1"), ("person:1", "person:1"), ("startup:1", "startup:9")];
    assert_eq!(merged, expected.map(|(left, right)| pair(&format!("lens/{left}"), &format!("register/{right}"))));
    assert_eq!(pairs(&found["review"]), [pair("lens/firm:2", "register/firm:2")]);
    let evidence = &found["review"][0]["evidence"];
    assert_eq!(evidence[0]["name"], "same name");
    // Ten points double the odds.
    let points: f64 = evidence.as_array().unwrap().iter().map(|found| found["points"].as_f64().unwrap()).sum();
    let odds = ((points + found["review"][0]["base"].as_f64().unwrap()) / 10.0).exp2();
    let score = found["review"][0]["score"].as_f64().unwrap();
    assert!((odds / (1.0 + odds) - score).abs() < 0.05, "{score}, {odds}");

    let summary = text(&run(folder.path(), &[], ""));
    assert!(summary.contains("firms: 5 records; 2 are 1 together; 1 pair to review\n"), "{summary}");
    assert!(summary.contains("decisions: 0 same, 0 different, 0 unsure\n"), "{summary}");
    let verbose = text(&run(folder.path(), &["--verbose"], ""));
    assert!(
        verbose.contains("merge Zyntrix Ventures (lens/firm:1) = ZYNTRIX VENTURES GmbH (register/firm:1)\n"),
        "{verbose}"
    );
}

#[test]
fn what_was_corrected_is_no_evidence_and_what_is_gone_keeps_its_place() {
    let folder = tempfile::tempdir().unwrap();
    add_imported_twice(
        folder.path(),
        "lens",
        &[
            ("firm:1,aliases,Orbit Works", 1),
            ("firm:1,id:lei,529900T8BM49AURSDO55", 1),
            ("firm:1,id:lei,5493001KJTIIGC8Y1R12", 2),
            ("firm:1,name,Zyntrix Ventures", 2),
            ("firm:2,country,DE", 1),
            ("firm:2,name,Quarrel Capital", 1),
            ("firm:2,website,https://quarrel.example", 1),
            ("round:1,amount_usd,1250000", 2),
            ("round:1,amount_usd,9000000", 1),
            ("round:1,announced_on,2024-05-17", 2),
            ("round:1,stage,seed", 2),
            ("round:1,startup,startup:1", 2),
            ("round:2,amount_usd,1250000", 1),
            ("round:2,announced_on,2024-05-18", 1),
            ("round:2,stage,seed", 1),
            ("round:2,startup,startup:1", 1),
            ("startup:1,city,Oslo", 2),
            ("startup:1,name,Merula Foods", 2),
            ("startup:1,website,https://merula.example", 2),
        ],
    );
    add_source(
        folder.path(),
        "register",
        &[
            "firm:1,id:lei,529900T8BM49AURSDO55",
            "firm:1,name,Orbit Works",
            "firm:2,country,DE",
            "firm:2,name,Quarrel Capital",
            "firm:2,website,https://quarrel.example",
            "round:7,amount_usd,1250000",
            "round:7,announced_on,2024-05-18",
            "round:7,stage,seed",
            "round:7,startup,startup:9",
            "startup:9,city,Oslo",
            "startup:9,name,Merula Foods",
            "startup:9,website,https://merula.example",
        ],
    );
    let mut merged = pairs(&resolved(folder.path())["merged"]);
    merged.sort();
    let expected = [pair("lens/firm:2", "register/firm:2"), pair("lens/startup:1", "register/startup:9")];
    assert_eq!(merged, expected, "by the values of the last import");
    let index = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
    command.args(["build", "--json", "--sources"]).arg(folder.path()).arg("--index").arg(index.path());
    let output = command.output().unwrap();
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        summary["counts"]["funding_rounds"], 1,
        "the round of the last import is that of the register: {summary}"
    );
    assert_eq!(summary["counts"]["firms"], 3);
}

#[test]
fn a_pair_is_not_reviewed_if_both_records_are_suppressed() {
    let folder = sources();
    let reviewed = |lines: &str| {
        fs::write(folder.path().join("suppressed.csv"), format!("entity,why\n{lines}")).unwrap();
        pairs(&resolved(folder.path())["review"])
    };
    assert_eq!(reviewed("lens/firm:2,request 12\n"), [pair("lens/firm:2", "register/firm:2")]);
    let shown = text(&run(folder.path(), &["--review"], ""));
    assert!(shown.contains("published    no: suppressed"), "{shown}");
    assert!(reviewed("lens/firm:2,request 12\nregister/firm:2,request 12\n").is_empty());
}

#[test]
fn a_review_keeps_each_decision_and_the_next_one_goes_on() {
    let folder = sources();
    let shown = text(&run(folder.path(), &["--review"], "x\nd two firms, of one name\n"));
    assert!(shown.contains("name         Orbit Works                              = Orbit Works\n"), "{shown}");
    assert!(shown.contains("`x` is not a key"), "{shown}");
    assert!(shown.contains("1 decision added to "), "{shown}");
    let kept = fs::read_to_string(folder.path().join("decisions.csv")).unwrap();
    let (header, line) = kept.split_once('\n').unwrap();
    assert_eq!(header, "left,right,decision,by,on,why");
    assert!(line.starts_with("lens/firm:2,register/firm:2,different,ada,20"), "{line}");
    assert!(line.ends_with(",\"two firms, of one name\"\n"), "{line}");

    assert!(pairs(&resolved(folder.path())["review"]).is_empty());
    let again = text(&run(folder.path(), &["--review"], "s\n"));
    assert!(again.contains("0 decisions added"), "{again}");
    assert_eq!(fs::read_to_string(folder.path().join("decisions.csv")).unwrap(), kept, "nothing is rewritten");

    // Another mind: the decision is taken back, and the pair is one.
    let more = "lens/firm:2,register/firm:2,same,ada,2026-11-21,\n";
    fs::write(folder.path().join("decisions.csv"), format!("{kept}{more}")).unwrap();
    let clusters = resolved(folder.path())["clusters"].clone();
    assert!(clusters.as_array().unwrap().contains(&json!(["lens/firm:2", "register/firm:2"])), "{clusters}");
}

/// Startups of which the first and last source agree with the second, but contradict each other: each is a pair to review.
fn contradictory_sources(startups: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (source, year) in [("first", "1990"), ("second", ""), ("third", "2020")] {
        let syllables = ["zyn", "mer", "quo", "tal", "vex", "lor"];
        let statements: Vec<String> = (0..startups)
            .flat_map(|number| {
                let [a, b, c] = [number / 30 % 6, number / 6 % 5, number % 6].map(|index| syllables[index]);
                let name = format!("{a}{b}{c}ia");
                let entity = format!("startup:{number:02}");
                let year = (!year.is_empty()).then(|| format!("{entity},founded_year,{year}"));
                let round = [("announced_on", "2024-05-17"), ("investors", "firm:1"), ("startup", &entity)]
                    .map(|(field, value)| format!("round:{number:02},{field},{value}"));
                let values = [("city", "Oslo"), ("name", &name), ("website", &format!("https://{name}.example"))]
                    .map(|(field, value)| format!("{entity},{field},{value}"));
                values.into_iter().chain(year).chain(round).collect::<Vec<_>>()
            })
            .chain(["firm:1,name,Quarrel Capital".to_owned()])
            .collect();
        let mut statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        statements.sort_unstable();
        add_source(folder.path(), source, &statements);
    }
    folder
}

#[test]
fn the_sample_of_a_batch_decides_the_rest_which_is_taken_back_at_once() {
    let folder = contradictory_sources(30);
    let decided = || {
        let kept = fs::read_to_string(folder.path().join("decisions.csv")).unwrap_or_default();
        kept.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let shown = text(&run(folder.path(), &["--review"], "b\ns\nz\nz\nq\n"));
    assert!(shown.contains("Batch 1 of 1, 30 pairs: startups: same name; for: "), "{shown}");
    assert!(shown.contains("30 pairs left in 1 batch, about 12 to see\n"), "{shown}");
    assert!(shown.contains("investors    Quarrel Capital                          = Quarrel Capital\n"), "{shown}");
    assert!(shown.contains("the sample of this batch does not decide the rest yet"), "{shown}");
    assert!(shown.contains("29 pairs left in 1 batch, about 11 to see\n"), "{shown}");
    assert!(shown.contains("1 decision taken back\n") && shown.contains("nothing to take back\n"), "{shown}");
    assert!(decided().is_empty(), "a decision that was taken back is in no file: {:?}", decided());

    let sample = "s\n".repeat(12);
    let shown = text(&run(folder.path(), &["--review"], &format!("{sample}b\nq\n")));
    let offer = "12 of 12 are the same: at most 5 of the other 18 (28 %) are expected to differ (95 %).\n\
                 b the other 18 are the same\n";
    assert!(shown.contains(offer), "{shown}");
    assert!(shown.contains("30 decisions added to ") && shown.contains("\n0 pairs left in 0 batches"), "{shown}");
    let rows = decided();
    let batch = |line: &&String| {
        line.contains("by batch, unseen: startups: same name") && line.contains("12 of 12 seen are the same")
    };
    assert_eq!((rows.len(), rows.iter().filter(batch).count()), (30, 18));
    assert!(rows[..12].iter().all(|line| line.ends_with(",")), "what was seen needs no reason: {rows:?}");

    // With the last step taken back, the rest is to be reviewed as before.
    fs::remove_file(folder.path().join("decisions.csv")).unwrap();
    let shown = text(&run(folder.path(), &["--review"], &format!("{sample}b\nz\n")));
    assert!(shown.contains("12 decisions added to "), "{shown}");
    assert_eq!(decided().len(), 12);
}

#[test]
fn contradictory_decisions_and_damaged_sources_are_rejected() {
    let folder = sources();
    let decisions = "left,right,decision,by,on,why\n\
                     lens/firm:1,lens/firm:2,same,ada,2026-11-20,\n\
                     lens/firm:2,lens/firm:3,same,ada,2026-11-20,\n\
                     lens/firm:3,lens/firm:1,different,ada,2026-11-20,\n";
    fs::write(folder.path().join("decisions.csv"), decisions).unwrap();
    let output = run(folder.path(), &[], "");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    let expected = "decisions.csv:4: decision: `different` contradicts the decisions that join the two: \
                    `lens/firm:3` = `lens/firm:2` (line 3) = `lens/firm:1` (line 2)";
    assert!(error.starts_with("error: ") && error.contains(expected), "{error}");

    fs::remove_file(folder.path().join("decisions.csv")).unwrap();
    fs::write(folder.path().join("lens/statements.csv"), format!("{HEADER}alder,name,Alder,,,2026-11-20,2026-11-20\n"))
        .unwrap();
    let output = run(folder.path(), &[], "");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("statements.csv:2: entity: \"alder\" is not an entity"), "{error}");
}

#[test]
fn duplicates_within_a_dataset_are_found_and_datasets_have_no_decisions() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("snapshot.toml"), "version = \"2026-11-20.1\"\nreleased_on = \"2026-11-20\"\n")
        .unwrap();
    let startups = "slug,name,website,city\nmerula,Merula Foods,https://merula.example,Oslo\n\
                    merula-2,\"Merula Foods, Inc.\",http://www.merula.example/about,Oslo\nkite,Kite,,\n";
    fs::write(folder.path().join("startups.csv"), startups).unwrap();
    let indexer = |words: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_indexer"))
            .arg("resolve")
            .arg("--dataset")
            .arg(folder.path())
            .args(words)
            .output()
    };
    let found: Value = serde_json::from_slice(&indexer(&["--json"]).unwrap().stdout).unwrap();
    assert_eq!(pairs(&found["merged"]), [pair("merula", "merula-2")]);
    let output = indexer(&["--review"]).unwrap();
    assert_eq!(output.status.code(), Some(2), "a review needs sources");
}

#[test]
fn a_build_of_sources_has_one_record_of_each_entity() {
    let folder = sources();
    let index = tempfile::tempdir().unwrap();
    let build = |release: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_indexer"));
        command.args(["build", "--json", "--force", "--release", release, "--sources"]).arg(folder.path());
        command.arg("--index").arg(index.path()).output().unwrap()
    };
    let counts = |output: Output| -> [u64; 4] {
        assert!(output.status.success(), "{}{}", text(&output), String::from_utf8_lossy(&output.stderr));
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        ["firms", "startups", "funding_rounds", "people"].map(|table| summary["counts"][table].as_u64().unwrap())
    };
    // The round of the merged startup is one, too.
    assert_eq!(counts(build("2026-11-20.1")), [4, 1, 1, 1]);
    let decisions = "left,right,decision,on\nlens/firm:2,register/firm:2,same,2026-11-20\n\
                     lens/startup:1,register/startup:9,different,2026-11-20\n";
    fs::write(folder.path().join("decisions.csv"), decisions).unwrap();
    assert_eq!(counts(build("2026-11-20.2")), [3, 2, 2, 1]);
    fs::write(
        folder.path().join("decisions.csv"),
        format!("{decisions}lens/firm:2,register/firm:2,unsure,2026-11-21\n"),
    )
    .unwrap();
    assert_eq!(counts(build("2026-11-20.3")), [4, 2, 2, 1]);
    let contradiction = "lens/firm:1,lens/firm:2,same,2026-11-20\nlens/firm:1,register/firm:2,different,2026-11-20\n";
    fs::write(folder.path().join("decisions.csv"), format!("{decisions}{contradiction}")).unwrap();
    let output = build("2026-11-20.4");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("contradicts the decisions that join the two"), "{}", text(&output));
}

#[test]
fn the_page_has_the_pairs_and_its_decisions_are_added_once() {
    let folder = sources();
    let files = tempfile::tempdir().unwrap();
    let page = files.path().join("review.html");
    let output = run(folder.path(), &["--page", page.to_str().unwrap(), "--by", "Ada <a@b.example>"], "");
    assert!(text(&output).starts_with("1 pair in "), "{output:?}");
    let html = fs::read_to_string(&page).unwrap();
    let (_, json) = html.split_once("id=\"data\">").unwrap();
    let review: Value = serde_json::from_str(json.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(
        (&review["columns"], &review["by"]),
        (&json!("left,right,decision,by,on,why"), &json!("Ada <a@b.example>"))
    );
    let batch = &review["batches"][0];
    assert_eq!(batch["title"], "firms: same name");
    let found = &batch["pairs"][0];
    assert_eq!((&found["left"], &found["right"]), (&json!("lens/firm:2"), &json!("register/firm:2")));
    assert_eq!(found["rows"][0]["sides"][0], json!({ "common": ["Orbit Works"] }));
    assert_eq!(found["rows"][1], json!({ "label": "country", "sides": [{ "other": ["Germany"] }, {}] }));
    assert!(!html.contains("<a@b.example>") && !html.contains("src=") && !html.contains("href=\"http"), "{html}");

    let decisions = files.path().join("saved.csv");
    let add = || run(folder.path(), &["--add", decisions.to_str().unwrap()], "");
    let line = |decision: &str| format!("lens/firm:2,register/firm:2,{decision},ada,2026-11-20,\"same, by phone\"\n");
    fs::write(&decisions, format!("left,right,decision,by,on,why\n{}", line("same"))).unwrap();
    assert!(text(&add()).starts_with("1 decision added to "));
    assert!(text(&add()).starts_with("0 decisions added to "), "a file is added once");
    let kept = fs::read_to_string(folder.path().join("decisions.csv")).unwrap();
    assert!(kept.ends_with(&line("same")), "{kept}");
    assert_eq!(
        text(&run(folder.path(), &["--page", page.to_str().unwrap()], "")).split(" in ").next(),
        Some("0 pairs")
    );

    // What contradicts an earlier decision is not added.
    let more = "lens/firm:1,register/firm:1,same,ada,2026-11-21,\nlens/firm:1,register/firm:2,same,ada,2026-11-21,\n\
                lens/firm:2,register/firm:1,different,ada,2026-11-21,\n";
    fs::write(&decisions, format!("left,right,decision,by,on,why\n{more}")).unwrap();
    let partial = add();
    assert_eq!(partial.status.code(), Some(1), "{partial:?}");
    let shown = text(&partial);
    assert!(shown.starts_with("2 decisions added to "), "{shown}");
    let left_out = "left out: decisions.csv: `lens/firm:2` and `register/firm:1` as different: `different` contradicts the \
                    decisions that join the two";
    assert!(shown.contains(left_out), "{shown}");
    assert!(fs::read_to_string(folder.path().join("decisions.csv")).unwrap().starts_with(&kept));
    fs::write(&decisions, "left,right,decision,by,on,why\nlens/firm:1,register/firm:1,equal,ada,2026-11-21,\n")
        .unwrap();
    assert!(text(&add()).contains("decision: \"equal\" is not"), "a file with a faulty line is rejected");
    let missing = run(folder.path(), &["--add", "nowhere.csv"], "");
    assert!(missing.status.code() == Some(1) && text(&missing).contains("nowhere.csv: file is missing"), "{missing:?}");
}
