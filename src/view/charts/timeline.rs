use askama::Template;

use crate::charts::labels::{Anchor, CENTERED, Label, LabelPlacer, WIDTHS};
use crate::charts::{
    ChartFigure, ChartHead, DataCell, DataRow, DatedDot, Datum, KeyItem, MAX_TICKS, NOT_COVERED, Percent, SIDE, round,
    text,
};
use crate::format;
use data::{Date, PartialDate};

/// Height of a lane, which has its name above its dots, in CSS pixels.
const LANE: f64 = 42.0;
/// Distance from the top of a lane to the centers of its dots.
const CENTER: f64 = 27.0;
const MAX_RADIUS: f64 = 12.0;
const MIN_RADIUS: f64 = 2.5;
/// Radius of a dot of unknown amount.
const HOLLOW_RADIUS: f64 = 4.0;
/// Height of the axis below the last lane.
const AXIS: f64 = 22.0;
/// Longest name of an event, in CSS pixels.
const MAX_NAME: f64 = 110.0;
/// Vertical offsets of dots at the same position, in CSS pixels.
const OFFSETS: [f64; 5] = [0.0, 6.0, -6.0, 3.0, -3.0];

#[derive(Clone, Debug)]
pub struct TimelineEvent {
    pub label: String,
    pub lane: usize,
    pub date: PartialDate,
    /// In US dollars.
    pub amount: Option<u64>,
    pub href: String,
}

/// Dots along a time axis, with a lane for each kind. The area of a dot is proportional to its amount.
#[derive(Template)]
#[template(path = "charts/timeline.html")]
pub struct Timeline {
    head: ChartHead,
    height: f64,
    /// Vertical positions of the lines below the lanes.
    lines: Vec<f64>,
    /// Left edge and width of periods that the data does not cover.
    gaps: Vec<(Percent, Percent)>,
    /// The largest first, so that small dots are drawn on top.
    dots: Vec<DatedDot>,
    labels: Vec<Label>,
    /// Omitted events in words, and the path of a list that has them.
    rest: Option<(String, String)>,
    table: Vec<DataRow>,
}

