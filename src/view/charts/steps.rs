use askama::Template;

use crate::charts::labels::{Anchor, BEFORE, LAYOUTS, Label, LabelPlacer};
use crate::charts::{
    ChartFigure, ChartHead, ChartUnit, DataCell, DataRow, DatedDot, Datum, KeyItem, MAX_TICKS, Percent, SIDE, round,
};
use crate::format;
use data::PartialDate;

const HEIGHT: f64 = 204.0;
/// Vertical position of zero.
const BASE: f64 = 178.0;
/// Vertical position of the total.
const TOP: f64 = 24.0;

#[derive(Clone, Debug)]
pub struct DatedAmount {
    pub label: String,
    /// `None` if unknown: the amount is not drawn and not part of the sum.
    pub date: Option<PartialDate>,
    /// In US dollars; `None` if undisclosed, which does not raise the sum.
    pub amount: Option<u64>,
    /// The reason for which a known amount does not count, such as `suspect`.
    pub left_out: Option<String>,
    pub href: Option<String>,
}

/// A line of cumulative amounts with a dot for each event; the dot of an unknown amount is hollow.
#[derive(Template)]
#[template(path = "charts/steps.html")]
pub struct StepChart {
    head: ChartHead,
    /// Start and end across, start and end down.
    lines: Vec<(Percent, Percent, f64, f64)>,
    dots: Vec<DatedDot>,
    labels: Vec<Label>,
    is_linked: bool,
    table: Vec<DataRow>,
}

impl DatedAmount {
    fn counted(&self) -> Option<u64> {
        self.amount.filter(|_| self.left_out.is_none())
    }

    fn amount_text(&self) -> String {
        match (&self.amount, &self.left_out) {
            (None, _) => "undisclosed".to_owned(),
            (Some(amount), None) => format::usd(amount),
            (Some(amount), Some(why)) => format!("{} ({why}, not counted)", format::usd(amount)),
        }
    }
}

impl StepChart {
    /// `None` if no step has a date. `heads` are the headings of the data table: steps, dates, amounts, sums.
    pub fn new(head: ChartHead, heads: [&str; 4], mut steps: Vec<DatedAmount>) -> Option<Self> {
        // Stable: steps of one day keep their order. Steps without a date are last, as in the table.
        steps.sort_by_key(|step| (step.date.is_none(), step.date));
        let dates = || steps.iter().filter_map(|step| step.date);
        // From the start of the first year to the end of the last one.
        let (first, last) = (dates().min()?.year(), dates().map(|date| date.last_day().year()).max()?);
        let start = day_of(first)?;
        let days = f64::from((day_of(last.saturating_add(1)).unwrap_or(start + 366) - start).max(1));
        let x_of = |day: f64| SIDE + (1.0 - 2.0 * SIDE) * ((day - f64::from(start)) / days).clamp(0.0, 1.0);
        // A date less precise than a day is drawn at the middle of its period, but not before an earlier step.
        let middle = |date: PartialDate| f64::from(date.first_day().days() + date.last_day().days()) / 2.0;
        let counted = steps.iter().filter(|step| step.date.is_some()).filter_map(DatedAmount::counted);
        let total: u64 = counted.fold(0, u64::saturating_add);
        let y_of = |sum: u64| BASE - (BASE - TOP) * (sum as f64 / total.max(1) as f64).min(1.0);

        let (mut lines, mut dots, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let (mut x, mut sum) = (0.0, 0_u64);
        let mut labels = LabelPlacer::default();
        let mut names = Vec::new();
        for step in &steps {
            let mut sum_cell = DataCell::of("", Datum::Unknown);
            if let Some(date) = step.date {
                let (from_x, from_y) = (x, y_of(sum));
                x = x_of(middle(date)).max(from_x);
                sum = sum.saturating_add(step.counted().unwrap_or(0));
                let y = y_of(sum);
                lines.push((Percent(from_x), Percent(x), round(from_y), round(from_y)));
                labels.block(x, 5.0, y - 5.0, y + 5.0);
                if step.counted().is_some() {
                    labels.block(x, 1.0, y, from_y);
                    lines.push((Percent(x), Percent(x), round(from_y), round(y)));
                }
                let title = format!("{}, {}: {}", step.label, format::day(date), step.amount_text());
                let class = if step.counted().is_some() { "fill" } else { "hollow" }.to_owned();
                dots.push(DatedDot { x: Percent(x), y: round(y), radius: 5.0, class, title, href: step.href.clone() });
                names.push((x, y - 9.0, step.label.as_str()));
                sum_cell = DataCell::of(format::usd(&sum), Datum::Number(sum));
            }
            let date = step.date.map_or_else(|| "unknown".to_owned(), format::day);
            let date = DataCell::of(date, step.date.map_or(Datum::Unknown, |date| Datum::Text(date.to_string())));
            // An amount that does not count is only in words: whoever adds the column up gets the total.
            let amount = DataCell::of(step.amount_text(), step.counted().into());
            let cells = vec![date, amount, sum_cell];
            rows.push(DataRow { label: step.label.clone(), href: step.href.clone(), cells });
        }
        lines.push((Percent(x), Percent(1.0), round(y_of(sum)), round(y_of(sum))));

        let tick = |year: i32| Some((x_of(f64::from(day_of(year)?)), year.to_string().into()));
        let every = (last - first) as usize / MAX_TICKS + 1;
        labels.add_axis(HEIGHT - 6.0, (first..=last).step_by(every).filter_map(tick));
        if total > 0 {
            labels.add_at(0.0, 0.0, TOP - 6.0, LAYOUTS.map(|_| Some(format::usd(&total))), Anchor::Start);
        }
        // The latest steps are labelled first, since early ones are small and crowded.
        for (x, y, name) in names.into_iter().rev() {
            labels.add(&BEFORE, x, y, name.to_owned(), [true; 3]);
        }
        Some(Self {
            head: head.table(heads, ChartUnit::Usd).or_found(|head| Some(finding(head, total, dots.len()))),
            lines,
            labels: labels.labels,
            is_linked: dots.iter().any(|dot| dot.href.is_some()),
            dots,
            table: rows,
        })
    }
}

/// `$1.2B raised in 7 rounds`; without a known amount, the title.
fn finding(head: &ChartHead, total: u64, steps: usize) -> String {
    let rounds = format::counted(steps, "round", "rounds");
    if total > 0 { format!("{} raised in {rounds}", format::usd(&total)) } else { format!("{}: {rounds}", head.title) }
}

/// The first day of a year; `None` if it is not from 0 to 9999.
fn day_of(year: i32) -> Option<i32> {
    format!("{year:04}").parse::<PartialDate>().ok().map(|date| date.first_day().days())
}

impl ChartFigure for StepChart {
    fn head(&self) -> &ChartHead {
        &self.head
    }

