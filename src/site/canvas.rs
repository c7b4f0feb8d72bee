//! Pictures of rectangles and text in a few colors, as PNG with a palette (W3C, "PNG", third edition).

use std::io::Write;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use once_cell::sync::Lazy;

use platform::pause;
use service::brand::DEFAULT_COLOR;

/// Inter 4.1 (`inter-ui` of npm), semi-bold, Latin, Greek and Cyrillic by `pyftsubset` (`assets/inter-license.txt`).
static FONT: Lazy<FontRef<'static>> =
    Lazy::new(|| FontRef::try_from_slice(include_bytes!("assets/inter-semibold.ttf")).expect("a font of ours"));

pub(crate) const BRAND: [u8; 3] = DEFAULT_COLOR.0;
const PAPER: [u8; 3] = [0xfb, 0xfc, 0xfa];

/// A color of the style sheet in light mode. `Brand` may be the operator's color.
#[derive(Clone, Copy)]
pub(crate) enum Ink {
    Text,
    Quiet,
    Brand,
    Line,
}

impl Ink {
    const COLORS: [[u8; 3]; 4] = [[0x17, 0x21, 0x1e], [0x55, 0x63, 0x5d], BRAND, [0xa4, 0xb3, 0xac]];
    /// Shades from the paper color to the full color, for smooth edges of letters.
    const SHADES: u8 = 16;

    /// Palette index for a coverage from 0 to 1.
    fn shade(self, coverage: f32) -> u8 {
        let last = f32::from(Self::SHADES - 1);
        self as u8 * Self::SHADES + (coverage.clamp(0.0, 1.0) * last).round() as u8
    }

    fn palette(brand: [u8; 3]) -> Vec<u8> {
        let mixed = |color: &[u8; 3], shade: u8| -> Vec<u8> {
            let part = f32::from(shade) / f32::from(Self::SHADES - 1);
            let mix = |(color, paper): (&u8, u8)| (part * f32::from(*color) + (1.0 - part) * f32::from(paper)).round();
            color.iter().zip(PAPER).map(|channels| mix(channels) as u8).collect()
        };
        let mut colors = Self::COLORS;
        colors[Self::Brand as usize] = brand;
        colors.iter().flat_map(|color| (0..Self::SHADES).flat_map(move |shade| mixed(color, shade))).collect()
    }
}

pub(crate) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![Ink::Text.shade(0.0); width * height] }
    }

    pub(crate) fn rectangle(&mut self, x: f32, y: f32, width: f32, height: f32, ink: Ink) {
        self.fill(x, y, width, height, ink, |_, _| true);
    }

    pub(crate) fn hatched(&mut self, x: f32, y: f32, width: f32, height: f32, ink: Ink) {
        self.fill(x, y, width, height, ink, |x, y| (x + y) % 10 < 2);
    }

    fn fill(&mut self, x: f32, y: f32, width: f32, height: f32, ink: Ink, is_filled: impl Fn(usize, usize) -> bool) {
        let [left, right] = [x, x + width].map(|x| (x.round().max(0.0) as usize).min(self.width));
        let [top, bottom] = [y, y + height].map(|y| (y.round().max(0.0) as usize).min(self.height));
        for y in top..bottom {
            for x in (left..right).filter(|x| is_filled(*x, y)) {
                self.pixels[y * self.width + x] = ink.shade(1.0);
            }
        }
    }

    /// Draws text from `x` on the base line `y`; `size` is the font size in pixels.
    pub(crate) fn text(&mut self, x: f32, y: f32, size: f32, ink: Ink, text: &str) {
        let font = FONT.as_scaled(scale(size));
        let mut pen = x;
        for letter in text.chars() {
            let id = font.glyph_id(letter);
            if let Some(outline) = font.outline_glyph(id.with_scale_and_position(scale(size), point(pen, y))) {
                let bounds = outline.px_bounds();
                outline.draw(|column, row, coverage| {
                    let (x, y) = (bounds.min.x + column as f32, bounds.min.y + row as f32);
                    self.cover(x, y, ink, coverage);
                });
            }
            pen += font.h_advance(id);
        }
    }

    /// Paints a partly covered pixel; does nothing outside the canvas.
    fn cover(&mut self, x: f32, y: f32, ink: Ink, coverage: f32) {
        let is_inside = x >= 0.0 && y >= 0.0 && x < self.width as f32 && y < self.height as f32;
        let shade = ink.shade(coverage);
        if is_inside && shade > ink.shade(0.0) {
            self.pixels[y as usize * self.width + x as usize] = shade;
        }
    }

    pub(crate) fn png(&self, brand: [u8; 3]) -> Vec<u8> {
        let size = |length: usize| (length as u32).to_be_bytes();
        // 8 bits per pixel, palette, no interlacing.
        let header = [size(self.width).as_slice(), &size(self.height), &[8, 3, 0, 0, 0]].concat();
        let mut data = ZlibEncoder::new(Vec::new(), Compression::default());
        for row in pause::every(64, self.pixels.chunks(self.width.max(1))) {
            // Filter type of the row: none.
            data.write_all(&[0]).and_then(|()| data.write_all(row)).expect(TO_MEMORY);
        }
        let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
        for (kind, content) in [
            (b"IHDR", header),
            (b"PLTE", Ink::palette(brand)),
            (b"IDAT", data.finish().expect(TO_MEMORY)),
            (b"IEND", Vec::new()),
        ] {
            let mut checksum = Crc::new();
            checksum.update(kind);
            checksum.update(&content);
            png.extend(size(content.len()).iter().chain(kind).chain(&content).chain(&checksum.sum().to_be_bytes()));
        }
        png
    }
}

