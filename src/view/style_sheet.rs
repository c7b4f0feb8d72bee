//! The style sheet and the icon, in the colors of the operator.

use std::borrow::Cow;

use service::BrandColor;

pub const STYLE: &str = include_str!("assets/style.css");

pub const ICON: &str = include_str!("assets/favicon.svg");

/// End of the first block of the style sheet, which defines the colors. Declarations inserted before it override them.
const END_OF_COLORS: &str = "\n}\n";

pub fn style(color: Option<BrandColor>) -> Cow<'static, str> {
    let (Some(BrandColor { light, dark }), Some((colors, rest))) = (color, STYLE.split_once(END_OF_COLORS)) else {
        return Cow::Borrowed(STYLE);
    };
    Cow::Owned(format!(
        "{colors}\n  --brand: light-dark({light}, {dark});\n  --brand-ink: light-dark(#fff, #0b0f0d);\n  \
         --link: light-dark({light}, {dark});\n  --mark: {light};{END_OF_COLORS}{rest}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use service::brand::{DARK_BACKGROUND, DEFAULT_COLOR, LIGHT_BACKGROUND, Rgb};

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
