//! Rules about imports: modules depend downwards only, and each external crate has one home.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules from the lowest to the highest. A module may import lower ones, unless [`SEPARATE`] forbids it.
const MODULES: [&str; 20] = [
    "data", "datagen", "metrics", "search", "sources", "resolve", "catalog", "tls", "release", "quota", "mail", "auth",
    "alerts", "http", "api", "openapi", "mcp", "site", "app", "cli",
];

/// Imports against the order that are still to be cut.
const TO_CUT: [(&str, &str); 0] = [];

/// Modules that never import each other.
const SEPARATE: [(&str, &str); 3] = [("api", "mcp"), ("api", "site"), ("mcp", "site")];

/// External crates with the modules that may use them.
const HOMES: &[(&str, &[&str])] = &[
    ("csv", &["data", "sources", "catalog/flat", "catalog/look_up"]),
    ("bytemuck", &["data"]),
    ("celes", &["data"]),
    ("any_ascii", &["data"]),
    ("unicode_normalization", &["data", "auth/password"]),
    ("toml", &["data", "sources"]),
    ("tantivy", &["search"]),
    ("rapidfuzz", &["search", "auth", "quota", "app/settings"]),
    ("dashmap", &["auth", "quota"]),
    ("ipnet", &["quota"]),
    ("lettre", &["mail"]),
    ("argon2", &["auth/password"]),
    ("idna", &["auth"]),
    ("sha1", &["auth/totp"]),
    ("qrcodegen", &["site/account"]),
    ("ab_glyph", &["site/canvas"]),
    // Its parser knows all spellings of an address.
    ("url", &["alerts/webhook"]),
    ("zeroize", &["auth", "alerts/webhook", "site/account", "cli/admin"]),
    ("foldhash", &["auth", "catalog", "http", "quota"]),
    ("rusqlite", &["auth"]),
    ("tokio_postgres", &["auth"]),
    ("tokio_postgres_rustls", &["auth"]),
    ("arc_swap", &["release"]),
    ("ring", &["release", "catalog/bulk_file"]),
    ("warp", &["http", "app"]),
    ("hyper", &["http"]),
    ("hyper_util", &["http"]),
    ("indicatif", &["cli"]),
    ("calamine", &["sources/input"]),
    ("zip", &["sources/input"]),
    ("tar", &["sources/input"]),
    ("encoding_rs", &["sources/input"]),
    ("encoding_rs_io", &["sources/input"]),
    ("regex", &["sources"]),
    ("flate2", &["http", "mcp", "api", "site", "sources/input", "release/bulk"]),
    ("parquet", &["release/bulk"]),
    ("zstd", &["release/bulk", "release/remote"]),
    ("object_store", &["release/remote"]),
    ("quick_cache", &["catalog", "http"]),
    ("prometheus_client", &["app/metrics"]),
    ("utoipa", &["openapi"]),
    ("askama", &["site"]),
    ("rustix", &["cli/doctor", "cli/query"]),
    // And examples for users.
    ("ureq", &["tls", "release/remote", "alerts/webhook", "cli/query", "site/docs/clients", "site/snippets"]),
    // And a receiver of webhooks in tests.
    ("rustls", &["tls", "alerts/webhook/tests"]),
    ("rustls_native_certs", &["tls"]),
];

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

/// The code of a file, without comments and the test module at its end.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn is_test(name: &str) -> bool {
    name.ends_with("tests.rs") || name.contains("/tests/") || name.contains("/conformance/")
}

fn module_of(name: &str) -> &str {
    name.split('/').next().unwrap_or(name).trim_end_matches(".rs")
}

/// The names that follow `prefix` in the code.
fn named_after(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (index, _) in code.match_indices(prefix) {
        let before = code[..index].chars().next_back();
        if before.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == ':') {
            continue;
        }
        let rest = &code[index + prefix.len()..];
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
fn modules_import_only_lower_modules() {
    let rank = |name: &str| MODULES.iter().position(|module| *module == name);
    let mut wrong = Vec::new();
    for (name, code) in sources() {
        let module = module_of(&name);
        let Some(own) = rank(module).filter(|_| !is_test(&name)) else { continue };
        for imported in named_after(&code, "crate::") {
            let Some(other) = rank(&imported) else { continue };
            let invents = imported == "datagen" && !["datagen", "cli"].contains(&module);
            let separate =
                invents || SEPARATE.iter().any(|pair| *pair == (module, &imported) || *pair == (&imported, module));
            if (other > own || separate) && !TO_CUT.contains(&(module, &imported)) {
                wrong.push(format!("src/{name} imports `{imported}`, which is not allowed for `{module}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_is_in_the_order() {
    for (name, _) in sources() {
        let module = module_of(&name);
        assert!(MODULES.contains(&module) || ["lib", "bin"].contains(&module), "src/{name}: add `{module}` to MODULES");
    }
}

#[test]
fn each_external_crate_is_used_only_in_its_home() {
    let mut wrong = Vec::new();
    for (name, code) in sources() {
        for (external, homes) in HOMES {
            let used = code.lines().any(|line| {
                let line = line.trim_start();
                let uses = line.strip_prefix("pub use ").or(line.strip_prefix("use ")).is_some_and(|rest| {
                    rest.strip_prefix(external).is_some_and(|rest| rest.starts_with("::") || rest.starts_with(';'))
                });
                uses || line.contains(&format!(" {external}::")) || line.contains(&format!("({external}::"))
            });
            let at_home =
                homes.iter().any(|home| name.starts_with(&format!("{home}/")) || name == format!("{home}.rs"));
            if used && !at_home {
                wrong.push(format!("src/{name} uses `{external}`, whose home is {homes:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn imports_are_found_in_code() {
    let code =
        "use crate::data::{Date, fold::fold};\nuse crate::{auth::Tier, http::State};\nlet x = crate::catalog::X;";
    let named: Vec<String> = named_after(code, "crate::").into_iter().collect();
    assert_eq!(named, ["auth", "catalog", "data", "http"]);
}
