//! Places labels so that none covers another or leaves its chart. Their starts, middles or ends are at fractions of the
//! chart's width. Two labels that are apart at some width are apart at every larger one, because their distance grows
//! with the width, so it is enough to place labels for the minimum width of each layout.

use std::borrow::Cow;

use crate::charts::text;
use crate::charts::{FULL, NARROW, Percent, WIDE};

/// Minimum space between two labels, in CSS pixels.
pub const GAP: f64 = 4.0;
/// Height of a text above and below its base line, in CSS pixels.
pub const ASCENT: f64 = 11.0;
pub const DESCENT: f64 = 3.0;

/// A value per layout, the narrowest first.
pub type PerLayout<T> = [T; 3];

pub const LAYOUTS: PerLayout<usize> = [0, 1, 2];

/// Minimum widths of the layouts, in CSS pixels.
pub const WIDTHS: PerLayout<f64> = [NARROW, WIDE, FULL];

/// CSS classes of labels that only some layouts show.
const CLASSES: PerLayout<&str> = ["n", "w", "x"];

/// The part of a text that is at its position, in the order of the share of its width to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Anchors in the order in which they are tried.
pub const CENTERED: [Anchor; 3] = [Anchor::Middle, Anchor::End, Anchor::Start];
pub const BEFORE: [Anchor; 2] = [Anchor::End, Anchor::Middle];

impl Anchor {
    /// The value of `text-anchor`; empty for the default.
    fn name(self) -> &'static str {
        ["", "middle", "end"][self as usize]
    }

    fn left(self, x: f64, width: f64) -> f64 {
        x - width * f64::from(self as u8) / 2.0
    }
}

pub struct Label {
    pub x: Percent,
    /// Offset to the right of `x`, in CSS pixels.
    pub dx: f64,
    /// Base line, in CSS pixels.
    pub y: f64,
    pub anchor: &'static str,
    /// Classes of the layouts that show the label; empty for all.
    pub class: String,
    pub text: String,
}

/// An occupied area, in CSS pixels.
struct OccupiedBox {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl OccupiedBox {
    fn for_text(layout: usize, x: f64, y: f64, text: &str, anchor: Anchor) -> Self {
        let width = text::width(text);
        let left = anchor.left(x * WIDTHS[layout], width);
        Self { left, right: left + width, top: y - ASCENT, bottom: y + DESCENT }
    }

    fn is_apart(&self, other: &Self) -> bool {
        self.right + GAP <= other.left
            || other.right + GAP <= self.left
            || self.bottom <= other.top
            || other.bottom <= self.top
    }
}

#[derive(Default)]
pub struct LabelPlacer {
    occupied: PerLayout<Vec<OccupiedBox>>,
    pub labels: Vec<Label>,
}

impl LabelPlacer {
    /// Keeps labels off a mark at a fraction of the width, which extends `half` CSS pixels to each side.
    pub fn block(&mut self, x: f64, half: f64, top: f64, bottom: f64) {
        for (layout, width) in WIDTHS.into_iter().enumerate() {
            let (left, right) = (x * width - half, x * width + half);
            self.occupied[layout].push(OccupiedBox { left, right, top, bottom });
        }
    }

    /// Adds a label in the middle between two positions, in each layout with space for it between them.
    pub fn add_if_fits(&mut self, left: f64, right: f64, y: f64, text: &str) {
        let fits = WIDTHS.map(|width| text::width(text) + GAP <= (right - left) * width);
        self.add(&CENTERED, (left + right) / 2.0, y, text.to_owned(), fits);
    }

    /// Adds a label at a fraction of the width, in each layout that wants it and has space.
    pub fn add(&mut self, order: &[Anchor], x: f64, y: f64, text: String, is_wanted: PerLayout<bool>) {
        let anchors = LAYOUTS.map(|layout| {
            let anchor = self.free_anchor(order, layout, x, y, &text, &[])?;
            is_wanted[layout].then_some(anchor)
        });
        self.push(x, 0.0, y, text, anchors);
    }

    /// Adds labels from left to right on one line: the last one and every nth before it, with the smallest n that fits.
    pub fn add_axis<'t>(&mut self, y: f64, items: impl IntoIterator<Item = (f64, Cow<'t, str>)>) {
        let items: Vec<(f64, Cow<'t, str>)> = items.into_iter().collect();
        let anchors: PerLayout<Vec<Option<Anchor>>> = LAYOUTS.map(|layout| {
            let every = |step: usize| self.every_nth(layout, y, &items, step);
            (1..items.len().max(2)).find_map(every).unwrap_or_else(|| vec![None; items.len()])
        });
        for (index, (x, text)) in items.into_iter().enumerate() {
            self.push(x, 0.0, y, text.into_owned(), LAYOUTS.map(|layout| anchors[layout][index]));
        }
    }

    /// Adds a label at a position that is known to be free.
    pub fn add_at(&mut self, x: f64, dx: f64, y: f64, text: PerLayout<Option<String>>, anchor: Anchor) {
        let mut rest = text;
        for first in LAYOUTS {
            let Some(text) = rest[first].take() else { continue };
            // Layouts with the same text share a label.
            let anchors = LAYOUTS.map(|layout| {
                (layout == first || rest[layout].take_if(|other| *other == text).is_some()).then_some(anchor)
            });
            self.push(x, dx, y, text, anchors);
        }
    }

    /// The anchors of every nth label, if all of them fit.
    fn every_nth(&self, layout: usize, y: f64, items: &[(f64, Cow<str>)], step: usize) -> Option<Vec<Option<Anchor>>> {
        let mut anchors = vec![None; items.len()];
        let mut own = Vec::new();
        for index in (0..items.len()).rev().step_by(step) {
            let (x, text) = &items[index];
            let anchor = self.free_anchor(&CENTERED, layout, *x, y, text, &own)?;
            own.push(OccupiedBox::for_text(layout, *x, y, text, anchor));
            anchors[index] = Some(anchor);
        }
        Some(anchors)
    }

    /// The first anchor with which a label is in the chart and apart from all others.
    fn free_anchor(
        &self,
        order: &[Anchor],
        layout: usize,
        x: f64,
        y: f64,
        text: &str,
        others: &[OccupiedBox],
    ) -> Option<Anchor> {
        order.iter().copied().find(|anchor| {
            let own = OccupiedBox::for_text(layout, x, y, text, *anchor);
            let is_inside = own.left >= 0.0 && own.right <= WIDTHS[layout];
            is_inside && self.occupied[layout].iter().chain(others).all(|other| own.is_apart(other))
        })
    }

    fn push(&mut self, x: f64, dx: f64, y: f64, text: String, anchors: PerLayout<Option<Anchor>>) {
        for (layout, anchor) in anchors.iter().enumerate() {
            if let Some(anchor) = anchor {
                self.occupied[layout].push(OccupiedBox::for_text(layout, x + dx / WIDTHS[layout], y, &text, *anchor));
            }
        }
        // Layouts with the same anchor share a label.
        for (first, anchor) in anchors.iter().enumerate() {
            let Some(anchor) = anchor.filter(|anchor| !anchors[..first].contains(&Some(*anchor))) else { continue };
            let shown = LAYOUTS.into_iter().filter(|layout| anchors[*layout] == Some(anchor));
            let classes: Vec<&str> = shown.map(|layout| CLASSES[layout]).collect();
            let class = if classes.len() == CLASSES.len() { String::new() } else { classes.join(" ") };
            let text = text.clone();
            self.labels.push(Label { x: Percent(x), dx, y: super::round(y), anchor: anchor.name(), class, text });
        }
    }
}
