//! The pages of endpoints: what they show, the code of their requests in four languages, their form.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use api::{Route, Version};
use auth::quota::Tier;
use scraper::Html;
use serde_json::{Value, json};

use crate::pages::docs::has;
use crate::support::harness::{Client, Server};
use crate::support::html::{Markup, parse, text_of};

fn page_of(client: &Client, operation: &str, query: &str) -> String {
    let reply = client.get(&format!("/docs/reference/{operation}{query}"));
    assert_eq!(reply.status, 200, "{operation}");
    reply.text
}

/// The code on a page by language.
fn snippets(page: &Html) -> BTreeMap<String, String> {
    let blocks = page.all("pre[data-language]").into_iter();
    blocks.map(|block| (block.attr("data-language").unwrap().to_owned(), text_of(block))).collect()
}

/// The address that the form of a page sends its request to.
fn address_of(page: &Html) -> &str {
    page.first("section#send").attr("data-address").unwrap()
}

#[test]
fn every_endpoint_has_a_page_with_its_parameters_fields_and_an_answer() {
    let server = Server::bundled();
    let client = server.anonymous();
    let index = parse(&client.get("/docs/reference").text);
    let (sitemap, llms) = (client.get("/sitemap.xml").text, client.get("/llms.txt").text);
    for endpoint in Route::all(Version::V3) {
        let page = page_of(&client, endpoint.operation, "");
        let path = format!("/docs/reference/{}", endpoint.operation);
        assert!(page.contains(&format!("<code>/api/v3/{}</code>", endpoint.path)), "{path}");
        for name in endpoint.parameters(Version::V3).into_iter().chain(endpoint.placeholder()) {
            assert!(page.contains(&format!("<label for=\"p-{name}\"><code>{name}</code>")), "{path}: {name}");
            assert!(page.contains(&format!("id=\"p-{name}\" name=\"{name}\"")), "{path}: {name}");
        }
        let parsed = parse(&page);
        let answer = text_of(parsed.section("example").unwrap().first("pre[tabindex='0']"));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let record = answer["data"].get(0).unwrap_or(&answer["data"]);
        for field in record.as_object().into_iter().flat_map(|record| record.keys()) {
            assert!(page.contains(&format!("<dt><code>{field}</code>")), "{path}: {field}");
        }
        assert_eq!(snippets(&parsed).keys().collect::<Vec<_>>(), ["curl", "javascript", "python", "rust"], "{path}");
        let named = index.texts(&format!("main a[href='{path}']"));
        assert!(named.iter().any(|name| name == endpoint.summary), "{path}: {named:?}");
        assert!(sitemap.contains(&format!("{path}</loc>")) && llms.contains(&format!("{path})")), "{path}");
        assert!(page.contains(&format!("<a href=\"{path}\" aria-current=\"page\">")), "{path}");
    }
}

#[test]
fn the_form_of_an_endpoint_builds_the_request() {
    let server = Server::bundled();
    let client = server.anonymous();
    let page =
        page_of(&client, "list_vc_reviews", "?slug=alder+%2Fb&limit=2&min_rating=&ghosted=true&nonsense=1&stage=a'b");
    assert!(page.contains("data-address=\"/api/v3/vcs/alder%20%2Fb/reviews?"), "{page}");
    let parsed = parse(&page);
    let address = address_of(&parsed);
    assert!(
        address.contains("limit=2") && !address.contains("nonsense") && !address.contains("min_rating"),
        "{address}"
    );
    assert!(page.contains("name=\"limit\" value=\"2\"") && page.contains("<option selected>true</option>"), "{page}");
    let codes = snippets(&parsed);
    for code in codes.values() {
        assert!(code.contains("/api/v3/vcs/alder%20%2Fb/reviews") && code.contains("limit"), "{code}");
    }
    assert!(page.contains("name=\"robots\" content=\"noindex\"") && !page.contains("nonsense"), "{page}");
    let reply = client.get("/docs/reference/list_vcs?stage=seed");
    assert_eq!((reply.status, reply.header("cache-control")), (200, "private, max-age=60"));
    // The page without a query is the example.
    let example = page_of(&client, "list_vcs", "");
    assert_eq!(page_of(&client, "list_vcs", ""), example);
    assert!(!example.contains("noindex") && example.contains("name=\"limit\" value=\"5\""));
}

