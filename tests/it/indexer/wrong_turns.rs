//! Wrong turns of operators: each message says where to go.

use std::fs;
use std::process::{Command, Stdio};

/// The exit code and messages of a program in a folder.
fn ran(program: &str, folder: &std::path::Path, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(program);
    for variable in ["VENTUREDEX_DATASET", "VENTUREDEX_INDEX", "VENTUREDEX_DATA", "VENTUREDEX_STORE"] {
        command.env_remove(variable);
    }
    let output = command.current_dir(folder).args(words).stdin(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn each_wrong_turn_is_answered_with_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("firms.csv"), "Name,Website\nAlder,https://alder.example\n").unwrap();
    fs::write(folder.path().join("deals.xlsx"), "no workbook").unwrap();
    let [indexer, venturedex] = [env!("CARGO_BIN_EXE_indexer"), env!("CARGO_BIN_EXE_venturedex")];
    for (program, words, code, told) in [
        (indexer, "build --dataset firms.csv", 1, "indexer import --guess firms.csv > map.toml"),
        (indexer, "check --dataset firms.csv", 1, "a dataset is a folder"),
        (indexer, "import deals.xlsx --sources s", 1, "indexer import --guess deals.xlsx > map.toml"),
        (indexer, "import opnvc firms.csv --sources s", 1, "did you mean `openvc`?"),
        (indexer, "import --show venturedexx", 1, "did you mean `venturedex`?"),
        (indexer, "serve", 2, "`serve` is a command of venturedex"),
        (indexer, "list --dataset ds", 2, "`--dataset` is an option of `indexer check`"),
        (venturedex, "build --dataset ds", 2, "`build` is a command of indexer"),
        (venturedex, "account create --email ada@example.com", 1, "name the folder of `venturedex serve --data`"),
        (venturedex, "key list", 1, "name the folder of `venturedex serve --data`"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let (found, text) = ran(program, folder.path(), &words);
        assert!(found == Some(code) && text.contains(told), "{words:?}: {found:?}: {text}");
    }
    assert!(!folder.path().join("data").exists(), "only a server creates the store");
    assert!(!folder.path().join("s").exists());
}

#[test]
fn a_preset_that_is_shown_is_a_mapping_with_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let list = "Investor name,Website,Global HQ\nAlder,https://alder.example,\"Berlin, Germany\"\n";
    fs::write(folder.path().join("list.csv"), list).unwrap();
    let indexer = env!("CARGO_BIN_EXE_indexer");
    let (code, mapping) = ran(indexer, folder.path(), &["import", "--show", "openvc"]);
    assert_eq!(code, Some(0), "{mapping}");
    fs::write(folder.path().join("map.toml"), mapping).unwrap();
    let by_preset = ran(indexer, folder.path(), &["import", "openvc", "list.csv", "--dataset", "a"]);
    let by_mapping = ran(indexer, folder.path(), &["import", "--mapping", "map.toml", "list.csv", "--dataset", "b"]);
    assert_eq!((by_preset.0, by_mapping.0), (Some(0), Some(0)), "{} {}", by_preset.1, by_mapping.1);
    let firms = |folder_name: &str| fs::read_to_string(folder.path().join(folder_name).join("firms.csv")).unwrap();
    assert_eq!(firms("a"), firms("b"));
    assert!(
        by_preset.1.contains("openvc: not filled: firms.") && by_preset.1.contains("firms.aum_usd"),
        "{}",
        by_preset.1
    );
}
