//! Pictures: SVG with the colors of the style sheet in light mode, and the same as PNG, drawn by `resvg`.
//!
//! A picture leaves its page, so what the page says around a chart is in it: subject, finding, key, years that are not covered,
//! source and release.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use askama::Template;
use once_cell::sync::Lazy;
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use ttf_parser::Face;

use crate::charts::{ChartFigure, Drawing, KeyItem, Shapes, swatch, text};
use crate::html::escaped;
use crate::style_sheet;
use data::fold::romanized;
use service::BrandColor;

/// Inter 4.1 (`inter-ui` of npm), Latin, Greek and Cyrillic by `pyftsubset` (`assets/inter-license.txt`).
const REGULAR: &[u8] = include_bytes!("assets/inter-regular.ttf");
const SEMI_BOLD: &[u8] = include_bytes!("assets/inter-semibold.ttf");

static FONTS: Lazy<Arc<fontdb::Database>> = Lazy::new(|| {
    let mut fonts = fontdb::Database::new();
    [REGULAR, SEMI_BOLD].into_iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    Arc::new(fonts)
});

static LETTERS: Lazy<Face<'static>> = Lazy::new(|| Face::parse(REGULAR, 0).expect("a font of ours"));

const STYLE: &str = include_str!("assets/picture.css");

/// Width of a picture in CSS pixels, and its margin; a PNG has twice as many pixels.
const WIDTH: f64 = 600.0;
const MARGIN: f64 = (WIDTH - Drawing::WIDTH) / 2.0;
/// The height that sites with previews expect for this width.
const MIN_HEIGHT: f64 = 315.0;
const LINE: f64 = 14.0;
const MAX_NOTE_LINES: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    #[error(transparent)]
    Template(#[from] askama::Error),
    /// Cannot happen with SVG of ours.
    #[error("a picture failed: {0}")]
    Drawing(String),
}

/// What a picture says of where its numbers come from.
pub struct PictureSource {
    pub brand: String,
    pub color: Option<BrandColor>,
    /// The address of the page with the chart, without its scheme.
    pub address: String,
    pub release: String,
    pub license: String,
    pub is_invented: bool,
}

#[derive(Template)]
#[template(path = "picture.svg")]
struct Picture {
    height: f64,
    title: String,
    about: String,
    style: String,
    /// Texts and key.
    shapes: String,
    drawing: Drawing,
    top: f64,
}

/// Letters of a picture: of every script in SVG, whose viewers have fonts; those of our fonts in PNG.
#[derive(Clone, Copy, PartialEq)]
pub enum Letters {
    All,
    Drawable,
}

/// The picture of a chart as SVG.
pub fn chart_picture(
    subject: &str,
    chart: &dyn ChartFigure,
    source: &PictureSource,
    letters: Letters,
) -> Result<String, PictureError> {
    let spelled = |text: &str| if letters == Letters::Drawable { drawable(text) } else { visible(text) };
    let head = chart.head();
    let mut shapes = Shapes::default();
    let brand = spelled(&source.brand);
    let kicker = spelled(&format!("{subject} · {}", head.title()));
    let signs = [(source.is_invented, "invented", "Invented data".to_owned()), (true, "brand", brand)];
    let mut end = WIDTH - MARGIN;
    for (_, class, sign) in signs.into_iter().rev().filter(|(is_there, ..)| *is_there) {
        shapes.text(class, end, 30.0, "end", &sign);
        end -= text::width(&sign) + 12.0;
    }
    shapes.text("kicker", MARGIN, 30.0, "", &text::shortened(&kicker, end - MARGIN));
    let mut y = 32.0;
    for line in wrapped(&spelled(head.finding()), 20.0, 2) {
        y += 25.0;
        shapes.text("finding", MARGIN, y, "", &line);
    }
    let top = y + 14.0;
    let mut drawing = chart.drawing()?;
    drawing.content = match letters {
        Letters::Drawable => drawable_markup(&drawing.content),
        Letters::All => visible(&drawing.content),
    };
    y = top + drawing.height + 6.0;
    y = write_key(&mut shapes, &chart.key(), y, spelled);
    for line in wrapped(&spelled(head.summary()), 10.0, MAX_NOTE_LINES) {
        y += LINE;
        shapes.text("note", MARGIN, y, "", &line);
    }
    let PictureSource { address, release, license, .. } = source;
    let license = if license.is_empty() { String::new() } else { format!(" · {license}") };
    let source_lines = wrapped(&spelled(&format!("Source: {address} · release {release}{license}")), 10.0, 2);
    let height = (y + LINE * source_lines.len() as f64 + 18.0).max(MIN_HEIGHT).ceil();
    for (index, line) in source_lines.iter().enumerate() {
        let below = (source_lines.len() - 1 - index) as f64;
        shapes.text("note", MARGIN, height - 14.0 - LINE * below, "", line);
    }
    let picture = Picture {
        height,
        title: spelled(head.finding()),
        about: spelled(&format!("{kicker}. {}", head.summary())),
        style: style(source.color),
        shapes: shapes.drawing(0.0).content,
        drawing,
        top,
    };
    Ok(picture.render()?)
}

