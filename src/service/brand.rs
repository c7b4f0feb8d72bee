//! The operator's name and accent color for the service.

use std::fmt;
use std::str::FromStr;

const MAX_NAME: usize = 48;
/// Minimum contrast of text, from the WCAG.
const MIN_CONTRAST: f64 = 4.5;

/// Default accent color; tests compare it with the style sheet and the icon.
pub const DEFAULT_COLOR: Rgb = Rgb([0x0f, 0x5c, 0x4d]);

/// The page backgrounds with the least contrast for links; a test compares them with the style sheet.
pub const LIGHT_BACKGROUND: Rgb = Rgb([0xef, 0xf4, 0xf0]);
pub const DARK_BACKGROUND: Rgb = Rgb([0x20, 0x27, 0x23]);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brand {
    /// See [`brand_name`].
    pub name: String,
    /// `None`: the color of the style sheet.
    pub color: Option<BrandColor>,
}

impl Default for Brand {
    fn default() -> Self {
        Self { name: "VentureDex".to_owned(), color: None }
    }
}

/// Parses the name of the service.
pub fn brand_name(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_valid = (1..=MAX_NAME).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    let expected = || format!("not a name of 1 to {MAX_NAME} characters in one line; example: Acme Ventures Data");
    if is_valid { Ok(text.to_owned()) } else { Err(expected()) }
}

/// A color, displayed as `#0f5c4d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub [u8; 3]);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl FromStr for Rgb {
    type Err = BrandColorError;

    fn from_str(text: &str) -> Result<Self, BrandColorError> {
        let digits = text.trim().strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii());
        let byte = |at: usize| u8::from_str_radix(digits?.get(at..at + 2)?, 16).ok();
        match [0, 2, 4].map(byte) {
            // `from_str_radix` accepts a sign.
            [Some(red), Some(green), Some(blue)] if !text.contains('+') => Ok(Self([red, green, blue])),
            _ => Err(BrandColorError::NotAColor),
        }
    }
}

impl Rgb {
    /// Relative luminance, 0–1: <https://www.w3.org/TR/WCAG22/#dfn-relative-luminance>.
    fn luminance(self) -> f64 {
        let linear = self.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    /// Contrast ratio of two colors, 1–21.
    pub fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// The first color on the way to `end` with enough contrast to a background; `end` itself has enough.
    fn readable(self, end: Self, background: Self) -> Self {
        let mixed = |share: u32| {
            let part =
                |index: usize| (u32::from(self.0[index]) * (255 - share) + u32::from(end.0[index]) * share) / 255;
            Self([0, 1, 2].map(|index| part(index) as u8))
        };
        (0..=255).map(mixed).find(|color| color.contrast(background) >= MIN_CONTRAST).unwrap_or(end)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrandColor {
    pub light: Rgb,
    /// The operator's color, lightened for dark pages.
    pub dark: Rgb,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BrandColorError {
    #[error("not a color of six hexadecimal digits; example: #0f5c4d")]
    NotAColor,
    #[error(
        "its contrast to light pages is {:.1} : 1, and text takes {MIN_CONTRAST} : 1; the nearest color that has it is {nearest}",
        (contrast * 10.0).floor() / 10.0
    )]
    // Rounded down: 4.49 does not reach the required 4.5.
    Pale { contrast: f64, nearest: Rgb },
}

impl FromStr for BrandColor {
    type Err = BrandColorError;

    fn from_str(text: &str) -> Result<Self, BrandColorError> {
        let light: Rgb = text.parse()?;
        let nearest = light.readable(Rgb([0; 3]), LIGHT_BACKGROUND);
        if nearest != light {
            let contrast = light.contrast(LIGHT_BACKGROUND);
            return Err(BrandColorError::Pale { contrast, nearest });
        }
        Ok(Self { light, dark: light.readable(Rgb([255; 3]), DARK_BACKGROUND) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn contrasts_are_those_of_the_standard() {
        let contrast = |one: &str, two: &str| {
            let (one, two): (Rgb, Rgb) = (one.parse().unwrap(), two.parse().unwrap());
            (one.contrast(two) * 100.0).round() / 100.0
        };
        assert_eq!(contrast("#000000", "#ffffff"), 21.0);
        // The usual examples of grays on white.
        assert_eq!((contrast("#767676", "#ffffff"), contrast("#777777", "#ffffff")), (4.54, 4.48));
    }

    proptest! {
        #[test]
        fn a_color_is_readable_on_light_and_dark_pages_or_a_readable_one_is_named(rgb: [u8; 3]) {
            let color = match Rgb(rgb).to_string().parse::<BrandColor>() {
                Ok(color) => {
                    prop_assert_eq!(color.light, Rgb(rgb));
                    color
                }
                Err(BrandColorError::Pale { contrast, nearest }) => {
                    prop_assert!(contrast < MIN_CONTRAST);
                    nearest.to_string().parse().unwrap()
                }
                Err(error) => panic!("{error}"),
            };
            prop_assert!(color.light.contrast(LIGHT_BACKGROUND) >= MIN_CONTRAST);
            prop_assert!(color.dark.contrast(DARK_BACKGROUND) >= MIN_CONTRAST);
        }
    }

    #[test]
    fn errors_say_what_to_write() {
        for text in ["", "0f5c4d", "#0f5", "#0f5c4g", "#+f5c4d", "green", "#0f5c4d00", "#ä5c4d"] {
            assert_eq!(text.parse::<BrandColor>(), Err(BrandColorError::NotAColor), "{text}");
        }
        let error = "#ff9900".parse::<BrandColor>().unwrap_err().to_string();
        assert!(error.starts_with("its contrast to light pages is 1.9 : 1, and text takes 4.5 : 1; "), "{error}");
        for text in ["", " ", "a\nb", &"x".repeat(49)] {
            assert!(brand_name(text).unwrap_err().starts_with("not a name of 1 to 48 characters"), "{text:?}");
        }
        assert_eq!(brand_name(" Größe & Söhne ").as_deref(), Ok("Größe & Söhne"));
    }
}
