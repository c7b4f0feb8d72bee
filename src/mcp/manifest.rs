//! The manifest: a server card (name, version, remotes) with the tools and limits added, for clients and registries that
//! look before they connect.

use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;
use http::header::ACCEPT;
use serde_json::{Value, json};

use crate::data::SnapshotVersion;
use crate::http::static_asset::StaticAsset;
use crate::mcp::ToolRelease;
use crate::mcp::revision::REVISIONS;
use crate::mcp::tool::TOOLS;
use crate::mcp::{MAX_RESULT_BYTES, Settings};

/// The media type of a server card.
const CARD_TYPE: &str = "application/mcp-server-card+json";
const JSON_TYPE: &str = "application/json";

pub(crate) struct Manifest {
    /// The card without what depends on the release.
    card: Value,
    /// The cards of the release that was active last, by its version and content.
    cards: Mutex<Option<(SnapshotVersion, u64, Arc<Cards>)>>,
    index: StaticAsset,
}

/// The card of a release.
pub(crate) struct Cards {
    plain: StaticAsset,
    /// With its own media type.
    typed: StaticAsset,
}

impl Manifest {
    pub(crate) fn new(settings: &Settings, host: &str) -> Self {
        let base = settings.public_url.trim_end_matches('/');
        let endpoint = format!("{base}/api/mcp");
        let own = env!("CARGO_PKG_NAME");
        // Registries name servers by the reversed host: com.example.api/venturedex.
        let namespace = if host.parse::<std::net::IpAddr>().is_ok() {
            host.replace(':', "-")
        } else {
            host.rsplit('.').collect::<Vec<_>>().join(".")
        };
        let revisions: Vec<&str> = REVISIONS.into_iter().rev().collect();
        let card = json!({
            "name": format!("{namespace}/{own}"),
            "title": "VentureDex",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Venture capital firms with peer scores and ghosting rates, startups, funding rounds, people",
            "websiteUrl": base,
            "documentationUrl": format!("{base}/docs/mcp"),
            "endpoint": endpoint,
            "transport": "streamable-http",
            "protocolVersions": revisions,
            "authentication": { "required": false },
            "capabilities": { "tools": {} },
            "remotes": [{ "type": "streamable-http", "url": endpoint, "supportedProtocolVersions": revisions }],
            "limits": {
                "toolCallsPerDay": settings.calls_per_day,
                "resets": "00:00 UTC",
                "maxRequestBytes": settings.body_limit,
                "maxResultTextBytes": MAX_RESULT_BYTES,
            },
            "tools": *TOOLS,
        });
        let index = json!({
            "specVersion": "1.0",
            "entries": [{
                "identifier": format!("urn:air:{host}:{own}"),
                "displayName": "VentureDex",
                "type": CARD_TYPE,
                "url": format!("{endpoint}/server-card"),
            }],
        });
        Self { card, cards: Mutex::default(), index: StaticAsset::new(JSON_TYPE, index.to_string()) }
    }

    /// The cards of a release.
    pub(crate) fn cards(&self, release: &ToolRelease) -> Arc<Cards> {
        let snapshot = release.catalog.snapshot();
        // A poisoned lock means that a thread panicked while holding it; the cards are still valid.
        let mut cards = self.cards.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cards {
            Some((version, content, known)) if (*version, *content) == (snapshot.version(), snapshot.content()) => {
                Arc::clone(known)
            }
            _ => {
                let mut card = self.card.clone();
                card["instructions"] = release.instructions().into();
                card["data"] = json!({
                    "snapshot": snapshot.version().to_string(),
                    "title": snapshot.title(),
                    "source": snapshot.source(),
                    "license": snapshot.license(),
                    "invented": snapshot.is_invented(),
                });
                let card = card.to_string();
                let plain = StaticAsset::new(JSON_TYPE, card.clone());
                let made = Arc::new(Cards { plain, typed: StaticAsset::new(CARD_TYPE, card) });
                *cards = Some((snapshot.version(), snapshot.content(), Arc::clone(&made)));
                made
            }
        }
    }

    /// The index of the host's cards, which crawlers look for.
    pub(crate) fn index(&self) -> &StaticAsset {
        &self.index
    }
}

impl Cards {
    /// The card, with the media type that the client accepts.
    pub(crate) fn accepted(&self, headers: &HeaderMap) -> &StaticAsset {
        let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let accepts_card = accept.is_some_and(|accept| accept.contains(CARD_TYPE));
        if accepts_card { &self.typed } else { &self.plain }
    }
}