/// Writes the items of a key in lines and returns the lower end of the last one.
fn write_key(shapes: &mut Shapes, items: &[KeyItem], top: f64, spelled: impl Fn(&str) -> String) -> f64 {
    let (mut x, mut y) = (MARGIN, top);
    for (class, text) in items {
        let text = text::shortened(&spelled(text), Drawing::WIDTH - 18.0);
        let width = 18.0 + text::width(&text) + 14.0;
        if x > MARGIN && x + width > WIDTH - MARGIN + 14.0 {
            (x, y) = (MARGIN, y + 18.0);
        }
        swatch(shapes, class, [x, y + 2.0]);
        shapes.text("", x + 18.0, y + 12.0, "", &text);
        x += width;
    }
    if items.is_empty() { top } else { y + 18.0 }
}

/// The lines of a text of a size in CSS pixels; the last one is shortened if the text has more.
fn wrapped(text: &str, size: f64, max: usize) -> Vec<String> {
    let room = Drawing::WIDTH * 12.0 / size;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_last = lines.len() == max;
        match lines.last_mut() {
            Some(line) if is_last || text::width(line) + text::width(word) + 4.0 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| text::shortened(line, room)).collect()
}

/// The style sheet of pictures with the colors of the light mode.
pub fn style(color: Option<BrandColor>) -> String {
    let mut written = String::with_capacity(STYLE.len());
    let mut rest = STYLE;
    while let Some((before, (name, after))) =
        rest.split_once("var(--").and_then(|(before, after)| Some((before, after.split_once(')')?)))
    {
        let of_operator = color.filter(|_| name == "brand").map(|color| color.light.to_string());
        written.extend([before, &of_operator.unwrap_or_else(|| light_color(name).to_owned())]);
        rest = after;
    }
    written + rest
}

/// The color of a variable of the style sheet in light mode.
fn light_color(name: &str) -> &'static str {
    let definition = style_sheet::STYLE.split_once(&format!("  --{name}: light-dark("));
    definition.and_then(|(_, rest)| rest.split_once(',')).map_or("none", |(color, _)| color)
}

fn has_letter(char: char) -> bool {
    LETTERS.glyph_index(char).is_some()
}

pub fn has_letters(text: &str) -> bool {
    text.chars().all(has_letter)
}

/// A text without the characters that XML forbids.
pub fn visible(text: &str) -> String {
    text.chars().filter(|char| !char.is_control() && !matches!(char, '\u{fffe}' | '\u{ffff}')).collect()
}

/// A text in letters of our fonts: those of other scripts by the Latin ones that they are written with.
pub fn drawable(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            _ if char.is_control() => {}
            _ if has_letter(char) => written.push(char),
            _ => written.push_str(romanized(char)),
        }
    }
    written
}

