//! Style sheet, script, typeface, icon, robots.txt and the description of the search for browsers (OpenSearch).

use crate::http::static_asset::StaticAsset;
use crate::site::docs::html::escaped;
use crate::site::static_pages::StaticEntry;

pub(crate) const STYLE: &str = include_str!("assets/style.css");

/// Optional: every page works without it.
pub(crate) const SCRIPT: &str = include_str!("assets/page.js");

/// Inter 4.1 (`inter-ui` of npm) with the letters of Latin alphabets, upright, in weights of 400 to 750, made by
/// `fonttools varLib.instancer` and `pyftsubset`; other letters are those of the visitor's system.
const TYPEFACE: &[u8] = include_bytes!("assets/inter-4.1.woff2");

const ICON: &str = include_str!("assets/favicon.svg");

pub(crate) const FILES: &[(&str, StaticEntry)] = &[
    ("/assets/style.css", StaticEntry::File(|_| StaticAsset::new("text/css; charset=utf-8", STYLE))),
    ("/assets/page.js", StaticEntry::File(|_| StaticAsset::new("text/javascript; charset=utf-8", SCRIPT))),
    ("/assets/inter-4.1.woff2", StaticEntry::File(|_| StaticAsset::new("font/woff2", TYPEFACE))),
    ("/favicon.svg", StaticEntry::File(|_| StaticAsset::new("image/svg+xml", ICON))),
    ("/favicon.ico", StaticEntry::File(|_| StaticAsset::new("image/svg+xml", ICON))),
    (
        "/robots.txt",
        StaticEntry::File(|context| {
            let rules = include_str!("assets/robots.txt");
            StaticAsset::new("text/plain; charset=utf-8", format!("{rules}\nSitemap: {}/sitemap.xml\n", context.base))
        }),
    ),
    (
        "/opensearch.xml",
        StaticEntry::File(|context| {
            let text = include_str!("assets/opensearch.xml").replace("{base}", &escaped(context.base));
            StaticAsset::new("application/opensearchdescription+xml", text)
        }),
    ),
];
