//! `/docs/mcp`: how assistants and editors are connected to the tool endpoint, and what talking to them is like.
//!
//! The conversations are about the bundled snapshot; a test asks the tools again and compares.

use std::fmt::Write;

use serde_json::Value;

use crate::site::docs::html::escaped;

/// The worked conversations, as JSON: titles with turns of a `person`, of the `assistant`, or a `call` with the part of
/// its `answer` that matters (or what was `told` of a wrong argument).
pub const CONVERSATIONS: &str = include_str!("conversations.json");

/// How one assistant or editor is connected.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// What it is called.
    pub name: &'static str,
    /// Where the lines go, as HTML.
    pub place: &'static str,
    /// What to write or run; `{endpoint}` is the address of the endpoint. Empty where there is only a form.
    pub lines: &'static str,
    /// How far it was tried.
    pub tried: &'static str,
}

const CONNECTED: &str = "Tried: it connects.";
const DESCRIBED: &str = "As its makers describe it.";

/// The common assistants and editors.
pub const SETUPS: [Setup; 13] = [
    Setup {
        name: "Claude Code",
        place: "Run",
        lines: "claude mcp add --transport http venturedex {endpoint}",
        tried: CONNECTED,
    },
    Setup {
        name: "Claude on the web and the desktop",
        place: "Settings → Connectors → Add custom connector, with the address below; it must be public and https. To reach a \
                server on your own machine from Claude Desktop, add this to <code>claude_desktop_config.json</code>; it \
                needs Node",
        lines: r#"{ "mcpServers": { "venturedex": { "command": "npx", "args": ["-y", "mcp-remote", "{endpoint}"] } } }"#,
        tried: "The bridge was tried with this address, the connector as its makers describe it.",
    },
    Setup {
        name: "ChatGPT",
        place: "Settings → Apps &amp; Connectors → Advanced settings → Developer mode; then Create, with the address below and \
                no authentication; it must be public and https",
        lines: "",
        tried: DESCRIBED,
    },
    Setup {
        name: "Codex",
        place: "Run",
        lines: "codex mcp add venturedex --url {endpoint}",
        tried: "Tried: it takes the setting.",
    },
    Setup {
        name: "Gemini CLI",
        place: "Run",
        lines: "gemini mcp add --transport http venturedex {endpoint}",
        tried: CONNECTED,
    },
    Setup {
        name: "Cursor",
        place: "In <code>~/.cursor/mcp.json</code>, or <code>.cursor/mcp.json</code> of a project",
        lines: r#"{ "mcpServers": { "venturedex": { "url": "{endpoint}" } } }"#,
        tried: DESCRIBED,
    },
    Setup {
        name: "VS Code",
        place: "In <code>.vscode/mcp.json</code>, or by the command “MCP: Open User Configuration”",
        lines: r#"{ "servers": { "venturedex": { "type": "http", "url": "{endpoint}" } } }"#,
        tried: DESCRIBED,
    },
    Setup {
        name: "Zed",
        place: "In <code>settings.json</code> (“zed: open settings file”)",
        lines: r#"{ "context_servers": { "venturedex": { "url": "{endpoint}" } } }"#,
        tried: DESCRIBED,
    },
    Setup {
        name: "Windsurf",
        place: "In <code>~/.codeium/windsurf/mcp_config.json</code>",
        lines: r#"{ "mcpServers": { "venturedex": { "serverUrl": "{endpoint}" } } }"#,
        tried: DESCRIBED,
    },
    Setup {
        name: "opencode",
        place: "In <code>opencode.json</code>",
        lines: r#"{ "mcp": { "venturedex": { "type": "remote", "url": "{endpoint}" } } }"#,
        tried: CONNECTED,
    },
    Setup {
        name: "Whatever starts its servers itself",
        place: "An assistant that knows only programs (stdio) takes this one; it needs Node",
        lines: "npx -y mcp-remote {endpoint}",
        tried: CONNECTED,
    },
    Setup {
        name: "Python",
        place: "With the package <code>mcp</code>, version 2",
        lines: "import asyncio\nfrom mcp import Client\n\n\nasync def main():\n    async with Client(\"{endpoint}\") as \
                client:\n        print(await client.call_tool(\"search_vcs\", {\"stage\": \"seed\", \"country\": \
                \"DE\"}))\n\n\nasyncio.run(main())",
        tried: CONNECTED,
    },
    Setup {
        name: "curl",
        place: "No handshake is needed",
        lines: "curl {endpoint} -H 'Content-Type: application/json' -d \
                '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"search_vcs\",\"arguments\":{\"stage\":\"seed\",\"country\":\"DE\"}}}'",
        tried: CONNECTED,
    },
];

