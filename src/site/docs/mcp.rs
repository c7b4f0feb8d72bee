//! `/docs/mcp`: how to connect assistants and editors to the MCP endpoint, and example conversations.

use std::io::{self, Cursor, Write};

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use once_cell::sync::Lazy;
use serde::Deserialize;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::static_pages::DocsContext;
use transport::static_asset::StaticAsset;
use transport::url::encoded_segment;
use view::html;

/// Example conversations on the bundled data, as JSON. Tool results are excerpts; a test compares them with real calls.
pub const CONVERSATIONS: &str = include_str!("conversations.json");

static PARSED: Lazy<Vec<Conversation>> =
    Lazy::new(|| serde_json::from_str(CONVERSATIONS).expect("conversations.json has the form of Vec<Conversation>"));

pub static SETUPS: Lazy<Vec<Setup>> =
    Lazy::new(|| serde_json::from_str(include_str!("setups.json")).expect("setups.json has the form of Vec<Setup>"));

#[derive(Deserialize)]
struct Conversation {
    title: String,
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Turn {
    Person {
        person: String,
    },
    Assistant {
        assistant: String,
    },
    Call {
        call: ExampleCall,
        #[serde(flatten)]
        result: ExampleResult,
    },
}

#[derive(Deserialize)]
struct ExampleCall {
    tool: String,
    arguments: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExampleResult {
    Answer(Value),
    Error(String),
}

impl ExampleResult {
    fn text(&self) -> String {
        match self {
            Self::Answer(answer) => format!("{answer:#}"),
            Self::Error(message) => message.clone(),
        }
    }
}

#[derive(Deserialize)]
pub struct Setup {
    pub name: String,
    /// Instruction; code is in backquotes.
    pub step: String,
    /// Configuration or commands; `{endpoint}` is replaced by the URL of the endpoint.
    pub lines: String,
    pub tested: String,
}

/// The bundle that desktop clients install: <https://github.com/modelcontextprotocol/mcpb>.
pub(crate) const BUNDLE: &str = "/docs/venturedex.mcpb";

/// The manifest of the bundle, and the program that it starts.
const MANIFEST: &str = include_str!("bundle/manifest.json");
const PROGRAM: &str = include_str!("bundle/index.js");

#[derive(Template)]
#[template(path = "docs/mcp.html")]
struct McpPage<'a> {
    endpoint: &'a str,
    /// Clients, each with a link that opens it; it offers to add the endpoint.
    installs: [(&'static str, String); 4],
    setups: &'a [Setup],
    conversations: &'a [Conversation],
}

/// The entry of a client's `mcp.json`; a private service wants a key in it.
fn entry(context: &DocsContext<'_>, key: &str) -> Value {
    let mut entry = json!({ "url": format!("{}/api/mcp", context.base) });
    if context.operator.access.is_private() {
        entry["headers"] = json!({ "Authorization": format!("Bearer {key}") });
    }
    entry
}

pub(crate) fn page(context: &DocsContext<'_>) -> askama::Result<String> {
    let link = |start: &str, key: &str| {
        let config = BASE64_STANDARD.encode(entry(context, key).to_string());
        format!("{start}?name=venturedex&config={}", encoded_segment(&config))
    };
    // https://code.visualstudio.com/api/extension-guides/ai/mcp: the entry with its name, and what it asks for.
    let mut code = entry(context, "${input:key}");
    (code["name"], code["type"]) = ("venturedex".into(), "http".into());
    if context.operator.access.is_private() {
        code["inputs"] = json!([{ "type": "promptString", "id": "key", "description": "API key", "password": true }]);
    }
    let installs = [
        ("Claude Desktop", BUNDLE.to_owned()),
        ("VS Code", format!("vscode:mcp/install?{}", encoded_segment(&code.to_string()))),
        // https://cursor.com/docs/mcp/install-links
        ("Cursor", link("cursor://anysphere.cursor-deeplink/mcp/install", "${env:VENTUREDEX_KEY}")),
        // https://lmstudio.ai/docs/app/mcp/deeplink
        ("LM Studio", link("lmstudio://add_mcp", "vdx_…")),
    ];
    let endpoint = format!("{}/api/mcp", context.base);
    McpPage { endpoint: &endpoint, installs, setups: &SETUPS, conversations: &PARSED }.render()
}

/// The bundle for this service: a zip archive with the manifest and the program.
pub(crate) fn bundle(context: &DocsContext<'_>) -> StaticAsset {
    // Within a text of JSON.
    let json = |text: &str| Value::from(text).to_string();
    let quoted = |text: &str| json(text)[1..json(text).len() - 1].to_owned();
    let manifest = MANIFEST.replace("{base}", &quoted(context.base)).replace("{version}", env!("CARGO_PKG_VERSION"));
    let manifest = manifest.replace("{brand}", &quoted(context.operator.brand.name.as_str()));
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [("manifest.json", manifest.as_str()), ("server/index.js", PROGRAM)] {
        let written = archive.start_file(name, SimpleFileOptions::default()).map_err(io::Error::from);
        written.and_then(|()| archive.write_all(text.as_bytes())).expect("memory takes every write");
    }
    let archive = archive.finish().expect("memory takes every write");
    StaticAsset::new("application/octet-stream", archive.into_inner())
}
