//! The manifest: what the endpoint is and what its tools take, for whoever wants to know before connecting.
//!
//! One value, made once, served at each address under which clients and registries look for it. It is a server card
//! (name, version, remotes) that tells more than one must: the tools and the limits.

use bytes::Bytes;
use http::HeaderValue;
use rmcp::model::Tool as Listed;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use super::Settings;
use super::handler::{INSTRUCTIONS, VERSIONS};
use super::tool::LISTED;

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
pub(super) const CARD_TYPE: &str = "application/mcp-server-card+json";

/// A text that stays the same for the life of the server, and its entity tag.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    pub text: Bytes,
    pub etag: HeaderValue,
}

impl Fixed {
    fn of(value: &impl Serialize) -> Self {
        let text = Bytes::from(serde_json::to_vec(value).unwrap_or_default());
        let etag = HeaderValue::try_from(format!("W/\"{:016x}\"", xxh3_64(&text)));
        Self { text, etag: etag.unwrap_or(HeaderValue::from_static("W/\"0\"")) }
    }
}

/// The manifest, and the index that leads to it.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    pub card: Fixed,
    pub index: Fixed,
}

impl Manifest {
    /// The manifest of the endpoint on `host`.
    pub(super) fn new(settings: &Settings, host: &str) -> Self {
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
                max_result_text_bytes: super::LONGEST,
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
        Self { card: Fixed::of(&card), index: Fixed::of(&index) }
    }
}