/// The same for the texts of markup; each keeps the room that it had, so that no label covers another.
fn drawable_markup(content: &str) -> String {
    if content.chars().all(|char| char.is_ascii_whitespace() || has_letter(char)) {
        return content.to_owned();
    }
    let mut written = String::with_capacity(content.len());
    for part in content.split_inclusive('<') {
        let (tag, text) = part.split_once('>').map_or(("", part), |(tag, text)| (tag, text));
        let (text, end) = text.strip_suffix('<').map_or((text, ""), |text| (text, "<"));
        if part.contains('>') {
            written.extend([&*drawable(tag), ">"]);
        }
        if text.chars().all(|char| char.is_ascii_whitespace() || has_letter(char)) {
            written.push_str(text);
        } else {
            written.push_str(&escaped(&text::shortened(&drawable(text), text::width(text))));
        }
        written.push_str(end);
    }
    written
}

/// Maximum size of a PNG in bytes, above which it has fewer shades and then fewer pixels.
const MAX_BYTES: usize = 30_000;
/// Pixels for each CSS pixel, and bits of each channel that tell shades apart; the best first.
const QUALITIES: [(f32, u32); 5] = [(2.0, 4), (2.0, 3), (1.5, 4), (1.5, 3), (1.0, 3)];

/// Draws a picture as PNG, with twice as many pixels as its SVG has CSS pixels if that is not too large.
pub fn png(svg: &str) -> Result<Vec<u8>, PictureError> {
    let fail = |cause: String| PictureError::Drawing(cause);
    let options = Options { fontdb: FONTS.clone(), font_family: "Inter".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| fail(error.to_string()))?;
    let mut drawn: Option<(f32, Pixmap)> = None;
    let mut file = Vec::new();
    for (scale, bits) in QUALITIES {
        platform::pause::point();
        let pixmap = match drawn.take() {
            Some((known, pixmap)) if known == scale => pixmap,
            _ => draw(&tree, scale).ok_or_else(|| fail("it has no size".to_owned()))?,
        };
        file = indexed(&pixmap, bits).map_err(|error| fail(error.to_string()))?;
        if file.len() <= MAX_BYTES {
            break;
        }
        drawn = Some((scale, pixmap));
    }
    Ok(file)
}