const TO_MEMORY: &str = "writing to memory does not fail";

fn scale(size: f32) -> PxScale {
    // `PxScale` is ascent plus descent.
    PxScale::from(size * 1.2)
}

pub(crate) fn width(text: &str, size: f32) -> f32 {
    let font = FONT.as_scaled(scale(size));
    text.chars().map(|letter| font.h_advance(font.glyph_id(letter))).sum()
}

pub(crate) fn has_letters(text: &str) -> bool {
    text.chars().all(|letter| FONT.glyph_id(letter).0 != 0)
}

pub(crate) fn shortened(text: &str, size: f32, room: f32) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut cuts = text.char_indices().rev().map(|(end, _)| format!("{}…", text[..end].trim_end()));
    cuts.find(|cut| width(cut, size) <= room).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    /// The content of all chunks of a kind. Checks the checksum of every chunk.
    fn chunk(png: &[u8], kind: &[u8; 4]) -> Vec<u8> {
        let mut rest = png.strip_prefix(b"\x89PNG\r\n\x1a\n").unwrap();
        let mut found = Vec::new();
        while !rest.is_empty() {
            let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            let mut checksum = Crc::new();
            checksum.update(&rest[4..8 + length]);
            assert_eq!(rest[8 + length..12 + length], checksum.sum().to_be_bytes());
            if rest[4..8] == *kind {
                found.extend(&rest[8..8 + length]);
            }
            rest = &rest[12 + length..];
        }
        found
    }

    #[test]
    fn a_picture_has_the_pixels_that_were_drawn() {
        let mut canvas = Canvas::new(40, 30);
        canvas.rectangle(2.0, 3.0, 4.0, 5.0, Ink::Brand);
        canvas.text(10.0, 25.0, 18.0, Ink::Text, "Éł");
        // Parts outside the canvas are clipped.
        canvas.rectangle(38.0, 28.0, 9.0, 9.0, Ink::Quiet);
        canvas.text(-5.0, 2.0, 18.0, Ink::Text, "W");
        let png = canvas.png(BRAND);
        assert_eq!(chunk(&png, b"IHDR"), [0, 0, 0, 40, 0, 0, 0, 30, 8, 3, 0, 0, 0]);
        let palette = chunk(&png, b"PLTE");
        let mut rows = Vec::new();
        ZlibDecoder::new(chunk(&png, b"IDAT").as_slice()).read_to_end(&mut rows).unwrap();
        assert_eq!(rows.len(), 41 * 30);
        let color = |x: usize, y: usize| {
            let place = 3 * usize::from(rows[41 * y + 1 + x]);
            palette[place..place + 3].to_vec()
        };
        assert_eq!(
            (color(2, 3), color(5, 7), color(39, 29)),
            (vec![0x0f, 0x5c, 0x4d], vec![0x0f, 0x5c, 0x4d], vec![0x55, 0x63, 0x5d])
        );
        assert_eq!((color(1, 3), color(6, 3), color(2, 8)), (PAPER.to_vec(), PAPER.to_vec(), PAPER.to_vec()));
        let dark = (10..40)
            .flat_map(|x| (8..26).map(move |y| (x, y)))
            .filter(|(x, y)| color(*x, *y) == [0x17, 0x21, 0x1e])
            .count();
        assert!((30..200).contains(&dark), "{dark}");
    }

    #[test]
    fn a_text_is_shortened_to_its_room_and_unknown_letters_are_noticed() {
        assert_eq!(shortened("Sequoia Capital", 40.0, 2_000.0), "Sequoia Capital");
        let short = shortened("Kleiner Perkins Caufield & Byers", 40.0, 300.0);
        assert!(short.ends_with('…') && short.len() > 8 && width(&short, 40.0) <= 300.0, "{short}");
        assert_eq!(shortened("W", 40.0, 1.0), "");
        for text in ["Société Générale", "Łódź", "Фонд развития", "Ελλάδα", "Q&A “x” – $5 · №".trim_end_matches('№')]
        {
            assert!(has_letters(text), "{text}");
        }
        for text in ["红杉资本", "صندوق", "a\u{1f600}"] {
            assert!(!has_letters(text), "{text}");
        }
    }
}
