//! The house rules about imports: one way down, and one home for each outside crate.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms with those they may import.
const ROOMS: &[(&str, &[&str])] = &[
    ("dataset", &[]),
    ("generator", &["dataset"]),
    ("search", &["dataset"]),
    ("catalog", &["search", "dataset"]),
    ("access", &["dataset"]),
    ("indexer", &["catalog", "search", "dataset", "generator"]),
    ("config", &["web", "access", "search", "catalog", "dataset"]),
    ("web", &["catalog", "access", "search", "dataset"]),
    ("server", &["web", "catalog", "access", "search", "dataset", "config"]),
];

/// Outside crates with the places that may use them.
const HOMES: &[(&str, &[&str])] = &[
    ("csv", &["dataset"]),
    ("bytemuck", &["dataset"]),
    ("celes", &["dataset"]),
    ("any_ascii", &["dataset"]),
    ("unicode_normalization", &["dataset", "access/password"]),
    ("toml", &["dataset"]),
    ("tantivy", &["search"]),
    ("rapidfuzz", &["search", "access", "config"]),
    ("dashmap", &["access"]),
    ("argon2", &["access/password"]),
    ("foldhash", &["access", "web"]),
    ("rusqlite", &["access"]),
    ("arc_swap", &["catalog"]),
    ("memmap2", &["catalog/release"]),
    ("rmcp", &["web/mcp"]),
    ("warp", &["web", "server"]),
    ("hyper", &["server"]),
    ("hyper_util", &["server"]),
    ("indicatif", &["indexer"]),
    ("flate2", &["web"]),
    ("quick_cache", &["web"]),
    ("utoipa", &["web/openapi", "web/records", "web/docs/reference"]),
    ("askama", &["web"]),
];

/// Parts of the web room that never import each other.
const DOORS: [&str; 3] = ["web/rest", "web/mcp", "web/pages"];

fn sources() -> Vec<(String, String)> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, files);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    let mut sources: Vec<(String, String)> = files
        .iter()
        .map(|file| {
            let name = file.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
            (name, code_of(&fs::read_to_string(file).unwrap()))
        })
        .collect();
    sources.sort();
    sources
}

/// The code of a file, without comments and without what is compiled for tests only at its end.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn is_test(name: &str) -> bool {
    name.ends_with("tests.rs") || name.contains("/tests/") || name.contains("/conformance/")
}

fn room_of(name: &str) -> &str {
    name.split('/').next().unwrap_or(name).trim_end_matches(".rs")
}

/// The words that follow `prefix` in the code.
fn named_after(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (place, _) in code.match_indices(prefix) {
        let before = code[..place].chars().next_back();
        if before.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == ':') {
            continue;
        }
        let rest = &code[place + prefix.len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let end = list.find(";").unwrap_or(list.len());
            let mut depth = 0;
            let mut word = String::new();
            for char in list[..end].chars() {
                match char {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.insert(std::mem::take(&mut word));
                    }
                    char if depth == 0 && (char.is_alphanumeric() || char == '_') => word.push(char),
                    ':' if depth == 0 && !word.ends_with(' ') => word.push(' '),
                    _ => {}
                }
            }
            found.insert(word);
        } else {
            found.insert(rest.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect());
        }
    }
    found
        .into_iter()
        .map(|word| word.split(' ').next().unwrap_or("").to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn imports_run_one_way() {
    let mut wrong = Vec::new();
    for (name, code) in sources() {
        let room = room_of(&name);
        let Some((_, allowed)) = ROOMS.iter().find(|(known, _)| *known == room) else { continue };
        for imported in named_after(&code, "crate::") {
            let is_room = ROOMS.iter().any(|(known, _)| *known == imported);
            if is_room && imported != room && !allowed.contains(&imported.as_str()) && !is_test(&name) {
                wrong.push(format!("src/{name} imports `{imported}`; `{room}` may import {allowed:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_is_in_the_table() {
    for (name, _) in sources() {
        let room = room_of(&name);
        let known = ROOMS.iter().any(|(known, _)| *known == room) || ["lib", "bin"].contains(&room);
        assert!(known, "src/{name}: say in this test what the room `{room}` may import");
    }
}

#[test]
fn the_rooms_make_no_circle() {
    // Taking away rooms that import nothing that is left must end with nothing left.
    let mut left: Vec<&(&str, &[&str])> = ROOMS.iter().collect();
    while !left.is_empty() {
        let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
        let before = left.len();
        left.retain(|(_, imports)| imports.iter().any(|import| names.contains(import)));
        assert!(left.len() < before, "a circle among {names:?}");
    }
}

#[test]
fn the_doors_do_not_know_each_other() {
    for (name, code) in sources() {
        let Some(own) = DOORS.iter().find(|door| name.starts_with(**door)) else { continue };
        for other in DOORS.iter().filter(|door| *door != own) {
            let part = other.trim_start_matches("web/");
            for way in [format!("web::{part}"), format!("super::{part}::")] {
                assert!(!code.contains(&way), "src/{name} imports {other}");
            }
        }
    }
}

#[test]
fn each_outside_crate_has_one_home() {
    let mut wrong = Vec::new();
    for (name, code) in sources() {
        for (outside, homes) in HOMES {
            let used = code.lines().any(|line| {
                let line = line.trim_start();
                let uses = line.strip_prefix("pub use ").or(line.strip_prefix("use ")).is_some_and(|rest| {
                    rest.strip_prefix(outside).is_some_and(|rest| rest.starts_with("::") || rest.starts_with(';'))
                });
                uses || line.contains(&format!(" {outside}::")) || line.contains(&format!("({outside}::"))
            });
            let at_home =
                homes.iter().any(|home| name.starts_with(&format!("{home}/")) || name == format!("{home}.rs"));
            if used && !at_home {
                wrong.push(format!("src/{name} uses `{outside}`, whose home is {homes:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_guard_sees_what_is_imported() {
    let code =
        "use crate::dataset::{Date, fold::fold};\nuse crate::{access::Quota, web::State};\nlet x = crate::catalog::X;";
    let named: Vec<String> = named_after(code, "crate::").into_iter().collect();
    assert_eq!(named, ["access", "catalog", "dataset", "web"]);
}