fn draw(tree: &Tree, scale: f32) -> Option<Pixmap> {
    let size = tree.size().to_int_size().scale_by(scale)?;
    let mut pixmap = Pixmap::new(size.width(), size.height())?;
    resvg::render(tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    Some(pixmap)
}

type Rgb = [u8; 3];

/// Maximum number of colors of an indexed PNG.
const MAX_COLORS: usize = 256;

/// PNG with a palette, which is a fraction of one with colors. Shades at the edges of letters that have the same first `bits` are
/// one color; those of areas stay as they are.
fn indexed(pixmap: &Pixmap, bits: u32) -> Result<Vec<u8>, png::EncodingError> {
    // The paper covers the whole picture, so that no pixel is transparent.
    let rgb = |run: &[PremultipliedColorU8]| [run[0].red(), run[0].green(), run[0].blue()];
    // Most pixels are as the one before.
    let runs = || pixmap.pixels().chunk_by(|one, next| one == next);
    let mut counts: HashMap<Rgb, usize> = HashMap::new();
    for run in runs() {
        *counts.entry(rgb(run)).or_default() += run.len();
    }
    let mut colors: Vec<(Rgb, usize)> = counts.into_iter().collect();
    // The most frequent first, which are those of areas; equal ones in an order that is always the same.
    colors.sort_unstable_by_key(|(color, count)| (std::cmp::Reverse(*count), *color));
    let mut palette: Vec<Rgb> = Vec::new();
    let mut of_bucket: HashMap<Rgb, u8> = HashMap::new();
    let mut of_color: HashMap<Rgb, u8> = HashMap::new();
    for (color, _) in colors {
        let bucket = color.map(|channel| channel >> (u8::BITS - bits));
        let index = match of_bucket.get(&bucket) {
            Some(index) => *index,
            None if palette.len() < MAX_COLORS => {
                palette.push(color);
                (palette.len() - 1) as u8
            }
            None => nearest(&palette, color),
        };
        of_bucket.insert(bucket, index);
        of_color.insert(color, index);
    }
    let mut indices: Vec<u8> = Vec::with_capacity(pixmap.pixels().len());
    runs().for_each(|run| indices.resize(indices.len() + run.len(), of_color[&rgb(run)]));
    let mut file = Cursor::new(Vec::new());
    let mut encoder = png::Encoder::new(&mut file, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.set_palette(palette.concat());
    encoder.write_header()?.write_image_data(&indices)?;
    Ok(file.into_inner())
}

fn nearest(palette: &[Rgb], color: Rgb) -> u8 {
    let distance = |known: &Rgb| -> u32 {
        known.iter().zip(color).map(|(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    let nearest = palette.iter().enumerate().min_by_key(|(_, known)| distance(known));
    nearest.map_or(0, |(index, _)| index as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{Bars, ChartHead, ChartItem, ChartUnit};

    fn source() -> PictureSource {
        PictureSource {
            brand: "VentureDex".to_owned(),
            color: None,
            address: "venturedex.example/markets".to_owned(),
            release: "2026-11-03.1".to_owned(),
            license: "CC0-1.0".to_owned(),
            is_invented: false,
        }
    }

    fn bars() -> Bars {
        let items =
            (2015..2022).map(|year: i32| ChartItem::new(year.to_string(), (year != 2018).then_some(year as u64)));
        let head = ChartHead::new("years", "Rounds per year", "7 rounds.")
            .with_gap_reason("too few rounds are known in India");
        Bars::new(head, ["Year", "Rounds"], ChartUnit::Count("round", "rounds"), items.collect())
    }

    #[test]
    fn a_picture_names_finding_source_and_the_reason_of_hatching() {
        let svg = chart_picture("青石 & Söhne", &bars(), &source(), Letters::All).unwrap();
        for text in [
            "青石 &amp; Söhne · Rounds per year",
            "Most rounds in 2021 (2,021)",
            "not covered: too few rounds are known in India",
            "Source: venturedex.example/markets · release 2026-11-03.1 · CC0-1.0",
        ] {
            assert!(svg.contains(text), "{text} is not in {svg}");
        }
        assert!(!svg.contains("<a ") && !svg.contains("var("), "{svg}");
        let drawable = chart_picture("青石 & Söhne", &bars(), &source(), Letters::Drawable).unwrap();
        assert!(
            drawable.contains("QingShi &amp; Söhne") && drawable.chars().all(|char| char == '\n' || has_letter(char))
        );
    }

    #[test]
    fn a_png_has_the_colors_of_the_style_sheet() {
        let svg = chart_picture("Markets", &bars(), &source(), Letters::Drawable).unwrap();
        let file = png(&svg).unwrap();
        assert!(file.len() <= MAX_BYTES, "{}", file.len());
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
        let palette = reader.info().palette.clone().unwrap().into_owned();
        let (width, height) = reader.info().size();
        assert!(width == 1_200 && height >= 630, "{width} by {height}");
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let color = |x: usize, y: usize| {
            let place = 3 * usize::from(pixels[y * 1_200 + x]);
            format!("#{}", palette[place..place + 3].iter().map(|channel| format!("{channel:02x}")).collect::<String>())
        };
        assert_eq!(color(600, 4), light_color("brand"));
        assert_eq!(color(20, 300), light_color("paper"));
    }

    #[test]
    fn names_of_other_scripts_have_latin_letters() {
        assert_eq!(drawable("Łódź Фонд Ελλάδα"), "Łódź Фонд Ελλάδα");
        for name in ["红杉资本", "صندوق", "벤처", "กองทุน", "वेंचर"] {
            let latin = drawable(name);
            assert!(latin.len() > 2 && latin.is_ascii(), "{name}: {latin}");
        }
        assert_eq!(drawable_markup("<text x=\"1\">a &amp; b</text>"), "<text x=\"1\">a &amp; b</text>");
        assert!(drawable_markup("<text>红杉资本中国基金</text>").starts_with("<text>HongShan"));
    }

    #[test]
    fn lines_of_a_long_text_fit() {
        let text = "Kleiner Perkins Caufield & Byers ".repeat(9);
        let lines = wrapped(&text, 20.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| text::width(line) * 20.0 / 12.0 <= Drawing::WIDTH) && lines[1].ends_with('…'));
    }
}
