//! Style sheets, scripts, typeface, icon, robots.txt and the OpenSearch description for browsers.

use crate::static_pages::{DocsContext, SiteEntry, StaticEntry};
use service::brand::DEFAULT_COLOR;
use transport::static_asset::StaticAsset;
use view::html::escaped;
use view::style_sheet::{ICON, style};

/// Optional: every page works without it.
pub(crate) const SCRIPT: &str = include_str!("assets/page.js");

/// Inter 4.1 (`inter-ui` of npm), upright, weights 400 to 750, reduced to the letters of Latin alphabets by `fonttools
/// varLib.instancer` and `pyftsubset`. For other letters, browsers use a font of the system.
const TYPEFACE: &[u8] = include_bytes!("assets/inter-4.1.woff2");

pub(crate) const DOCS_STYLE: &str = include_str!("assets/docs.css");
pub(crate) const PLAYGROUND: &str = include_str!("assets/playground.js");

/// Maximum length of `ShortName` in characters, by the OpenSearch specification.
const MAX_SHORT_NAME: usize = 16;

fn icon(context: &DocsContext<'_>) -> StaticAsset {
    let color = context.operator.brand.color.map_or(DEFAULT_COLOR, |color| color.light);
    StaticAsset::new("image/svg+xml", ICON.replace(&DEFAULT_COLOR.to_string(), &color.to_string()))
}

pub(crate) const FILES: &[SiteEntry] = &[
    (
        "/assets/style.css",
        StaticEntry::File(|context| {
            StaticAsset::new("text/css; charset=utf-8", style(context.operator.brand.color).into_owned())
        }),
    ),
    ("/assets/page.js", StaticEntry::File(|_| StaticAsset::new("text/javascript; charset=utf-8", SCRIPT))),
    ("/assets/inter-4.1.woff2", StaticEntry::File(|_| StaticAsset::new("font/woff2", TYPEFACE))),
    ("/assets/docs.css", StaticEntry::File(|_| StaticAsset::new("text/css; charset=utf-8", DOCS_STYLE))),
    ("/assets/playground.js", StaticEntry::File(|_| StaticAsset::new("text/javascript; charset=utf-8", PLAYGROUND))),
    ("/favicon.svg", StaticEntry::File(icon)),
    ("/favicon.ico", StaticEntry::File(icon)),
    (
        "/robots.txt",
        StaticEntry::File(|context| {
            let rules = match context.operator.access.is_private() {
                true => "User-agent: *\nDisallow: /\n".to_owned(),
                false => format!("{}\nSitemap: {}/sitemap.xml\n", include_str!("assets/robots.txt"), context.base),
            };
            StaticAsset::new("text/plain; charset=utf-8", rules)
        }),
    ),
    (
        "/opensearch.xml",
        StaticEntry::File(|context| {
            let text = include_str!("assets/opensearch.xml").replace("{base}", &escaped(context.base));
            let name = context.operator.brand.name.as_str();
            let short: String = name.chars().take(MAX_SHORT_NAME).collect();
            let text = text.replace("{name}", &escaped(name)).replace("{short_name}", &escaped(short.trim()));
            StaticAsset::new("application/opensearchdescription+xml", text)
        }),
    ),
];
