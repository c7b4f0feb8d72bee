//! `/docs/mcp`: how to connect assistants and editors to the MCP endpoint, and example conversations.

use askama::Template;
use once_cell::sync::Lazy;
use serde::Deserialize;
use serde_json::Value;

use crate::site::docs::html;
use crate::site::static_pages::DocsContext;

/// Example conversations on the bundled data, as JSON. Tool results are excerpts; a test calls the tools and compares.
pub const CONVERSATIONS: &str = include_str!("conversations.json");

static PARSED: Lazy<Vec<Conversation>> =
    Lazy::new(|| serde_json::from_str(CONVERSATIONS).expect("conversations.json has the form of Vec<Conversation>"));

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
        call: ToolCall,
        #[serde(flatten)]
        result: ToolResult,
    },
}

#[derive(Deserialize)]
struct ToolCall {
    tool: String,
    arguments: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToolResult {
    Answer(Value),
    /// What the tool reports about an invalid argument.
    Error(String),
}

impl ToolResult {
    fn text(&self) -> String {
        match self {
            Self::Answer(answer) => format!("{answer:#}"),
            Self::Error(message) => message.clone(),
        }
    }
}

/// How to connect one assistant or editor.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub name: &'static str,
    /// What to do; code is in backquotes.
    pub step: &'static str,
    /// What to write or run; `{endpoint}` is replaced by the URL of the endpoint. If empty, the URL alone is shown.
    pub lines: &'static str,
    /// Whether the setup was tested.
    pub tested: &'static str,
}

impl Setup {
    fn lines_for(&self, endpoint: &str) -> String {
        if self.lines.is_empty() { endpoint.to_owned() } else { self.lines.replace("{endpoint}", endpoint) }
    }
}

const TESTED: &str = "Tested: it connects.";
const DOCUMENTED: &str = "Not tested; follows the documentation of the product.";

pub const SETUPS: [Setup; 13] = [
    Setup {
        name: "Claude Code",
        step: "Run",
        lines: "claude mcp add --transport http venturedex {endpoint}",
        tested: TESTED,
    },
    Setup {
        name: "Claude on the web and the desktop",
        step: "Settings → Connectors → Add custom connector, with the URL of the endpoint, which must be public and https. To use a \
                server on your own machine in Claude Desktop, add this to `claude_desktop_config.json` (requires Node)",
        lines: r#"{ "mcpServers": { "venturedex": { "command": "npx", "args": ["-y", "mcp-remote", "{endpoint}"] } } }"#,
        tested: "`mcp-remote` is tested; the connector follows its documentation.",
    },
    Setup {
        name: "ChatGPT",
        step: "Settings → Apps & Connectors → Advanced settings → Developer mode; then Create, with the URL below, which \
                must be public and https, and no authentication",
        lines: "",
        tested: DOCUMENTED,
    },
    Setup {
        name: "Codex",
        step: "Run",
        lines: "codex mcp add venturedex --url {endpoint}",
        tested: "Tested: the setting is accepted.",
    },
    Setup {
        name: "Gemini CLI",
        step: "Run",
        lines: "gemini mcp add --transport http venturedex {endpoint}",
        tested: TESTED,
    },
    Setup {
        name: "Cursor",
        step: "In `~/.cursor/mcp.json`, or `.cursor/mcp.json` of a project",
        lines: r#"{ "mcpServers": { "venturedex": { "url": "{endpoint}" } } }"#,
        tested: DOCUMENTED,
    },
    Setup {
        name: "VS Code",
        step: "In `.vscode/mcp.json`, or with the command “MCP: Open User Configuration”",
        lines: r#"{ "servers": { "venturedex": { "type": "http", "url": "{endpoint}" } } }"#,
        tested: DOCUMENTED,
    },
    Setup {
        name: "Zed",
        step: "In `settings.json` (“zed: open settings file”)",
        lines: r#"{ "context_servers": { "venturedex": { "url": "{endpoint}" } } }"#,
        tested: DOCUMENTED,
    },
    Setup {
        name: "Windsurf",
        step: "In `~/.codeium/windsurf/mcp_config.json`",
        lines: r#"{ "mcpServers": { "venturedex": { "serverUrl": "{endpoint}" } } }"#,
        tested: DOCUMENTED,
    },
    Setup {
        name: "opencode",
        step: "In `opencode.json`",
        lines: r#"{ "mcp": { "venturedex": { "type": "remote", "url": "{endpoint}" } } }"#,
        tested: TESTED,
    },
    Setup {
        name: "Assistants that only start programs",
        step: "Configure this as the program of a stdio server (requires Node)",
        lines: "npx -y mcp-remote {endpoint}",
        tested: TESTED,
    },
    Setup {
        name: "Python",
        step: "With version 2 of the package `mcp`",
        lines: "import asyncio\nfrom mcp import Client\n\n\nasync def main():\n    async with Client(\"{endpoint}\") as \
                client:\n        print(await client.call_tool(\"search_vcs\", {\"stage\": \"seed\", \"country\": \
                \"DE\"}))\n\n\nasyncio.run(main())",
        tested: TESTED,
    },
    Setup {
        name: "curl",
        step: "No handshake is required",
        lines: "curl {endpoint} -H 'Content-Type: application/json' -d \
                '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"search_vcs\",\"arguments\":{\"stage\":\"seed\",\"country\":\"DE\"}}}'",
        tested: TESTED,
    },
];

#[derive(Template)]
#[template(path = "docs/mcp.html")]
struct McpPage<'a> {
    endpoint: &'a str,
    setups: &'a [Setup],
    conversations: &'a [Conversation],
}

/// `/docs/mcp`.
pub(crate) fn page(context: &DocsContext<'_>) -> askama::Result<String> {
    let endpoint = format!("{}/api/mcp", context.base);
    McpPage { endpoint: &endpoint, setups: &SETUPS, conversations: &PARSED }.render()
}
