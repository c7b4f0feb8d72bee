//! Style sheets, scripts, typeface, icon, robots.txt and the OpenSearch description for browsers.

use std::borrow::Cow;

use crate::docs::html::escaped;
use crate::static_pages::{DocsContext, SiteEntry, StaticEntry};
use service::BrandColor;
use service::brand::DEFAULT_COLOR;
use transport::static_asset::StaticAsset;

pub const STYLE: &str = include_str!("assets/style.css");

/// Optional: every page works without it.
pub(crate) const SCRIPT: &str = include_str!("assets/page.js");

/// Inter 4.1 (`inter-ui` of npm), upright, weights 400 to 750, reduced to the letters of Latin alphabets by `fonttools
/// varLib.instancer` and `pyftsubset`. For other letters, browsers use a font of the system.
const TYPEFACE: &[u8] = include_bytes!("assets/inter-4.1.woff2");

pub(crate) const DOCS_STYLE: &str = include_str!("assets/docs.css");
pub(crate) const PLAYGROUND: &str = include_str!("assets/playground.js");

const ICON: &str = include_str!("assets/favicon.svg");

/// Maximum length of `ShortName` in characters, by the OpenSearch specification.
const MAX_SHORT_NAME: usize = 16;

/// End of the first block of the style sheet, which defines the colors. Declarations inserted before it override them.
const END_OF_COLORS: &str = "\n}\n";

fn style(color: Option<BrandColor>) -> Cow<'static, str> {
    let (Some(BrandColor { light, dark }), Some((colors, rest))) = (color, STYLE.split_once(END_OF_COLORS)) else {
        return Cow::Borrowed(STYLE);
    };
    Cow::Owned(format!(
        "{colors}\n  --brand: light-dark({light}, {dark});\n  --brand-ink: light-dark(#fff, #0b0f0d);\n  \
         --link: light-dark({light}, {dark});\n  --mark: {light};{END_OF_COLORS}{rest}"
    ))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use service::brand::{DARK_BACKGROUND, LIGHT_BACKGROUND, Rgb};

    /// The light and the dark color of a variable.
    fn colors(style: &str, variable: &str) -> [Rgb; 2] {
        let (_, rest) = style.rsplit_once(&format!("  {variable}: light-dark(")).unwrap();
        let (light, dark) = rest.split_once(')').unwrap().0.split_once(", ").unwrap();
        let parsed = |text: &str| match text {
            "#fff" => Rgb([255; 3]),
            text => text.parse().unwrap(),
        };
        [parsed(light), parsed(dark)]
    }

    #[test]
    fn the_operators_color_is_readable_on_every_background_of_the_style_sheet() {
        for color in ["#0f5c4d", "#7a1fa2", "#b00020", "#000000", "#1a4fd0"] {
            let style = style(Some(color.parse().unwrap()));
            let [link, ink, brand] = ["--link", "--brand-ink", "--brand"].map(|variable| colors(&style, variable));
            assert_eq!(brand[0].to_string(), color);
            for theme in [0, 1] {
                for background in ["--paper", "--card", "--tint"].map(|variable| colors(STYLE, variable)[theme]) {
                    assert!(link[theme].contrast(background) >= 4.5, "{color}: {} on {background}", link[theme]);
                }
                assert!(ink[theme].contrast(brand[theme]) >= 4.5, "{color}: {} on {}", ink[theme], brand[theme]);
            }
        }
        assert_eq!([LIGHT_BACKGROUND, DARK_BACKGROUND], colors(STYLE, "--tint"));
    }

    #[test]
    fn the_mark_has_the_operators_color() {
        let color = DEFAULT_COLOR.to_string();
        assert!(ICON.contains(&color) && STYLE.contains(&format!("--mark: {color};")));
        assert!(style(Some("#7a1fa2".parse().unwrap())).contains("--mark: #7a1fa2;"));
    }
}
