//! Style sheet, script, icon and robots.txt.

use crate::http::static_asset::StaticAsset;
use crate::site::static_pages::StaticEntry;

pub(crate) const STYLE: &str = include_str!("assets/style.css");

/// Optional: every page works without it.
pub(crate) const SCRIPT: &str = include_str!("assets/page.js");

const ICON: &str = include_str!("assets/favicon.svg");

pub(crate) const FILES: &[(&str, StaticEntry)] = &[
    ("/assets/style.css", StaticEntry::File(|_| StaticAsset::new("text/css; charset=utf-8", STYLE))),
    ("/assets/page.js", StaticEntry::File(|_| StaticAsset::new("text/javascript; charset=utf-8", SCRIPT))),
    ("/favicon.svg", StaticEntry::File(|_| StaticAsset::new("image/svg+xml", ICON))),
    ("/favicon.ico", StaticEntry::File(|_| StaticAsset::new("image/svg+xml", ICON))),
    (
        "/robots.txt",
        StaticEntry::File(|_| StaticAsset::new("text/plain; charset=utf-8", include_str!("assets/robots.txt"))),
    ),
];
