use std::collections::{BTreeMap, BTreeSet};

use askama::Template;

use crate::charts::labels::{Anchor, LAYOUTS, Label, LabelPlacer};
use crate::charts::ramp::Ramp;
use crate::charts::{ChartFigure, ChartHead, ChartItem, ChartMark, DataRow, KeyItem, Percent, largest};
use data::Country;

/// Approximate positions of countries, from north to south and from west to east. Small countries are moved a little.
const TILES: [&str; 14] = [
    ".. .. .. IS .. NO SE FI .. .. .. .. ..",
    "CA .. .. .. .. DK .. EE .. .. RU .. ..",
    "US .. .. IE GB NL LT LV BY .. KZ MN ..",
    "MX .. .. .. BE DE PL UA .. .. UZ CN KR",
    "GT CU .. FR LU CZ SK MD GE AM KG HK JP",
    "CR DO .. .. CH AT HU RO AZ TM TJ .. TW",
    "PA JM PT ES LI SI HR RS BG TR PK NP ..",
    "CO VE .. .. MC IT BA MK GR CY IN BD VN",
    "EC BR MA DZ TN MT AL LB SY IQ IR MM PH",
    "PE PY SN ML LY EG IL PS JO KW BH LA ..",
    "BO UY GH NG NE SD ET SA QA AE LK TH KH",
    "CL AR CI BJ CM CD UG KE OM YE MV MY SG",
    ".. .. .. AO ZM RW TZ SO SC .. .. ID AU",
    ".. .. .. NA BW ZA ZW MZ MG MU .. .. NZ",
];
const COLUMNS: f64 = 13.0;
/// Width of a tile as a share of its column.
const SHARE: f64 = 0.94;
const WIDTH: Percent = Percent(SHARE / COLUMNS);
/// Height of a tile with the space below it, in CSS pixels.
const ROW: f64 = 26.0;
const TILE: f64 = 24.0;
const HEIGHT: f64 = ROW * TILES.len() as f64;

/// Countries as equal tiles, shaded by a count. Countries without a tile are listed below.
#[derive(Template)]
#[template(path = "charts/tile_map.html")]
pub struct TileMap {
    head: ChartHead,
    tiles: Vec<CountryTile>,
    legend: Vec<(u64, String)>,
    has_gaps: bool,
    /// Countries without a tile: phrase and link.
    others: Vec<(String, Option<String>)>,
    is_linked: bool,
    table: Vec<DataRow>,
}

struct CountryTile {
    x: Percent,
    y: f64,
    /// `None` if the data does not cover it.
    shade: Option<u64>,
    title: String,
    href: Option<String>,
    labels: Vec<Label>,
}

impl TileMap {
    /// A missing country counts as zero.
    pub fn new(head: ChartHead, countries: &BTreeMap<Country, ChartMark>) -> Self {
        let ramp = Ramp::new(countries.values().filter_map(|mark| mark.value), 4);
        let unit = head.unit;
        let title = |country: Country, value| format!("{}: {}", country.name(), unit.long(value));
        let tile = |(row, column, country): (usize, usize, Country)| {
            let mark = countries.get(&country).cloned().unwrap_or(ChartMark { value: Some(0), href: None });
            let (x, y) = (column as f64 / COLUMNS, ROW * row as f64);
            let mut labels = LabelPlacer::default();
            let code = Some(country.alpha2().to_owned());
            labels.add_at(x + 0.5 / COLUMNS, 0.0, y + 16.0, LAYOUTS.map(|_| code.clone()), Anchor::Middle);
            CountryTile {
                x: Percent(x + (1.0 - SHARE) / 2.0 / COLUMNS),
                y,
                shade: mark.value.map(|value| ramp.shade(value)),
                title: title(country, mark.value),
                href: mark.href,
                labels: labels.labels,
            }
        };
        let tiles: Vec<CountryTile> = tiles().map(tile).collect();
        let with_tile: BTreeSet<Country> = self::tiles().map(|(.., country)| country).collect();
        let others = countries.iter().filter(|(country, _)| !with_tile.contains(country));
        let item = |(country, mark): (&Country, &ChartMark)| {
            let ChartMark { value, href } = mark.clone();
            ChartItem { label: country.name().to_owned(), value, href }
        };
        let items: Vec<ChartItem> = countries.iter().map(item).collect();
        let head = head.or_found(|head| largest(head.unit, items.iter().map(|item| (item.label.as_str(), item.value))));
        Self {
            legend: ramp.legend(),
            has_gaps: tiles.iter().any(|tile| tile.shade.is_none()),
            others: others.map(|(country, mark)| (title(*country, mark.value), mark.href.clone())).collect(),
            is_linked: tiles.iter().any(|tile| tile.href.is_some()),
            table: head.rows(&items),
            tiles,
            head,
        }
    }
}

fn tiles() -> impl Iterator<Item = (usize, usize, Country)> {
    TILES.iter().enumerate().flat_map(|(row, codes)| {
        let countries = codes.split(' ').enumerate();
        countries.filter_map(move |(column, code)| Some((row, column, Country::from_alpha2(code)?)))
    })
}

impl ChartFigure for TileMap {
    fn head(&self) -> &ChartHead {
        &self.head
    }

    fn table(&self) -> &[DataRow] {
        &self.table
    }

    fn key(&self) -> Vec<KeyItem> {
        let shades = self.legend.iter().map(|(shade, text)| (format!("h{shade}"), text.clone()));
        shades.chain(self.has_gaps.then(|| ("gap".to_owned(), self.head.not_covered()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::{ChartUnit, check};

    #[test]
    fn every_code_is_a_country_and_has_one_tile() {
        let codes: Vec<&str> = TILES.iter().flat_map(|row| row.split(' ')).filter(|code| *code != "..").collect();
        assert!(TILES.iter().all(|row| row.split(' ').count() as f64 == COLUMNS));
        assert_eq!(tiles().count(), codes.len());
        assert_eq!(tiles().map(|(.., country)| country).collect::<BTreeSet<_>>().len(), codes.len());
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn every_country_is_a_tile_or_in_the_list(marks in check::marks(0..60), step in 1..5_usize) {
            let countries: BTreeMap<Country, ChartMark> = Country::all().step_by(step).zip(marks).collect();
            let head = check::head().table(["Country", "Firms"], ChartUnit::Count("firm", "firms"));
            let html = TileMap::new(head, &countries).render().unwrap();
            let chart = check::chart(&html);
            let titles: Vec<&str> = chart.all("title").iter().map(|title| title.text()).collect();
            prop_assert_eq!(titles.len(), tiles().count());
            let listed: Vec<&str> = chart.all("li").iter().map(|item| item.text()).collect();
            for (country, mark) in &countries {
                let title = format!("{}: {}", country.name(), ChartUnit::Count("firm", "firms").long(mark.value));
                prop_assert!(titles.contains(&title.as_str()) != listed.contains(&title.as_str()), "{}", title);
            }
            let unknown = tiles().filter(|(.., country)| countries.get(country).is_some_and(|mark| mark.value.is_none()));
            prop_assert_eq!(chart.marks("rect", "gap").len(), unknown.count());
        }
    }
}
