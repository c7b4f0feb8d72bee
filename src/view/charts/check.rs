//! Requirements on every chart, checked on its HTML as a browser would lay it out.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use scraper::{ElementRef, Html};

use crate::charts::labels::{ASCENT, DESCENT};
use crate::charts::{ChartHead, ChartItem, ChartMark, FULL, NARROW, WIDE, text};

/// Tested widths of a chart in CSS pixels, from a small phone to a large screen.
const WIDTHS: [f64; 9] = [NARROW, 300.0, 420.0, WIDE - 1.0, WIDE, 640.0, FULL - 1.0, FULL, 1_240.0];

pub fn config() -> ProptestConfig {
    ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() }
}

pub fn head() -> ChartHead {
    ChartHead::new("test", "Rounds by year", "3 rounds from 2019 to 2021.")
}

/// Names of firms, sectors and years in several scripts, and arbitrary text.
pub fn label() -> impl Strategy<Value = String> {
    const NAMES: [&str; 12] = [
        "2021",
        "1999",
        "Series A",
        "Seed",
        "SV Angel",
        "Kleiner Perkins Caufield & Byers",
        "Фонд развития интернет-инициатив",
        "红杉资本中国基金",
        "صندوق الاستثمارات العامة",
        "Gesellschaft für Beteiligungen an jungen Unternehmen",
        "<b>\"Q\" & 'A'</b>",
        "W",
    ];
    prop_oneof![4 => proptest::sample::select(&NAMES[..]).prop_map(str::to_owned), 1 => "\\PC{0,40}"]
}

fn value() -> impl Strategy<Value = Option<u64>> {
    let amount = prop_oneof![1 => Just(0), 4 => 1..100_u64, 1 => 0..1_000_000_000_000_000_000_u64];
    proptest::option::weighted(0.85, amount)
}

