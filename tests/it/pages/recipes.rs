//! The recipes of the docs: each runs as it is on its page and prints the answer below it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use auth::quota::Tier;
use rusqlite::Connection;
use scraper::ElementRef;
use serde_json::Value;
use site::static_pages::StaticPages;

use crate::api::changes::{Copy, FIRST, SECOND, copy_of, releases};
use crate::support::harness::{Client, Server, real_catalog, root, wants_all};
use crate::support::html::{Markup, parse, text_of};

/// A program that runs recipes, by the name in `data-program`.
struct RecipeProgram {
    name: &'static str,
    /// The program with the arguments that make it read its standard input.
    runs: &'static [&'static str],
    /// Commands that succeed if all that recipes need is installed.
    needs: &'static [&'static [&'static str]],
}

const SHELL: RecipeProgram =
    RecipeProgram { name: "sh", runs: &["sh"], needs: &[&["curl", "--version"], &["jq", "--version"]] };

const PYTHON: RecipeProgram =
    RecipeProgram { name: "python", runs: &["python3", "-"], needs: &[&["python3", "--version"]] };

const PROGRAMS: [RecipeProgram; 6] = [
    SHELL,
    PYTHON,
    RecipeProgram {
        name: "pandas",
        runs: &["python3", "-"],
        needs: &[&["python3", "-c", "import duckdb, matplotlib, pandas"]],
    },
    RecipeProgram { name: "r", runs: &["Rscript", "-"], needs: &[&["Rscript", "--version"]] },
    RecipeProgram { name: "node", runs: &["node", "--input-type=module", "-"], needs: &[&["node", "--version"]] },
    RecipeProgram { name: "duckdb", runs: &["sh"], needs: &[&["curl", "--version"], &["duckdb", "--version"]] },
];

impl RecipeProgram {
    /// True if all that recipes need is installed. If not, they are skipped, or fail if all tests must run.
    fn is_there(&self) -> bool {
        let succeeds = |command: &&[&str]| {
            let output = Command::new(command[0]).args(&command[1..]).env_remove("LD_PRELOAD").output();
            output.is_ok_and(|output| output.status.success())
        };
        let missing = self.needs.iter().find(|command| !succeeds(command));
        if let Some(command) = missing {
            assert!(!wants_all(), "`{}` fails, but VENTUREDEX_TEST_ALL=1 requires it", command.join(" "));
            eprintln!("skipped: recipes for {}, because `{}` fails", self.name, command.join(" "));
        }
        missing.is_none()
    }

    fn run(&self, code: &str, client: &Client, folder: &Path) -> Output {
        let mut command = Command::new(self.runs[0]);
        command.args(&self.runs[1..]).current_dir(folder);
        command.env("VENTUREDEX_KEY", client.key.as_deref().unwrap()).env("MPLBACKEND", "Agg");
        // Under `faketime`, which is preloaded, programs that wait may fail; the date of a recipe does not matter.
        command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC").env_remove("LD_PRELOAD");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(code.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

fn recipe_pages() -> Vec<&'static str> {
    StaticPages::paths().filter(|path| path.starts_with("/docs/recipes/")).collect()
}

/// The output of a program, without blanks at the ends of lines.
fn printed(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

/// Writes an answer into the source of a page, in place of the one that is shown.
fn bless(path: &str, shown: &str, answer: &str) {
    let file = root().join("src/site/docs/text").join(path.strip_prefix("/docs/").unwrap()).with_extension("html");
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let source = fs::read_to_string(&file).unwrap();
    // The shown text is read without the spaces in front of it.
    let place = source.find(&format!("{}</pre>", escaped(shown))).unwrap_or_else(|| panic!("{path} shows\n{shown}"));
    let (before, after) = (source[..place].trim_end(), &source[place + escaped(shown).len()..]);
    assert!(before.ends_with("\"answer\">"), "{path}: {before}");
    fs::write(file, format!("{before}{}{after}", escaped(answer))).unwrap();
}

/// Runs the recipes of all pages in their order, each page in a folder of its own, and hands what they print to `check`.
fn run_recipes(
    client: &Client,
    programs: &[RecipeProgram],
    check: impl Fn(&str, &str, Option<String>, String) + Sync,
) -> u32 {
    let programs: Vec<&RecipeProgram> = programs.iter().filter(|program| program.is_there()).collect();
    let ran = AtomicU32::new(0);
    let run_page = |path: &str| {
        let folder = tempfile::tempdir().unwrap();
        let page = parse(&client.get(path).text);
        for snippet in page.all("pre[data-program]") {
            let name = snippet.attr("data-program").unwrap();
            assert!(PROGRAMS.iter().any(|program| program.name == name), "{path}: {name}");
            let Some(program) = programs.iter().find(|program| program.name == name) else { continue };
            let code = text_of(snippet);
            let output = program.run(&code, client, folder.path());
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && complaint.is_empty(), "{path}: {code}\n{complaint}");
            let next = snippet.next_siblings().find_map(ElementRef::wrap);
            let shown = next.filter(|next| next.attr("class") == Some("answer")).map(text_of);
            check(path, &code, shown, printed(&output));
            ran.fetch_add(1, Ordering::Relaxed);
        }
    };
    let pages = recipe_pages();
    std::thread::scope(|scope| {
        for paths in pages.chunks(6) {
            scope.spawn(|| paths.iter().for_each(|path| run_page(path)));
        }
    });
    ran.into_inner()
}

/// `VENTUREDEX_BLESS=1` writes the answers.
#[test]
fn recipes_print_the_answers_that_are_shown() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Enterprise);
    let blesses = std::env::var_os("VENTUREDEX_BLESS").is_some_and(|bless| bless == "1");
    let ran = run_recipes(&client, &PROGRAMS, |path, code, shown, printed| {
        let shown = shown.unwrap_or_else(|| panic!("{path}: no answer is shown for\n{code}"));
        match blesses {
            true => bless(path, &shown, &printed),
            false => assert_eq!(printed.trim(), shown, "{path}:\n{code}"),
        }
    });
    assert_eq!(recipe_pages().len(), 12);
    assert!(ran >= 12 || !SHELL.is_there(), "{ran} recipes ran");
}

