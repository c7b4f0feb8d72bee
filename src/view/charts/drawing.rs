//! The drawing of a chart in a picture of its own: SVG of a fixed width, without links.

use std::fmt::Write;

use crate::charts::{WIDE, round};
use crate::format::ACCEPTS;
use crate::html::escaped;

/// The classes of a color or hatching, and what it means.
pub type KeyItem = (String, String);

/// Content of an `svg` element that is [`Drawing::WIDTH`] wide.
pub struct Drawing {
    pub content: String,
    pub height: f64,
    /// The class of the element, on which some rules of the style sheet depend.
    pub class: String,
}

impl Drawing {
    /// In CSS pixels: labels are those of the wide layout.
    pub const WIDTH: f64 = WIDE;

    /// The drawing within a chart's HTML, which is its first `svg` element. Links are left out: a picture is shown where they lead
    /// nowhere.
    pub fn of_html(html: &str) -> Self {
        let element = html.split_once("<svg").and_then(|(_, rest)| rest.split_once("</svg>"));
        let (tag, content) = element.and_then(|(element, _)| element.split_once('>')).unwrap_or_default();
        let attribute = |name: &str| {
            let (_, value) = tag.split_once(&format!(" {name}=\""))?;
            Some(value.split_once('"')?.0)
        };
        let height = attribute("height").and_then(|height| height.parse().ok()).unwrap_or(0.0);
        Self {
            content: without_links(content).replace(" aria-hidden=\"true\"", ""),
            height,
            class: attribute("class").unwrap_or_default().to_owned(),
        }
    }
}

fn without_links(content: &str) -> String {
    let mut written = String::with_capacity(content.len());
    let mut rest = content;
    while let Some((before, link)) = rest.split_once("<a ") {
        written.extend([before, "<g>"]);
        rest = link.split_once('>').map_or("", |(_, after)| after);
    }
    written.push_str(rest);
    written.replace("</a>", "</g>")
}

/// Shapes of a drawing, with classes of the style sheet for pictures. All lengths are CSS pixels.
#[derive(Default)]
pub struct Shapes(String);

impl Shapes {
    pub fn rectangle(&mut self, class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2]) {
        let [x, y, width, height] = [x, y, width, height].map(round);
        let fill = if class == "gap" { " fill=\"url(#gap)\"" } else { "" };
        let class = escaped(class);
        writeln!(self.0, "<rect class=\"{class}\"{fill} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>")
            .expect(ACCEPTS);
    }

    /// `anchor` is a value of `text-anchor`, empty for the default.
    pub fn text(&mut self, class: &str, x: f64, y: f64, anchor: &str, text: &str) {
        let (x, y, text) = (round(x), round(y), escaped(text));
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{}\"", escaped(class)) };
        let anchor = if anchor.is_empty() { String::new() } else { format!(" text-anchor=\"{anchor}\"") };
        writeln!(self.0, "<text{class} x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>").expect(ACCEPTS);
    }

    /// A text from the bottom to the top.
    pub fn upright_text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y, class, text) = (round(x), round(y), escaped(class), escaped(text));
        writeln!(self.0, "<text class=\"{class}\" transform=\"translate({x} {y}) rotate(-90)\">{text}</text>")
            .expect(ACCEPTS);
    }

    pub fn circle(&mut self, class: &str, [x, y]: [f64; 2], radius: f64) {
        let [x, y, radius] = [x, y, radius].map(round);
        writeln!(self.0, "<circle class=\"{}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>", escaped(class)).expect(ACCEPTS);
    }

    pub fn line(&mut self, class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(round);
        let class = escaped(class);
        writeln!(self.0, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>").expect(ACCEPTS);
    }

    pub fn drawing(self, height: f64) -> Drawing {
        Drawing { content: self.0, height, class: String::new() }
    }
}

/// Draws the sign of an item of a key.
pub fn swatch(shapes: &mut Shapes, class: &str, [x, y]: [f64; 2]) {
    match class {
        "joined" | "led" | "hollow" => shapes.circle(class, [x + 6.0, y + 6.0], 5.0),
        _ => shapes.rectangle(class, [x, y], [12.0, 12.0]),
    }
}
