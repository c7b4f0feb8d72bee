//! Texts are plain English: words and idioms that a reader stumbles over stay out of code, docs, pages and messages.

use std::fs;
use std::path::PathBuf;

use crate::support::harness::{files_below, root};

/// Each with what to write instead. Matched as whole words, in any letter case.
const BANNED: &[(&str, &str)] = &[
    ("anew", "again"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mends", "fixes"),
    ("beside", "next to, with"),
    ("whisper", "bonus"),
    ("stands", "is"),
    ("cheque", "check"),
    ("cheques", "checks"),
    ("desk", "service"),
    ("front door", "front end"),
    ("likeness", "similarity"),
    ("is told", "is reported"),
    ("are told", "are reported"),
    ("that is none", "that is not one"),
    ("where it is none", "if it is not one"),
    ("held against", "checked against"),
    ("gives way", "is evicted"),
    ("take up", "activate"),
    ("takes up", "activates"),
    ("taken up", "activated"),
    ("asked for", "requested"),
    ("lays down", "defines"),
    ("laid down", "defined"),
    ("where it is", "if it is"),
    ("where it is not", "otherwise"),
    ("where they are", "if they are"),
    ("where there is", "if there is"),
    ("where there are", "if there are"),
    ("where none", "if none"),
    ("where no", "if no"),
    ("none` where", "none` if"),
    ("empty where", "empty if"),
];

/// Files that hold words of other languages, invented data or headers of other publishers, or that list the words.
const EXEMPT: [&str; 10] = [
    "src/catalog/ask/languages/de.txt",
    "src/catalog/ask/languages/es.txt",
    "src/catalog/ask/languages/fr.txt",
    "src/catalog/ask/languages/pt.txt",
    "src/import/datagen/words/",
    "src/import/sources/guess/headers.txt",
    "src/import/sources/presets/openvc.toml",
    "tests/fixtures/",
    "tests/it/repository/language.rs",
    "tests/it/api/snapshots/",
];

/// A JSON key that the contract keeps, names of parameters that callers try, and words of questions.
const KEYS: [&str; 6] =
    ["\"likeness\"", "\"cheque\"", "\"cheques\"", "\"cheque_size\"", "cheque cheque_size", "cheque, cheques"];

const ENDINGS: [&str; 12] = ["rs", "html", "md", "css", "js", "mjs", "py", "ts", "sh", "toml", "txt", "lua"];

/// Whether `text` has `phrase` with no letter or digit around it.
fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(start, _)| {
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let before = text[..start].chars().next_back();
        let after = text[start + phrase.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The banned phrases of a text, with their lines. A phrase may run over the end of a line.
fn banned_in(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let line = KEYS.iter().fold(line.to_lowercase(), |line, key| line.replace(key, ""));
            let line = line.trim_start().trim_start_matches(['/', '!', '#', '*']).trim_start().to_owned();
            // Words of an identifier count too.
            line.replace('_', " ")
        })
        .collect();
    // Most files have few of the words with which a phrase begins.
    let whole = lines.join(" ");
    let begins = |phrase: &str| phrase.split(' ').next().is_some_and(|word| whole.contains(word));
    let phrases: Vec<_> = BANNED.iter().filter(|(phrase, _)| begins(phrase)).collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let next = lines.get(index + 1).map_or("", String::as_str);
        let joined = format!("{} {next}", line.trim_end().trim_end_matches('\\'));
        for (phrase, instead) in &phrases {
            if has_phrase(line, phrase) || has_phrase(&joined, phrase) && !has_phrase(next, phrase) {
                found.push((index + 1, *phrase, *instead));
            }
        }
    }
    found
}

#[test]
fn texts_have_no_banned_words() {
    let mut paths: Vec<PathBuf> =
        ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "Cargo.toml", "build.rs"]
            .map(|name| root().join(name))
            .into();
    for dir in ["src", "tests", "benches"] {
        paths.extend(files_below(&root().join(dir)));
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known)));
    let mut wrong = Vec::new();
    for path in paths {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        if EXEMPT.iter().any(|exempt| name.starts_with(exempt)) {
            continue;
        }
        for (line, phrase, instead) in banned_in(&fs::read_to_string(&path).unwrap()) {
            wrong.push(format!("{name}:{line}: `{phrase}`: write {instead}"));
        }
    }
    assert!(wrong.is_empty(), "{} banned phrases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn banned_words_are_found_across_lines_and_in_identifiers() {
    let found: Vec<_> = banned_in("/// It is\n/// told so.\nfn made_anew() {}\n").iter().map(|found| found.1).collect();
    assert_eq!(found, ["is told", "anew"]);
    assert!(banned_in("recommended, standstill, \"likeness\"").is_empty());
}