impl Timeline {
    /// Lanes and their colors are ordered from the bottom up; empty ones are left out. Of the largest events, as many are named as
    /// `named` says, if there is room. `None` without events.
    pub fn new(
        head: ChartHead,
        lanes: &[String],
        mut events: Vec<TimelineEvent>,
        is_covered: impl Fn(i32) -> bool,
        rest: Option<(String, String)>,
        named: usize,
    ) -> Option<Self> {
        // The latest first, as in lists.
        events.sort_by_key(|event| std::cmp::Reverse(event.date));
        let years = events.iter().map(|event| event.date.year());
        let (first, last) = (years.clone().min()?, years.max()?);
        let (start, end) = (first_day(first), first_day(last + 1));
        let x_of = |day: f64| SIDE + (1.0 - 2.0 * SIDE) * ((day - start) / (end - start).max(1.0)).clamp(0.0, 1.0);
        let used: Vec<usize> = (0..lanes.len()).filter(|lane| events.iter().any(|event| event.lane == *lane)).collect();
        let top_of = |place: usize| LANE * (used.len() - 1 - place) as f64;
        let base = LANE * used.len() as f64;

        let mut labels = LabelPlacer::default();
        for (place, lane) in used.iter().enumerate() {
            let name = |width: f64| Some(text::shortened(&lanes[*lane], width / 2.0));
            labels.add_at(0.0, 0.0, top_of(place) + 12.0, WIDTHS.map(name), Anchor::Start);
        }
        let every = (last - first) as usize / MAX_TICKS + 1;
        let middle = |year: i32| x_of((first_day(year) + first_day(year + 1)) / 2.0);
        let ticks = (first..=last).step_by(every).map(|year| (middle(year), year.to_string().into()));
        labels.add_axis(base + AXIS - 6.0, ticks);
        let mut gaps = Vec::new();
        let years: Vec<i32> = (first..=last).collect();
        for run in years.chunk_by(|one, next| is_covered(*one) == is_covered(*next)).filter(|run| !is_covered(run[0])) {
            let (left, right) = (x_of(first_day(run[0])), x_of(first_day(run[run.len() - 1] + 1)));
            gaps.push((Percent(left), Percent(right - left)));
            labels.add_if_fits(left, right, 12.0, NOT_COVERED);
        }

        let largest = events.iter().filter_map(|event| event.amount).max().unwrap_or(0).max(1) as f64;
        let mut places: Vec<(usize, i64)> = Vec::new();
        let mut dots: Vec<DatedDot> = Vec::new();
        let mut rows = Vec::new();
        let mut names: Vec<(u64, f64, f64, &str)> = Vec::new();
        for event in &events {
            let Some(place) = used.iter().position(|lane| *lane == event.lane) else { continue };
            let lane = &lanes[event.lane];
            // A date less precise than a day is drawn at the middle of its period.
            let day = f64::from(event.date.first_day().days() + event.date.last_day().days()) / 2.0;
            let x = x_of(day);
            let radius = event
                .amount
                .map_or(HOLLOW_RADIUS, |amount| (MAX_RADIUS * (amount as f64 / largest).sqrt()).max(MIN_RADIUS));
            // In hundredths of the width; closer dots would cover each other.
            let here = (event.lane, (x * 100.0).round() as i64);
            let before = places.iter().filter(|other| **other == here).count();
            places.push(here);
            let room = MAX_RADIUS - radius;
            let offset = OFFSETS[before % OFFSETS.len()].clamp(-room, room);
            let y = top_of(place) + CENTER + offset;
            names.extend(event.amount.map(|amount| (amount, x, y - radius - 4.0, event.label.as_str())));
            labels.block(x, radius, y - radius, y + radius);
            let date = format::day(event.date);
            let amount = event.amount.as_ref().map_or_else(|| "amount unknown".to_owned(), format::usd);
            dots.push(DatedDot {
                x: Percent(x),
                y: round(y),
                radius: round(radius),
                class: event.amount.map_or_else(|| "hollow".to_owned(), |_| format!("g{}", event.lane + 1)),
                title: format!("{}, {lane}, {date}: {amount}", event.label),
                href: Some(event.href.clone()),
            });
            let date = DataCell::of(date, Datum::Text(event.date.to_string()));
            let cells = vec![DataCell::new(lane.as_str()), date, DataCell::of(amount, event.amount.into())];
            rows.push(DataRow { label: event.label.clone(), href: Some(event.href.clone()), cells });
        }
        names.sort_by_key(|(amount, ..)| std::cmp::Reverse(*amount));
        for (_, x, y, name) in names.into_iter().take(named) {
            labels.add(&CENTERED, x, y, text::shortened(name, MAX_NAME), [false, true, true]);
        }
        dots.sort_by(|one, other| other.radius.total_cmp(&one.radius));
        Some(Self {
            head: head.or_found(|_| finding(&events)),
            height: base + AXIS,
            lines: (1..=used.len()).map(|lane| LANE * lane as f64).collect(),
            gaps,
            dots,
            labels: labels.labels,
            rest,
            table: rows,
        })
    }
}

/// The largest event; `None` if no amount is known, or if several are as large.
fn finding(events: &[TimelineEvent]) -> Option<String> {
    let largest = events.iter().filter_map(|event| event.amount).max()?;
    let mut of_largest = events.iter().filter(|event| event.amount == Some(largest));
    let event = of_largest.next().filter(|_| of_largest.next().is_none())?;
    Some(format!("Largest round: {}, {} in {}", event.label, format::usd(&largest), event.date.year()))
}

/// The first day of a year, clamped to the range of dates.
fn first_day(year: i32) -> f64 {
    let text = format!("{:04}", year.clamp(0, 9_999));
    let day = text.parse::<PartialDate>().map_or(Date::from_days(0), PartialDate::first_day);
    // There is no year after the last one.
    f64::from(day.days()) + if year > 9_999 { 365.0 } else { 0.0 }
}

impl ChartFigure for Timeline {
    fn head(&self) -> &ChartHead {
        &self.head
    }

    fn table(&self) -> &[DataRow] {
        &self.table
    }