    fn table(&self) -> &[DataRow] {
        &self.table
    }

    fn key(&self) -> Vec<KeyItem> {
        let has = |class: &str| self.dots.iter().any(|dot| dot.class == class);
        let hollow = has("hollow").then(|| ("hollow".to_owned(), "amount unknown or left out".to_owned()));
        hollow.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::check;

    fn date() -> impl Strategy<Value = Option<PartialDate>> {
        let year = 1970..2030_i32;
        let text = prop_oneof![
            year.clone().prop_map(|year| year.to_string()),
            (year.clone(), 1..13_u8).prop_map(|(year, month)| format!("{year}-{month:02}")),
            (year, 1..13_u8, 1..29_u8).prop_map(|(year, month, day)| format!("{year}-{month:02}-{day:02}")),
            Just("9999".to_owned()),
        ];
        proptest::option::weighted(0.9, text.prop_map(|text| text.parse().unwrap()))
    }

    fn steps() -> impl Strategy<Value = Vec<DatedAmount>> {
        let step = (check::items(1..2), date(), proptest::bool::weighted(0.1));
        let step = step.prop_map(|(mut items, date, is_suspect)| {
            let item = items.remove(0);
            let left_out = is_suspect.then(|| "suspect".to_owned());
            DatedAmount { label: item.label, date, amount: item.value, left_out, href: item.href }
        });
        proptest::collection::vec(step, 0..30)
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn the_line_rises_by_the_amounts_in_the_order_of_dates(mut steps in steps()) {
            let chart = StepChart::new(check::head(), ["Round", "Date", "Amount", "Sum"], steps.clone());
            steps.retain(|step| step.date.is_some());
            prop_assert_eq!(chart.is_some(), !steps.is_empty());
            let Some(chart) = chart else { return Ok(()) };
            let html = chart.render().unwrap();
            let chart = check::chart(&html);
            let dots = chart.all("circle");
            prop_assert_eq!(dots.len(), steps.len());
            let total = steps.iter().filter_map(DatedAmount::counted).sum::<u64>();
            steps.sort_by_key(|step| step.date);
            let (mut sum, mut x) = (0, 0.0);
            for (step, dot) in steps.iter().zip(dots) {
                sum += step.counted().unwrap_or(0);
                prop_assert_eq!(dot.class() == "hollow", step.counted().is_none());
                let height = (BASE - dot.number("cy")) / (BASE - TOP);
                prop_assert!((height - sum as f64 / total.max(1) as f64).abs() < 1e-3);
                prop_assert!(dot.number("cx") >= x && dot.number("cx") <= 100.0);
                x = dot.number("cx");
            }
            // Hollow dots do not raise the line.
            let risen: f64 = chart.all("line").iter().map(|line| line.number("y1") - line.number("y2")).sum();
            prop_assert!((risen - if total == 0 { 0.0 } else { BASE - TOP }).abs() < 0.5, "{}", risen);
        }
    }

    #[test]
    fn unknown_dates_and_amounts_are_in_the_table_only() {
        let step = |label: &str, date: Option<&str>, amount, left_out: Option<&str>| DatedAmount {
            label: label.to_owned(),
            date: date.map(|date| date.parse().unwrap()),
            amount,
            left_out: left_out.map(str::to_owned),
            href: None,
        };
        let steps = vec![
            step("Series A", Some("2019-03"), Some(5_000_000), None),
            step("Seed", Some("2018"), None, None),
            step("Debt", None, Some(1_000_000), None),
            step("Series B", Some("2020-01-05"), Some(9_000_000_000), Some("suspect")),
        ];
        let html = StepChart::new(check::head(), ["Round", "Date", "Amount", "Sum"], steps).unwrap().render().unwrap();
        let chart = check::chart(&html);
        assert_eq!(chart.all("circle").len(), 3);
        assert_eq!(chart.marks("circle", "hollow").len(), 2);
        let cells: Vec<&str> = chart.all("td").iter().map(|cell| cell.text()).collect();
        let suspect = "$9B (suspect, not counted)";
        let rows = [
            ["2018", "undisclosed", "$0"],
            ["Mar 2019", "$5M", "$5M"],
            ["5 Jan 2020", suspect, "$5M"],
            ["unknown", "$1M", ""],
        ];
        assert_eq!(cells, rows.concat());
    }
}
