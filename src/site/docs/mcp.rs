//! `/docs/mcp`: how to connect assistants and editors to the MCP endpoint, and example conversations.

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use once_cell::sync::Lazy;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::docs::html;
use crate::static_pages::DocsContext;
use transport::url::encoded_segment;

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

#[derive(Template)]
#[template(path = "docs/mcp.html")]
struct McpPage<'a> {
    endpoint: &'a str,
    /// Editors, each with a link that opens it; it offers to add the endpoint.
    installs: [(&'static str, String); 2],
    setups: &'a [Setup],
    conversations: &'a [Conversation],
}

pub(crate) fn page(context: &DocsContext<'_>) -> askama::Result<String> {
    let endpoint = format!("{}/api/mcp", context.base);
    // https://cursor.com/docs/mcp/install-links: the entry of `mcp.json`.
    let cursor = BASE64_STANDARD.encode(json!({ "url": endpoint }).to_string());
    // https://code.visualstudio.com/api/extension-guides/ai/mcp: the same with its name.
    let code = json!({ "name": "venturedex", "type": "http", "url": endpoint }).to_string();
    let cursor =
        format!("cursor://anysphere.cursor-deeplink/mcp/install?name=venturedex&config={}", encoded_segment(&cursor));
    let installs = [("Cursor", cursor), ("VS Code", format!("vscode:mcp/install?{}", encoded_segment(&code)))];
    McpPage { endpoint: &endpoint, installs, setups: &SETUPS, conversations: &PARSED }.render()
}
