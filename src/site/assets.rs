//! The files beside the pages: the style sheet, the script that makes pages nicer, the picture, the word to robots.

use crate::http::static_asset::StaticAsset;
use crate::site::static_pages::StaticEntry;

/// The style sheet of all pages.
pub const STYLE: &str = include_str!("assets/style.css");

/// The script of all pages; nothing needs it.
pub const SCRIPT: &str = include_str!("assets/page.js");

const PICTURE: &str = include_str!("assets/favicon.svg");

/// Everything that is here, by path.
pub(crate) const FILES: &[(&str, StaticEntry)] = &[
    ("/assets/style.css", StaticEntry::File(|_| StaticAsset::new("text/css; charset=utf-8", STYLE))),
    ("/assets/page.js", StaticEntry::File(|_| StaticAsset::new("text/javascript; charset=utf-8", SCRIPT))),
    ("/favicon.svg", StaticEntry::File(|_| StaticAsset::new("image/svg+xml", PICTURE))),
    ("/favicon.ico", StaticEntry::File(|_| StaticAsset::new("image/svg+xml", PICTURE))),
    (
        "/robots.txt",
        StaticEntry::File(|_| StaticAsset::new("text/plain; charset=utf-8", include_str!("assets/robots.txt"))),
    ),
];
