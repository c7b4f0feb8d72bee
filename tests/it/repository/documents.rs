//! README.md, ARCHITECTURE.md and CONTRIBUTING.md: their paths exist, their functions are declared, the map stays short.

use std::fs;

use crate::support::harness::{files_below, root};

const DOCUMENTS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
/// Maximum number of words of ARCHITECTURE.md outside of tables and blocks of code.
const MAX_WORDS: usize = 1_200;

/// The lines of a document outside of blocks of code.
fn lines(document: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let parts = text.split("```").step_by(2);
    parts.flat_map(str::lines).map(str::to_owned).collect()
}

/// The pieces of code within the lines, without those that have spaces, and the targets of links.
fn names(document: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in lines(document) {
        names.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        names.extend(line.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())));
    }
    names.retain(|name| !name.contains([' ', ':']) || name.contains("::") && !name.contains(' '));
    names
}

/// Whether a name can only be that of a file or folder of the repository.
fn is_path(name: &str) -> bool {
    let is_plain = name.chars().all(|char| char.is_ascii_alphanumeric() || "/.-_".contains(char));
    is_plain && name.contains('/') && !name.starts_with('/')
}

#[test]
fn paths_of_the_documents_exist() {
    let mut found = 0;
    for document in DOCUMENTS {
        for name in names(document).into_iter().filter(|name| is_path(name)) {
            let exists = ["", "src"].iter().any(|folder| root().join(folder).join(&name).exists());
            assert!(exists, "{document} names `{name}`");
            found += 1;
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn functions_of_the_documents_are_declared() {
    let mut files = files_below(&root().join("src"));
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let code: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let mut found = 0;
    for document in DOCUMENTS {
        for name in names(document).into_iter().filter(|name| name.contains("::")) {
            let last = name.rsplit("::").next().unwrap();
            let ends = |rest: &str| !rest.starts_with(|char: char| char.is_alphanumeric() || char == '_');
            let is_declared = ["fn ", "struct ", "enum ", "pub "].iter().any(|word| {
                let declaration = format!("{word}{last}");
                code.match_indices(&declaration).any(|(start, _)| ends(&code[start + declaration.len()..]))
            });
            assert!(is_declared, "{document} names `{name}`");
            found += 1;
        }
    }
    assert!(found > 30, "{found}");
}

#[test]
fn the_map_stays_short() {
    let prose = lines("ARCHITECTURE.md").into_iter().filter(|line| !line.starts_with('|'));
    let words: usize = prose.map(|line| line.split_whitespace().count()).sum();
    assert!(words <= MAX_WORDS, "ARCHITECTURE.md has {words} words");
}

/// The crates that a crate depends on, apart from tests, as its manifest names them.
fn dependencies(name: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join("src").join(name).join("Cargo.toml")).unwrap();
    let section = manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let lines = section.lines().filter_map(|line| line.strip_prefix("venturedex-"));
    lines.map(|line| line.split(['.', ' ', '=']).next().unwrap().to_owned()).collect()
}

#[test]
fn a_crate_depends_on_those_above_it_and_on_none_that_it_must_not_know() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = map.split("| crate | for | must not know |").nth(1).unwrap().split("\n\n").next().unwrap();
    let mut above: Vec<&str> = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let [name, _, unknown] = row.trim_matches('|').split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let name = name.trim().trim_matches('`');
        let unknown: Vec<&str> = unknown.split('`').skip(1).step_by(2).collect();
        let known = dependencies(name);
        for other in &known {
            assert!(above.contains(&other.as_str()), "`{name}` depends on `{other}`, which is not above it");
            assert!(!unknown.contains(&other.as_str()), "`{name}` must not know `{other}`");
        }
        assert!(known.is_empty() == ["data", "platform"].contains(&name), "{name}: {known:?}");
        above.push(name);
    }
    assert_eq!(above.len(), 13);
}