/// `GET /docs/mcp`, of a service at `base`.
pub(crate) fn page(base: &str) -> String {
    let endpoint = escaped(&format!("{base}/api/mcp"));
    let mut page = format!(
        "<h1>Ask by an assistant</h1><p>VentureDex speaks the Model Context Protocol (MCP) at</p><pre \
         class=\"copy\">{endpoint}</pre><p>over Streamable HTTP, revisions 2025-03-26 to 2026-07-28. No key and no sign-in \
         are needed; the data is public and is only read. An address has 100 tool calls a day; with an API key of yours \
         (header <code>Authorization: Bearer vdx_…</code>) the calls count on that key instead. What the endpoint is and \
         what its tools take stands in its <a href=\"/api/mcp/.well-known\">manifest</a>.</p><h2 id=\"tools\">The \
         tools</h2><dl><dt><code>search_vcs</code></dt><dd>Finds investors by name, stage, sector, country, cheque or peer \
         score.</dd><dt><code>get_vc_profile</code></dt><dd>All about one firm before a meeting: the score with its parts \
         and what they mean, ghosting, cheque, recent investments, co-investors, what founders \
         wrote.</dd><dt><code>search_startups</code></dt><dd>Finds startups, with what they raised and from \
         whom.</dd><dt><code>get_funding_rounds</code></dt><dd>Rounds, the newest first, with the sum of what they \
         raised.</dd><dt><code>search_people</code></dt><dd>Finds people at firms and \
         startups.</dd><dt><code>get_platform_stats</code></dt><dd>How much there is, and how fresh.</dd></dl><h2 \
         id=\"setup\">Set it up</h2>"
    );
    // Writing to a string does not fail.
    for Setup { name, place, lines, tried } in SETUPS {
        let _ = write!(page, "<h3>{}</h3><p>{place}:</p>", escaped(name));
        let lines = if lines.is_empty() { "{endpoint}" } else { lines };
        let _ = write!(page, "<pre class=\"copy\">{}</pre>", escaped(lines).replace("{endpoint}", &endpoint));
        let _ = write!(page, "<p class=\"quiet\">{tried}</p>");
    }
    page.push_str(
        "<h2 id=\"conversations\">Three conversations</h2><p>On the snapshot that the program carries, whose firms are \
         invented. Of each answer only the part that matters is shown.</p>",
    );
    let conversations: Value = serde_json::from_str(CONVERSATIONS).unwrap_or_default();
    for conversation in conversations.as_array().into_iter().flatten() {
        let _ = write!(page, "<h3>{}</h3>", escaped(conversation["title"].as_str().unwrap_or_default()));
        conversation["turns"].as_array().into_iter().flatten().for_each(|turn| write_turn(&mut page, turn));
    }
    page
}

fn write_turn(page: &mut String, turn: &Value) {
    let text = |name: &str| turn[name].as_str().map(escaped);
    if let Some(said) = text("person") {
        let _ = write!(page, "<p><strong>You:</strong> {said}</p>");
    }
    if let Some(said) = text("assistant") {
        let _ = write!(page, "<p><strong>Assistant:</strong> {said}</p>");
    }
    if let Some(call) = turn.get("call") {
        let answer = match text("told") {
            Some(told) => told,
            None => escaped(&serde_json::to_string_pretty(&turn["answer"]).unwrap_or_default()),
        };
        let tool = escaped(call["tool"].as_str().unwrap_or_default());
        let arguments = escaped(&call["arguments"].to_string());
        let _ =
            write!(page, "<details><summary><code>{tool} {arguments}</code></summary><pre>{answer}</pre></details>");
    }
}