#[test]
fn a_key_in_the_address_of_a_page_is_not_repeated() {
    let server = Server::bundled();
    let key = server.client(Tier::Free).key.unwrap();
    let client = server.anonymous();
    for query in [format!("?q={key}"), format!("?slug={key}"), format!("?q=Bearer%20{key}")] {
        assert!(!page_of(&client, "list_vcs", &query).contains(&key), "{query}");
    }
    let page = parse(&page_of(&client, "list_vcs", ""));
    let field = page.first("input#key");
    assert_eq!(field.attr("name"), None, "the key would be part of the address: {field:?}");
}

/// The code of every endpoint in a language, with its operation.
fn codes(client: &Client, language: &str) -> Vec<(&'static str, String)> {
    let code = |endpoint: &'static Route| {
        let mut codes = snippets(&parse(&page_of(client, endpoint.operation, "")));
        (endpoint.operation, codes.remove(language).unwrap())
    };
    Route::all(Version::V3).map(code).collect()
}

/// Runs a program that runs the code of every endpoint, and compares the answers with those of the API.
fn answers_equal(program: &str, arguments: &[&str], language: &str) {
    if !has(program) {
        return;
    }
    let server = Server::bundled();
    let client = server.account_client(Tier::Enterprise);
    let codes = codes(&client, language);
    // Under `faketime`, which is preloaded, some calls fail; the date of a client does not matter.
    let mut command = Command::new(program);
    command.args(arguments).env("VENTUREDEX_KEY", client.key.as_deref().unwrap()).env_remove("LD_PRELOAD");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = json!(codes.iter().map(|(_, code)| code).collect::<Vec<_>>()).to_string();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<&str> = answers.split("\u{1}\n").collect();
    assert_eq!(answers.len(), codes.len() + 1, "{answers:?}");
    for ((operation, code), answer) in codes.iter().zip(answers) {
        let answer: Value =
            serde_json::from_str(answer).unwrap_or_else(|error| panic!("{operation}: {error}: {answer}"));
        let page = parse(&page_of(&client, operation, ""));
        let expected = client.get(address_of(&page)).json();
        // The quota is used meanwhile.
        if *operation != "get_usage" {
            // JavaScript has no 0.0.
            let same = |value: &Value| value["data"].to_string().replace(".0", "");
            assert_eq!(same(&answer), same(&expected), "{operation}: {code}");
        }
        assert!(answer["data"].is_array() || answer["data"].is_object(), "{operation}: {answer}");
    }
}

#[test]
fn the_code_in_python_gets_the_answers() {
    let run = "import json, sys\nfor code in json.load(sys.stdin):\n    exec(code, {})\n    print('\\x01')\n";
    answers_equal("python3", &["-c", run], "python");
}

#[test]
fn the_code_in_javascript_gets_the_answers() {
    let run = "let text = ''; for await (const part of process.stdin) text += part; for (const code of JSON.parse(text)) { \
               await import('data:text/javascript,' + encodeURIComponent(code)); console.log('\\x01'); }";
    answers_equal("node", &["--input-type=module", "-e", run], "javascript");
}

#[test]
fn the_code_with_curl_gets_the_answers() {
    if has("curl") {
        let run = "import json, subprocess, sys\nfor code in json.load(sys.stdin):\n    \
                   print(subprocess.run(['sh', '-c', code.replace('curl ', 'curl -s ', 1)], capture_output=True, \
                   check=True, text=True).stdout + '\\x01')\n";
        answers_equal("python3", &["-c", run], "curl");
    }
}

#[test]
fn the_code_in_rust_is_formatted() {
    if !has("rustfmt") {
        return;
    }
    let server = Server::bundled();
    let client = server.anonymous();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("rustfmt");
    command.args(["--check", "--edition", "2024"]).current_dir(folder.path());
    for (operation, code) in codes(&client, "rust") {
        let file = folder.path().join(format!("{operation}.rs"));
        fs::write(&file, code + "\n").unwrap();
        command.arg(file);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// The code in Rust of `match_vcs` as the page shows it for a service at `https://venturedex.example`, which this compiles.
#[allow(dead_code)]
#[path = "../../fixtures/match_vcs.rs"]
mod compiled;

#[test]
fn the_code_in_rust_is_the_compiled_one() {
    let server = Server::named("https://venturedex.example");
    let page = page_of(&server.anonymous(), "match_vcs", "?stage=seed&raise_usd=2000000&limit=5");
    let code = snippets(&parse(&page)).remove("rust");
    assert_eq!(code.unwrap() + "\n", include_str!("../../fixtures/match_vcs.rs"));
}