#[test]
fn recipes_work_with_real_data() {
    let Some(catalog) = real_catalog() else { return };
    let server = Server::of(catalog);
    let client = server.account_client(Tier::Enterprise);
    run_recipes(&client, &[SHELL], |path, code, _, printed| {
        assert!(!printed.is_empty() && !printed.contains("\"errors\""), "{path}:\n{code}\n{printed}");
    });
}

#[test]
fn formulas_of_recipes_read_csv() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut read = 0;
    for path in recipe_pages() {
        for code in parse(&client.get(path).text).texts("pre.copy:not([data-program])") {
            let urls = code.split('"').filter_map(|text| text.strip_prefix(&client.base));
            for url in urls.filter(|url| url.contains(".csv")) {
                let reply = client.get(url);
                assert_eq!(reply.status, 200, "{path}: {url}");
                // A field may be unknown for some records.
                let warnings: Value = serde_json::from_str(reply.header("x-warnings")).unwrap_or_default();
                let mut warnings = warnings.as_array().into_iter().flatten();
                assert!(warnings.all(|warning| warning["code"] == "low_coverage"), "{path}: {url}");
                assert!(
                    reply.header("content-type").starts_with("text/csv") && reply.text.lines().count() > 2,
                    "{url}"
                );
                read += 1;
            }
        }
    }
    assert!(read >= 3, "{read} addresses were read");
}

#[test]
fn the_recipe_of_a_mirror_follows_releases() {
    if !PYTHON.is_there() {
        return;
    }
    let [first, second] = releases([FIRST, SECOND], 1).map(Arc::new);
    let server = Server::of(first);
    let client = server.client(Tier::Enterprise);
    let page = parse(&client.get("/docs/recipes/mirror").text);
    let code = text_of(page.first("pre[data-program=python]"));
    let folder = tempfile::tempdir().unwrap();
    for version in [FIRST, SECOND, SECOND] {
        if version == SECOND {
            server.state.releases.replace(Arc::clone(&second));
        }
        let output = PYTHON.run(&code, &client, folder.path());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(printed(&output).starts_with(version), "{}", printed(&output));
        let mirror = Connection::open(folder.path().join("mirror.sqlite")).unwrap();
        let mut statement = mirror.prepare("SELECT kind, key, record FROM records").unwrap();
        let rows = statement.query_map([], |row| {
            let record: Value = serde_json::from_str(&row.get::<_, String>(2)?).unwrap();
            Ok(((row.get(0)?, row.get(1)?), record))
        });
        let records: Copy = rows.unwrap().map(Result::unwrap).collect();
        assert_eq!(records, copy_of(&client, version), "{version}");
    }
}