    fn key(&self) -> Vec<KeyItem> {
        let has = |class: &str| self.dots.iter().any(|dot| dot.class == class);
        let hollow = has("hollow").then(|| ("hollow".to_owned(), "amount unknown".to_owned()));
        let gap = (!self.gaps.is_empty()).then(|| ("gap".to_owned(), self.head.not_covered()));
        hollow.into_iter().chain(gap).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::{ChartUnit, check};

    const HEADS: [&str; 4] = ["Startup", "Stage", "Date", "Amount"];

    fn event(lane: usize, date: &str, amount: Option<u64>) -> TimelineEvent {
        let href = format!("/startups/a#round-{date}");
        TimelineEvent { label: "Alder".to_owned(), lane, date: date.parse().unwrap(), amount, href }
    }

    fn date() -> impl Strategy<Value = String> {
        let year = 1995..2030_i32;
        prop_oneof![
            year.clone().prop_map(|year| year.to_string()),
            (year.clone(), 1..13_u8).prop_map(|(year, month)| format!("{year}-{month:02}")),
            (year, 1..13_u8, 1..29_u8).prop_map(|(year, month, day)| format!("{year}-{month:02}-{day:02}")),
            Just("9999".to_owned()),
        ]
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn areas_are_amounts_and_places_are_dates(
            labels in proptest::collection::vec(check::label(), 4..5),
            events in proptest::collection::vec((0..4_usize, date(), proptest::option::of(1..10_000_000_u64)), 0..60),
            gap in 1995..2030_i32,
        ) {
            let events: Vec<TimelineEvent> = events.into_iter().map(|(lane, date, amount)| event(lane, &date, amount)).collect();
            let is_covered = |year: i32| year != gap;
            let chart = Timeline::new(check::head().table(HEADS, ChartUnit::Usd), &labels, events.clone(), is_covered, None, 6);
            prop_assert_eq!(chart.is_some(), !events.is_empty());
            let Some(chart) = chart else { return Ok(()) };
            let html = chart.render().unwrap();
            let chart = check::chart(&html);
            let dots = chart.all("circle");
            prop_assert_eq!(dots.len(), events.len());
            let unknown = events.iter().filter(|event| event.amount.is_none()).count();
            prop_assert_eq!(chart.marks("circle", "hollow").len(), unknown);
            let years = events.iter().map(|event| event.date.year());
            let has_gap = (years.clone().min().unwrap()..=years.max().unwrap()).contains(&gap);
            prop_assert_eq!(chart.marks("rect", "gap").len(), usize::from(has_gap));
            // The largest amount has the largest dot. Areas are proportional, except for the minimum size.
            let mut amounts: Vec<u64> = events.iter().filter_map(|event| event.amount).collect();
            amounts.sort_unstable_by(|one, other| other.cmp(one));
            let filled: Vec<f64> = dots.iter().filter(|dot| dot.class() != "hollow").map(|dot| dot.number("r")).collect();
            for (radius, amount) in filled.iter().zip(&amounts) {
                let expected = (MAX_RADIUS * (*amount as f64 / amounts[0] as f64).sqrt()).max(MIN_RADIUS);
                prop_assert!((radius - expected).abs() < 0.01, "{} for {}", radius, amount);
            }
            let height = chart.all("svg")[0].number("height");
            for dot in &dots {
                let (y, radius) = (dot.number("cy"), dot.number("r"));
                prop_assert!(y - radius >= 0.0 && y + radius <= height - AXIS + 0.1);
                prop_assert!((0.0..=100.0).contains(&dot.number("cx")));
            }
        }
    }

    #[test]
    fn later_events_are_further_right_and_each_kind_has_its_lane() {
        let labels = ["Seed", "Series A"].map(str::to_owned);
        let events =
            vec![event(0, "2019-05", Some(1_000_000)), event(1, "2021", None), event(0, "2020-01-01", Some(4_000_000))];
        let rest = Some(("2 earlier rounds".to_owned(), "/rounds?investor=a".to_owned()));
        let chart =
            Timeline::new(check::head().table(HEADS, ChartUnit::Usd), &labels, events, |_| true, rest, 6).unwrap();
        let html = chart.render().unwrap();
        assert!(html.contains("Not drawn: <a href=\"/rounds?investor=a\">2 earlier rounds</a>."));
        let chart = check::chart(&html);
        let mut dots: Vec<(f64, f64, f64)> =
            chart.all("circle").iter().map(|dot| (dot.number("cx"), dot.number("cy"), dot.number("r"))).collect();
        dots.sort_by(|one, other| one.0.total_cmp(&other.0));
        let [may, january, year] = dots[..] else { panic!("{dots:?}") };
        assert!(may.1 == january.1 && year.1 < may.1, "later stages are above: {dots:?}");
        assert_eq!((may.2, january.2, year.2), (MAX_RADIUS / 2.0, MAX_RADIUS, HOLLOW_RADIUS));
        let cells: Vec<&str> = chart.all("td").iter().map(|cell| cell.text()).collect();
        let rows = [["Series A", "2021", "amount unknown"], ["Seed", "1 Jan 2020", "$4M"], ["Seed", "May 2019", "$1M"]];
        assert_eq!(cells, rows.concat());
    }
}
