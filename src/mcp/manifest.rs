//! The manifest: what the endpoint is and what its tools take, for whoever wants to know before connecting.
//!
//! One value, made once, served at each address under which clients and registries look for it. It is a server card
//! (name, version, remotes) that tells more than one must: the tools and the limits.

use http::HeaderMap;
use http::header::ACCEPT;
use rmcp::model::Tool as Listed;
use serde::Serialize;

use crate::http::static_asset::StaticAsset;
use crate::mcp::Settings;
use crate::mcp::handler::{INSTRUCTIONS, VERSIONS};
use crate::mcp::tool::LISTED;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Card<'a> {
    name: &'a str,
    title: &'static str,
    version: &'static str,
    description: &'static str,
    website_url: &'a str,
    documentation_url: &'a str,
    endpoint: &'a str,
    transport: &'static str,
    protocol_versions: Vec<&'a str>,
    authentication: Authentication,
    capabilities: Capabilities,
    instructions: &'static str,
    remotes: [Remote<'a>; 1],
    limits: Limits,
    tools: &'a [Listed],
}

#[derive(Serialize)]
struct Authentication {
    required: bool,
}

#[derive(Serialize)]
struct Capabilities {
    tools: Empty,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Remote<'a> {
    r#type: &'static str,
    url: &'a str,
    supported_protocol_versions: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    tool_calls_per_day: Option<u32>,
    resets: &'static str,
    max_request_bytes: usize,
    max_result_text_bytes: usize,
}

/// The index of a host's cards, as crawlers look for it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Index<'a> {
    spec_version: &'static str,
    entries: [Entry<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    identifier: &'a str,
    display_name: &'static str,
    r#type: &'static str,
    url: &'a str,
}

/// The media type of a server card.
const CARD_TYPE: &str = "application/mcp-server-card+json";
const JSON_TYPE: &str = "application/json";

/// The manifest, and the index that leads to it.
pub(crate) struct Manifest {
    card: StaticAsset,
    /// The same under its own media type.
    typed_card: StaticAsset,
    index: StaticAsset,
}

impl Manifest {
    /// The manifest of the endpoint on `host`.
    pub(crate) fn new(settings: &Settings, host: &str) -> Self {
        let base = settings.public_url.trim_end_matches('/');
        let endpoint = format!("{base}/api/mcp");
        let own = env!("CARGO_PKG_NAME");
        // Registries name servers by the host read backwards: com.example.api/venturedex.
        let name = if host.parse::<std::net::IpAddr>().is_ok() {
            format!("{}/{own}", host.replace(':', "-"))
        } else {
            format!("{}/{own}", host.rsplit('.').collect::<Vec<_>>().join("."))
        };
        let versions: Vec<&str> = VERSIONS.iter().rev().map(|version| version.as_str()).collect();
        let card = Card {
            name: &name,
            title: "VentureDex",
            version: env!("CARGO_PKG_VERSION"),
            description: "Venture capital firms with peer scores and ghosting rates, startups, funding rounds, people",
            website_url: base,
            documentation_url: &format!("{base}/docs/mcp"),
            endpoint: &endpoint,
            transport: "streamable-http",
            protocol_versions: versions.clone(),
            authentication: Authentication { required: false },
            capabilities: Capabilities { tools: Empty {} },
            instructions: INSTRUCTIONS,
            remotes: [Remote { r#type: "streamable-http", url: &endpoint, supported_protocol_versions: versions }],
            limits: Limits {
                tool_calls_per_day: settings.calls_per_day,
                resets: "00:00 UTC",
                max_request_bytes: settings.body_limit,
                max_result_text_bytes: crate::mcp::LONGEST,
            },
            tools: &LISTED,
        };
        let index = Index {
            spec_version: "1.0",
            entries: [Entry {
                identifier: &format!("urn:air:{host}:{own}"),
                display_name: "VentureDex",
                r#type: CARD_TYPE,
                url: &format!("{endpoint}/server-card"),
            }],
        };
        // Texts, numbers and lists of them always have a JSON form.
        let (card, index) =
            (serde_json::to_vec(&card).unwrap_or_default(), serde_json::to_vec(&index).unwrap_or_default());
        Self {
            card: StaticAsset::new(JSON_TYPE, card.clone()),
            typed_card: StaticAsset::new(CARD_TYPE, card),
            index: StaticAsset::new(JSON_TYPE, index),
        }
    }

    /// The card, as the media type that a client asks for.
    pub(crate) fn card(&self, asked: &HeaderMap) -> &StaticAsset {
        let accepted = asked.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        if accepted.contains(CARD_TYPE) { &self.typed_card } else { &self.card }
    }

    /// The index that leads to the card.
    pub(crate) fn index(&self) -> &StaticAsset {
        &self.index
    }
}
