//! `/vcs/{slug}.png` and `/startups/{slug}.png`: Open Graph images, drawn on first request and cached with the release.

use std::sync::Arc;

use crate::canvas::{BRAND, Canvas, Ink, has_letters, shortened, width};
use crate::field_years::{CoveredYears, by_year};
use crate::records::record;
use crate::{PageRequest, PageResult, find, format, page_headers, response_of};
use catalog::{Catalog, Filter};
use data::coverage::Markets;
use data::model::{Firm, Startup};
use data::{Country, Facet, Table};
use service::Brand;
use transport::headers::Caching;

/// Size in pixels, as sites with previews recommend.
pub(crate) const WIDTH: u16 = 1_200;
pub(crate) const HEIGHT: u16 = 630;

const MARGIN: f32 = 72.0;
const ROOM: f32 = WIDTH as f32 - 2.0 * MARGIN;
/// Maximum number of yearly bars; the latest years are kept.
const YEARS: usize = 24;
/// Base line of the bars, and their maximum height.
const BASE: f32 = 544.0;
const BARS: f32 = 116.0;

/// Number of rounds per year; `None` if the data does not cover the year.
type YearCounts = Vec<(i32, Option<u64>)>;

struct Card {
    /// The noun for the record, in place of a name that the font cannot draw.
    noun: &'static str,
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
    let color = color.map_or(BRAND, |color| color.light.0);
    let draw = || card.draw(name.as_str(), catalog.snapshot().is_invented());
    let picture = catalog.picture(table, row, || Arc::from(draw().png(color)));
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
            noun: "Investor",
            about: about(kind, format::place(&firm.city, &firm.country)),
            name: firm.name,
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
            noun: "Startup",
            name: startup.name,
            about: about(stage, format::place(&startup.city, &startup.country)),
            facts: facts.into_iter().flatten().collect(),
            years: years(catalog, &CoveredYears::new(catalog, None, markets), own),
        })
    }

    fn draw(&self, brand: &str, is_invented: bool) -> Canvas {
        let mut canvas = Canvas::new(WIDTH.into(), HEIGHT.into());
        canvas.rectangle(0.0, 0.0, WIDTH.into(), 12.0, Ink::Brand);
        if has_letters(brand) {
            canvas.text(MARGIN, 84.0, 26.0, Ink::Brand, brand);
        }
        if is_invented {
            let text = "Invented data";
            canvas.text(MARGIN + ROOM - width(text, 26.0), 84.0, 26.0, Ink::Quiet, text);
        }
        // A name in letters that the font lacks is left to the text next to the picture.
        let name = if has_letters(&self.name) { &self.name } else { self.noun };
        let size = [72.0, 60.0, 48.0].into_iter().find(|size| width(name, *size) <= ROOM).unwrap_or(48.0);
        canvas.text(MARGIN, 184.0, size, Ink::Text, &shortened(name, size, ROOM));
        if has_letters(&self.about) {
            canvas.text(MARGIN, 236.0, 30.0, Ink::Quiet, &shortened(&self.about, 30.0, ROOM));
        }
        let mut x = MARGIN;
        for (value, label) in &self.facts {
            canvas.text(x, 332.0, 52.0, Ink::Text, value);
            canvas.text(x, 370.0, 25.0, Ink::Quiet, label);
            x += width(value, 52.0).max(width(label, 25.0)) + 72.0;
        }
        self.draw_years(&mut canvas);
        canvas
    }

    fn draw_years(&self, canvas: &mut Canvas) {
        let Some(max) = self.years.iter().filter_map(|(_, rounds)| *rounds).max().filter(|max| *max > 0) else {
            return;
        };
        let step = ROOM / self.years.len() as f32;
        let bar = (step * 0.76).min(64.0);
        for (index, (year, rounds)) in self.years.iter().enumerate() {
            let x = MARGIN + step * (index as f32 + 0.5) - bar / 2.0;
            match rounds {
                Some(0) => {}
                Some(rounds) => {
                    let height = (BARS * *rounds as f32 / max as f32).max(3.0);
                    canvas.rectangle(x, BASE - height, bar, height, Ink::Brand);
                }
                None => canvas.hatched(x, BASE - BARS, bar, BARS, Ink::Line),
            }
            if index == 0 || index + 1 == self.years.len() {
                let text = year.to_string();
                let x = if index == 0 { MARGIN } else { MARGIN + ROOM - width(&text, 24.0) };
                canvas.text(x, BASE + 34.0, 24.0, Ink::Quiet, &text);
            }
        }
        canvas.rectangle(MARGIN, BASE, ROOM, 2.0, Ink::Line);
        let has_gaps = self.years.iter().any(|(_, rounds)| rounds.is_none());
        let label = if has_gaps { "Rounds per year, hatched: not covered" } else { "Rounds per year" };
        canvas.text(MARGIN + (ROOM - width(label, 24.0)) / 2.0, BASE + 34.0, 24.0, Ink::Quiet, label);
    }
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