/// Values of all sizes, some unknown, some linked; sometimes all zero or all unknown.
pub fn items(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<ChartItem>> {
    let item = (label(), value(), proptest::option::of(0..1_000_u32));
    let items = proptest::collection::vec(item, count);
    (items, proptest::option::weighted(0.1, proptest::option::of(Just(0)))).prop_map(|(items, all)| {
        let item = |(label, value, href): (String, _, Option<u32>)| ChartItem {
            label,
            value: all.unwrap_or(value),
            href: href.map(|number| format!("/vcs?min_portfolio={number}&stage=seed")),
        };
        items.into_iter().map(item).collect()
    })
}

pub fn marks(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<ChartMark>> {
    let mark = |item: ChartItem| ChartMark { value: item.value, href: item.href };
    items(count).prop_map(move |items| items.into_iter().map(mark).collect())
}

#[derive(Debug)]
pub struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    text: String,
    /// Indices of the enclosing elements, the innermost first.
    around: Vec<usize>,
}

impl Element {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub fn class(&self) -> &str {
        self.get("class").unwrap_or("")
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// A number or a percentage; 0 if absent.
    pub fn number(&self, name: &str) -> f64 {
        let text = self.get(name).unwrap_or("0");
        text.trim_end_matches('%').parse().unwrap_or_else(|_| panic!("{name}={text} in {self:?}"))
    }
}

pub struct Chart {
    elements: Vec<Element>,
}

/// Parses a chart and checks the requirements on all charts.
pub fn chart(html: &str) -> Chart {
    let chart = fragment(html);
    assert!(!chart.all("figcaption")[0].text.is_empty());
    chart
}

/// As [`chart`], for a part of a figure.
pub fn fragment(html: &str) -> Chart {
    let chart = Chart { elements: elements(html) };
    chart.check_names();
    chart.check_links();
    for width in WIDTHS {
        chart.check_labels(width);
    }
    chart
}

impl Chart {
    pub fn all(&self, name: &str) -> Vec<&Element> {
        self.elements.iter().filter(|element| element.name == name).collect()
    }

    pub fn marks(&self, name: &str, class: &str) -> Vec<&Element> {
        self.all(name).into_iter().filter(|element| element.class() == class).collect()
    }

    /// Number of values that the table says are not covered.
    pub fn uncovered(&self) -> usize {
        self.all("td").iter().filter(|cell| cell.text == "not covered").count()
    }

    /// The texts of the labels shown at this chart width.
    pub fn texts(&self, width: f64) -> Vec<String> {
        self.labels(width).into_iter().map(|label| label.text.clone()).collect()
    }

    fn labels(&self, width: f64) -> Vec<&Element> {
        let layout = match width {
            _ if width < WIDE => "n",
            _ if width < FULL => "w",
            _ => "x",
        };
        let is_shown = |label: &&Element| label.class().is_empty() || label.class().split(' ').any(|own| own == layout);
        self.all("text").into_iter().filter(is_shown).collect()
    }

    fn is_within(&self, element: &Element, name: &str) -> bool {
        element.around.iter().any(|index| self.elements[*index].name == name)
    }

    fn check_names(&self) {
        let ids: Vec<&str> = self.elements.iter().filter_map(|element| element.get("id")).collect();
        assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "{ids:?}");
        for element in &self.elements {
            if let Some(name) = element.get("aria-labelledby") {
                assert!(ids.contains(&name), "nothing has the id {name}");
            }
            if let Some(id) = element.get("fill").and_then(|fill| fill.strip_prefix("url(#")) {
                assert!(ids.contains(&id.trim_end_matches(')')), "no pattern is {id}");
            }
            for name in ["style", "onclick"] {
                assert!(element.get(name).is_none(), "{element:?} has a {name}");
            }
        }
        let drawings = self.all("svg").into_iter().filter(|svg| svg.get("aria-hidden").is_none());
        for drawing in drawings {
            let name = drawing.get("aria-labelledby").or(drawing.get("aria-label"));
            assert!(name.is_some_and(|name| !name.is_empty()), "{drawing:?} has no name");
            let is_drawing = |index: &usize| std::ptr::eq(&self.elements[*index], drawing);
            let is_linked = self.all("a").iter().any(|link| link.around.iter().any(is_drawing));
            assert_eq!(drawing.get("role"), Some(if is_linked { "group" } else { "img" }));
        }
    }

    /// Every linked mark has a name, and the table has the same link.
    fn check_links(&self) {
        let (marks, others): (Vec<&Element>, Vec<&Element>) =
            self.all("a").into_iter().partition(|link| self.is_within(link, "svg"));
        let others: BTreeSet<&str> = others.iter().filter_map(|link| link.get("href")).collect();
        for mark in marks {
            let href = mark.get("href").unwrap();
            assert!(others.contains(href), "{href} is not in the table");
            let is_title = |element: &&Element| {
                element.name == "title"
                    && element.around.first().is_some_and(|parent| std::ptr::eq(&self.elements[*parent], mark))
            };
            assert!(self.elements.iter().find(is_title).is_some_and(|title| !title.text.is_empty()), "{mark:?}");
        }
    }

    /// No label covers another or leaves its drawing.
    fn check_labels(&self, width: f64) {
        let mut boxes: Vec<(usize, [f64; 4], &str)> = Vec::new();
        for label in self.labels(width) {
            let svg = *label.around.iter().find(|index| self.elements[**index].name == "svg").unwrap();
            let x = width * label.number("x") / 100.0 + label.number("dx");
            // The style sheet sets 11 px for codes on tiles and 12 px for all other text.
            let size = if self.elements[svg].class() == "tiles" { 11.0 / 12.0 } else { 1.0 };
            let own = size * text::width(&label.text);
            let left = match label.get("text-anchor") {
                None => x,
                Some("middle") => x - own / 2.0,
                Some("end") => x - own,
                Some(anchor) => panic!("{anchor}"),
            };
            let y = label.number("y");
            let [right, top, bottom] = [left + own, y - ASCENT, y + DESCENT];
            let height = self.elements[svg].number("height");
            assert!(
                left > -0.1 && right < width + 0.1 && top > -0.1 && bottom < height + 0.1,
                "{label:?} leaves a chart of {width} px: {left} to {right}, {top} to {bottom}"
            );
            for (other_svg, [l, r, t, b], other) in &boxes {
                let is_apart = right <= *l || *r <= left || bottom <= *t || *b <= top || *other_svg != svg;
                assert!(is_apart, "{} covers {other} in a chart of {width} px", label.text);
            }
            boxes.push((svg, [left, right, top, bottom], &label.text));
        }
    }
}

/// Parses the elements of a fragment. Every element must be closed.
fn elements(html: &str) -> Vec<Element> {
    let parsed = Html::parse_fragment(html);
    assert!(parsed.errors.is_empty(), "{:?} in {html}", parsed.errors);
    // Without the root that the parser adds.
    let found: Vec<ElementRef<'_>> = parsed.root_element().descendent_elements().skip(1).collect();
    let closed = html.matches("</").count() + html.matches("/>").count();
    assert_eq!(found.len(), closed, "an element is not closed in {html}");
    let places: HashMap<_, usize> = found.iter().enumerate().map(|(index, element)| (element.id(), index)).collect();
    let element = |element: &ElementRef<'_>| Element {
        name: element.value().name().to_owned(),
        attributes: element.value().attrs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        text: element.text().collect(),
        around: element.ancestors().filter_map(|node| places.get(&node.id()).copied()).collect(),
    };
    found.iter().map(element).collect()
}
