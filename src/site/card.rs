//! `/vcs/{slug}.png` and `/startups/{slug}.png`: Open Graph images, drawn on first request and cached with the release.

use std::sync::Arc;

use askama::Template;

use crate::field_years::{CoveredYears, by_year};
use crate::records::record;
use crate::{PageRequest, PageResult, find, page_headers, response_of};
use catalog::{Catalog, Filter};
use data::coverage::Markets;
use data::model::{Firm, Startup};
use data::{Country, Facet, Table};
use service::{Brand, BrandColor};
use transport::headers::Caching;
use view::charts::{Shapes, text};
use view::format;
use view::picture::{drawable, has_letters, png, style};

/// Size in pixels, as sites with previews recommend.
pub(crate) const WIDTH: u16 = 1_200;
pub(crate) const HEIGHT: u16 = 630;

const MARGIN: f64 = 72.0;
const ROOM: f64 = WIDTH as f64 - 2.0 * MARGIN;
/// Maximum number of yearly bars; the latest years are kept.
const YEARS: usize = 24;
/// Base line of the bars, and their maximum height.
const BASE: f64 = 544.0;
const BARS: f64 = 116.0;
/// Height of the hatching of a year that is not covered, lower than most bars.
const GAP: f64 = 32.0;

/// Number of rounds per year; `None` if the data does not cover the year.
type YearCounts = Vec<(i32, Option<u64>)>;

struct Card {
    /// In letters that the font has: the name, another name of the record, or the name in Latin letters.
    name: String,
    about: String,
    facts: Vec<(String, &'static str)>,
    years: YearCounts,
}

/// The picture of a record. With the version of the release as the query, it may be cached forever.
pub(crate) fn respond(catalog: &Catalog, request: PageRequest<'_>, table: Table, slug: &str) -> PageResult {
    let row = find(catalog, table, slug)?;
    let card = if table == Table::Startups { Card::of_startup(catalog, row) } else { Card::of_firm(catalog, row) }?;
    let Brand { name, color } = &request.state.operator.brand;
    let svg = card.draw(name.as_str(), *color, catalog.snapshot().is_invented()).render()?;
    let picture = catalog.picture(table, row, || png(&svg).map(Arc::from))?;
    let is_versioned = request.query == catalog.version().to_string();
    let caching = if is_versioned { Caching::Forever } else { Caching::Public };
    Ok(response_of(picture.to_vec(), "image/png", page_headers(caching)))
}

impl Card {
    fn of_firm(catalog: &Catalog, row: u32) -> PageResult<Self> {
        let firm: Firm = record(catalog, Table::Firms, row)?;
        let kind = firm.kind.as_deref().filter(|kind| *kind != "other").map(format::word);
        let score = firm.health_score.map(|score| (score.to_string(), "health score of 100"));
        let last = || firm.last_investment_on.map(|date| (format::day(date), "last investment"));
        let facts = [
            counted(firm.portfolio_count, "startup", "startups"),
            counted(firm.investment_count, "round", "rounds"),
            score.or_else(last),
        ];
        let joined = Filter::AnyOf(Facet::Investor, vec![row]);
        Ok(Self {
            about: about(kind, format::place(&firm.city, &firm.country)),
            name: drawable_name(firm.name, &firm.aliases),
            facts: facts.into_iter().flatten().collect(),
            years: years(catalog, &CoveredYears::of_investors(catalog), joined),
        })
    }

    fn of_startup(catalog: &Catalog, row: u32) -> PageResult<Self> {
        let startup: Startup = record(catalog, Table::Startups, row)?;
        let stage = startup.stage.as_deref().map(format::word);
        let facts = [
            startup.total_raised_usd.map(|usd| (format::usd(&usd), "raised")),
            counted(startup.round_count, "round", "rounds"),
            startup.last_round_on.map(|date| (format::day(date), "last round")),
        ];
        let own = Filter::AnyOf(Facet::Startup, vec![row]);
        let country = startup.country.as_deref().and_then(Country::from_alpha2);
        let markets = country.map_or(Markets::All, |country| Markets::Only(vec![country]));
        Ok(Self {
            name: drawable_name(startup.name, &startup.aliases),
            about: about(stage, format::place(&startup.city, &startup.country)),
            facts: facts.into_iter().flatten().collect(),
            years: years(catalog, &CoveredYears::new(catalog, None, markets), own),
        })
    }

