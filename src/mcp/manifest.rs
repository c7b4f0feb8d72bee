//! Documents that clients and registries read before they connect: the manifest with the tools and limits, the server
//! card (name, version, remotes), the index of cards, and the document for the official registry.

use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use http::header::ACCEPT;
use serde_json::{Value, json};

use crate::dispatch::capabilities;
use crate::revision::REVISIONS;
use crate::tool::TOOLS;
use crate::{MAX_RESULT_BYTES, Settings, ToolRelease};
use data::SnapshotVersion;
use platform::pause;
use service::Operator;
use transport::static_asset::StaticAsset;

const CARD_TYPE: &str = "application/mcp-server-card+json";
const JSON_TYPE: &str = "application/json";

const CARD_SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const SERVER_JSON_SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
const TITLE: &str = "VentureDex";
const DESCRIPTION: &str = "Venture capital firms with peer scores and ghosting rates, startups, funding rounds, people";

pub(crate) struct McpManifest {
    /// The manifest, except for the parts that depend on the release.
    manifest: Value,
    /// The manifest of the last active release, keyed by version and content.
    of_release: Mutex<Option<(SnapshotVersion, u64, Arc<StaticAsset>)>>,
    card: StaticAsset,
    /// The card, served with its own media type.
    typed_card: StaticAsset,
    /// The index of the host's cards, which crawlers look for.
    pub(crate) index: StaticAsset,
    /// The metadata of a protected resource. It names no authorization server: keys come from the account page.
    pub(crate) resource: StaticAsset,
}

pub(crate) const NAME: &str = "venturedex";

/// Name of the server in registries: the reversed host, such as com.example.api/venturedex.
fn name(host: &str) -> String {
    let namespace = match host.parse::<std::net::IpAddr>() {
        Ok(_) => host.replace(':', "-"),
        Err(_) => host.rsplit('.').collect::<Vec<_>>().join("."),
    };
    format!("{namespace}/{NAME}")
}

/// The members that all documents of the service at `base` have.
fn about(base: &str, host: &str) -> Value {
    json!({
        "name": name(host),
        "title": TITLE,
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "websiteUrl": base,
    })
}

/// The document that lists the service at `public_url` in the official MCP registry.
pub fn server_json(public_url: &str, host: &str) -> Value {
    let base = public_url.trim_end_matches('/');
    let mut document = about(base, host);
    document["$schema"] = SERVER_JSON_SCHEMA.into();
    document["remotes"] = json!([{ "type": "streamable-http", "url": format!("{base}/api/mcp") }]);
    document
}

impl McpManifest {
    pub(crate) fn new(settings: &Settings, host: &str, operator: &Operator) -> Self {
        let base = settings.public_url.trim_end_matches('/');
        let endpoint = format!("{base}/api/mcp");
        let revisions: Vec<&str> = REVISIONS.into_iter().rev().collect();
        let remotes = json!([{ "type": "streamable-http", "url": endpoint, "supportedProtocolVersions": revisions }]);
        let mut manifest = json!({
            "name": name(host),
            "title": TITLE,
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "websiteUrl": base,
            "documentationUrl": format!("{base}/docs/mcp"),
            "endpoint": endpoint,
            "transport": "streamable-http",
            "protocolVersions": revisions,
            "authentication": { "required": operator.access.is_private() || settings.calls_per_day == Some(0) },
            "capabilities": capabilities(),
            "remotes": remotes,
            "limits": {
                "toolCallsPerDay": settings.calls_per_day,
                "resets": "00:00 UTC",
                "maxRequestBytes": settings.body_limit,
                "maxResultTextBytes": MAX_RESULT_BYTES,
            },
            "tools": *TOOLS,
        });
        let mut card = about(base, host);
        card["$schema"] = CARD_SCHEMA.into();
        card["icons"] =
            json!([{ "src": format!("{base}/favicon.svg"), "mimeType": "image/svg+xml", "sizes": ["any"] }]);
        card["remotes"] = remotes;
        let of_operator = [
            ("contact", &operator.contact),
            ("privacyPolicyUrl", &operator.privacy_url),
            ("termsOfServiceUrl", &operator.terms_url),
        ];
        for (field, url) in of_operator.into_iter().filter_map(|(field, url)| Some((field, url.as_ref()?))) {
            manifest[field] = url.as_str().into();
            // Cards have foreign fields in `_meta` only.
            card["_meta"][format!("{}.{field}", name(host))] = url.as_str().into();
        }
        let index = json!({
            "specVersion": "1.0",
            "entries": [{
                "identifier": format!("urn:air:{host}:{NAME}"),
                "displayName": "VentureDex",
                "type": CARD_TYPE,
                "url": format!("{endpoint}/server-card"),
            }],
        });
        let mut resource = json!({
            "resource": endpoint,
            "resource_name": operator.brand.name.as_str(),
            "bearer_methods_supported": ["header"],
            "resource_documentation": format!("{base}/docs/keys"),
        });
        for (field, url) in [("resource_policy_uri", &operator.privacy_url), ("resource_tos_uri", &operator.terms_url)]
        {
            if let Some(url) = url {
                resource[field] = url.as_str().into();
            }
        }
        let card = card.to_string();
        Self {
            manifest,
            of_release: Mutex::default(),
            card: StaticAsset::new(JSON_TYPE, card.clone()),
            typed_card: StaticAsset::new(CARD_TYPE, card),
            index: StaticAsset::new(JSON_TYPE, index.to_string()),
            resource: StaticAsset::new(JSON_TYPE, resource.to_string()),
        }
    }

    pub(crate) fn manifest(&self, release: &ToolRelease) -> Arc<StaticAsset> {
        let snapshot = release.catalog.snapshot();
        // A poisoned lock means that a thread panicked while holding it; the manifest is still valid.
        let mut of_release = self.of_release.lock().unwrap_or_else(PoisonError::into_inner);
        match &*of_release {
            Some((version, content, known)) if (*version, *content) == (snapshot.version(), snapshot.content()) => {
                Arc::clone(known)
            }
            _ => {
                let mut manifest = self.manifest.clone();
                manifest["instructions"] = pause::without(|| release.instructions()).into();
                manifest["data"] = json!({
                    "snapshot": snapshot.version().to_string(),
                    "title": snapshot.title(),
                    "source": snapshot.source(),
                    "license": snapshot.license(),
                    "invented": snapshot.is_invented(),
                });
                let made = Arc::new(StaticAsset::new(JSON_TYPE, manifest.to_string()));
                *of_release = Some((snapshot.version(), snapshot.content(), Arc::clone(&made)));
                made
            }
        }
    }

    /// The card, with the media type that the client accepts.
    pub(crate) fn card(&self, headers: &HeaderMap) -> &StaticAsset {
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let accepts_card = accept.is_some_and(|accept| accept.contains(CARD_TYPE));
        if accepts_card { &self.typed_card } else { &self.card }
    }
}
