//! An API request as code in four languages. The tests run all of them.

use crate::openapi::reference::ExampleRequest;

pub struct CodeSnippet {
    pub id: &'static str,
    pub language: &'static str,
    pub requirements: &'static str,
    pub code: String,
}

/// A request as code; `base` is the address of the service. Without a key: that in the variable `VENTUREDEX_KEY`.
pub fn for_request(base: &str, request: &ExampleRequest, key: Option<&str>) -> [CodeSnippet; 4] {
    let address = format!("{base}{}", request.path);
    let languages: [(&'static str, &'static str, &'static str, WriteSnippet); 4] = [
        ("curl", "curl", "curl 7.18 or later", curl),
        ("python", "Python", "Python 3.9 or later", python),
        ("javascript", "JavaScript", "Node 18 or later, as a module", javascript),
        ("rust", "Rust", "the crates ureq 3, with its feature json, and serde_json 1", rust),
    ];
    languages.map(|(id, language, requirements, write)| CodeSnippet {
        id,
        language,
        requirements,
        code: write(&address, &request.query, key),
    })
}

type WriteSnippet = fn(&str, &[(String, String)], Option<&str>) -> String;

/// The command that connects an assistant with the same key, so that its calls count against the key's quota.
pub fn mcp(base: &str, key: Option<&str>) -> CodeSnippet {
    let address = shell_word(&format!("{base}/api/mcp"));
    let code = format!("claude mcp add --transport http venturedex {address} \\\n  --header {}", shell_header(key));
    CodeSnippet { id: "mcp", language: "MCP", requirements: "Claude Code", code }
}

/// The header with the key as a word of a shell command.
fn shell_header(key: Option<&str>) -> String {
    match key {
        None => "\"Authorization: Bearer $VENTUREDEX_KEY\"".to_owned(),
        Some(key) => shell_word(&format!("Authorization: Bearer {key}")),
    }
}

fn curl(address: &str, query: &[(String, String)], key: Option<&str>) -> String {
    let get = if query.is_empty() { "" } else { "-G " };
    let mut code = format!("curl {get}{} \\\n  -H {}", shell_word(address), shell_header(key));
    for (name, value) in query {
        // A plain value is sent unencoded.
        let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.,:*".contains(&byte));
        let option = if is_plain { "-d" } else { "--data-urlencode" };
        code += &format!(" \\\n  {option} {}", shell_word(&format!("{name}={value}")));
    }
    code
}

fn python(address: &str, query: &[(String, String)], key: Option<&str>) -> String {
    let (import, key) = match key {
        None => ("import os\n", "\"Bearer \" + os.environ[\"VENTUREDEX_KEY\"]".to_owned()),
        Some(key) => ("", literal(&format!("Bearer {key}"))),
    };
    let pairs: String =
        query.iter().map(|(name, value)| format!("    {}: {},\n", literal(name), literal(value))).collect();
    let (encode, parameters, address) = match query.is_empty() {
        true => ("", String::new(), literal(address)),
        false => (
            "from urllib.parse import urlencode\n",
            format!("query = urlencode({{\n{pairs}}})\n"),
            format!("{} + query", literal(&format!("{address}?"))),
        ),
    };
    format!(
        "import json\n{import}{encode}from urllib.request import Request, urlopen\n\n{parameters}request = Request(\n    {address},\n    \
         headers={{\"Authorization\": {key}}},\n)\nwith urlopen(request) as response:\n    answer = json.load(response)\n\
         print(json.dumps(answer, indent=2))"
    )
}

fn javascript(address: &str, query: &[(String, String)], key: Option<&str>) -> String {
    let key = match key {
        None => "`Bearer ${process.env.VENTUREDEX_KEY}`".to_owned(),
        Some(key) => literal(&format!("Bearer {key}")),
    };
    let pairs: String = query.iter().map(|(name, value)| format!("  {name}: {},\n", literal(value))).collect();
    let search = || format!("url.search = new URLSearchParams({{\n{pairs}}});\n");
    let parameters = if query.is_empty() { String::new() } else { search() };
    format!(
        "const url = new URL({});\n{parameters}const response = await fetch(url, {{\n  headers: {{ Authorization: {key} }},\n}});\n\
         const answer = await response.json();\nif (!response.ok) throw new Error(answer.detail);\n\
         console.log(JSON.stringify(answer, null, 2));",
        literal(address)
    )
}

fn rust(address: &str, query: &[(String, String)], key: Option<&str>) -> String {
    let (variable, key) = match key {
        None => ("    let key = std::env::var(\"VENTUREDEX_KEY\")?;\n", "format!(\"Bearer {key}\")".to_owned()),
        Some(key) => ("", literal(&format!("Bearer {key}"))),
    };
    let pairs: String =
        query.iter().map(|(name, value)| format!("        .query({}, {})\n", literal(name), literal(value))).collect();
    format!(
        "fn main() -> Result<(), Box<dyn std::error::Error>> {{\n{variable}    let url = {};\n    let answer: serde_json::Value = ureq::get(url)\n        \
         .header(\"Authorization\", {key})\n{pairs}        .call()?\n        .body_mut()\n        .read_json()?;\n    \
         println!(\"{{answer:#}}\");\n    Ok(())\n}}",
        literal(address)
    )
}

pub fn shell_word(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.,:/=".contains(&byte));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// A string literal of Python, JavaScript and Rust. Control characters, whose escapes differ, are dropped.
fn literal(text: &str) -> String {
    let text: String = text.chars().filter(|char| !char.is_control()).collect();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_as_each_language_requires() {
        let query =
            vec![("q".to_owned(), "a'b \"c\"\\\n$x".to_owned()), ("stage".to_owned(), "seed,series-a".to_owned())];
        let request = ExampleRequest { path: "/api/v3/vcs".to_owned(), query };
        let [curl, python, javascript, rust] =
            for_request("https://a.example", &request, Some("vdx_1")).map(|snippet| snippet.code);
        assert!(curl.contains("--data-urlencode 'q=a'\\''b \"c\"\\\n$x' \\\n  -d stage=seed,series-a"), "{curl}");
        assert!(curl.contains("-H 'Authorization: Bearer vdx_1'"), "{curl}");
        for code in [python, javascript, rust] {
            assert!(code.contains(r#""a'b \"c\"\\$x""#) && code.contains("\"Bearer vdx_1\""), "{code}");
        }
    }
}