    fn draw(&self, brand: &str, color: Option<BrandColor>, is_invented: bool) -> CardPicture {
        let mut lines = vec![CardLine::new("brand", 84.0, 26.0, &drawable(brand))];
        if is_invented {
            let line = CardLine::new("invented", 84.0, 26.0, "Invented data");
            lines.push(CardLine { x: MARGIN + ROOM, anchor: "end", ..line });
        }
        let size = [72.0, 60.0, 48.0].into_iter().find(|size| width(&self.name, *size) <= ROOM).unwrap_or(48.0);
        lines.push(CardLine::new("", 184.0, size, &self.name));
        lines.push(CardLine::new("note", 236.0, 30.0, &drawable(&self.about)));
        let mut x = MARGIN;
        for (value, label) in &self.facts {
            lines.push(CardLine { x, ..CardLine::new("", 332.0, 52.0, value) });
            lines.push(CardLine { x, ..CardLine::new("note", 370.0, 25.0, label) });
            x += width(value, 52.0).max(width(label, 25.0)) + 56.0;
        }
        let bars = self.draw_years(&mut lines);
        CardPicture { style: style(color), lines, bars }
    }

    fn draw_years(&self, lines: &mut Vec<CardLine>) -> String {
        let mut shapes = Shapes::default();
        let Some(max) = self.years.iter().filter_map(|(_, rounds)| *rounds).max().filter(|max| *max > 0) else {
            return String::new();
        };
        let step = ROOM / self.years.len() as f64;
        let bar = (step * 0.76).min(64.0);
        let axis = |text: &str| CardLine::new("note", BASE + 34.0, 24.0, text);
        for (index, (year, rounds)) in self.years.iter().enumerate() {
            let x = MARGIN + step * (index as f64 + 0.5) - bar / 2.0;
            match rounds {
                Some(0) => {}
                Some(rounds) => {
                    let height = (BARS * *rounds as f64 / max as f64).max(3.0);
                    shapes.rectangle("fill", [x, BASE - height], [bar, height]);
                }
                None => shapes.rectangle("gap", [x, BASE - GAP], [bar, GAP]),
            }
            if index == 0 {
                lines.push(axis(&year.to_string()));
            } else if index + 1 == self.years.len() {
                lines.push(CardLine { x: MARGIN + ROOM, anchor: "end", ..axis(&year.to_string()) });
            }
        }
        shapes.line("grid", [MARGIN, BASE + 1.0], [MARGIN + ROOM, BASE + 1.0]);
        let has_gaps = self.years.iter().any(|(_, rounds)| rounds.is_none());
        let label = if has_gaps { "Rounds per year, hatched: not covered" } else { "Rounds per year" };
        lines.push(CardLine { x: MARGIN + ROOM / 2.0, anchor: "middle", ..axis(label) });
        shapes.drawing(0.0).content
    }
}

#[derive(Template)]
#[template(path = "card.svg")]
struct CardPicture {
    style: String,
    lines: Vec<CardLine>,
    bars: String,
}

struct CardLine {
    class: &'static str,
    x: f64,
    y: f64,
    anchor: &'static str,
    /// Of the letters, in pixels.
    size: f64,
    text: String,
}

impl CardLine {
    /// A line at the left margin, shortened to the room for it.
    fn new(class: &'static str, y: f64, size: f64, text: &str) -> Self {
        let text = text::shortened(text, ROOM * 12.0 / size);
        Self { class, x: MARGIN, y, anchor: "", size, text }
    }
}

fn width(text: &str, size: f64) -> f64 {
    text::width(text) * size / 12.0
}

fn drawable_name(name: String, others: &[String]) -> String {
    if has_letters(&name) {
        return name;
    }
    let other = others.iter().find(|other| has_letters(other)).cloned();
    other.unwrap_or_else(|| drawable(&name))
}

/// A count and its noun; `None` if it is zero.
fn counted(count: u32, one: &'static str, many: &'static str) -> Option<(String, &'static str)> {
    (count > 0).then(|| (format::number(count), if count == 1 { one } else { many }))
}

fn about(kind: Option<String>, place: String) -> String {
    kind.into_iter().chain(Some(place).filter(|place| !place.is_empty())).collect::<Vec<_>>().join(" · ")
}

/// Rounds that match a filter in each of the last [`YEARS`] years; `None` for an uncovered year without any.
fn years(catalog: &Catalog, covered: &CoveredYears<'_>, of: Filter) -> YearCounts {
    let Some((first, last)) = covered.period() else { return Vec::new() };
    let first = first.max(last - YEARS as i32 + 1);
    let known = by_year(catalog, of);
    let count = |year: i32| known.get(&year).copied().or_else(|| covered.covers(year).then_some(0));
    (first..=last).map(|year| (year, count(year))).collect()
}
