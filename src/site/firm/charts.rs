use crate::error_page::{name_and_path, path_of};
use crate::field_years::CoveredYears;
use catalog::json::computed::CoInvestorFields;
use catalog::{Catalog, History, StageCounts};
use data::{Facet, Stage, Table};
use view::charts::{
    Bars, ChartHead, ChartItem, ChartMark, ChartRow, ChartUnit, Graph, Heatmap, Neighbor, Timeline, TimelineEvent,
};
use view::format;
use view::link::Link;

/// Years with their own bar or column; earlier ones are counted together.
const MAX_YEARS: i32 = 20;
/// Maximum number of rounds on the timeline; the largest are kept.
const MAX_DOTS: usize = 100;
const MIN_DOTS: usize = 3;
/// Maximum number of rounds with their names on the timeline.
const NAMED: usize = 6;
const ROUNDS: ChartUnit = ChartUnit::Count("round", "rounds");

pub(crate) struct Rounds<'a> {
    catalog: &'a Catalog,
    firm: u32,
    slug: &'a str,
    history: &'a History,
    covered: CoveredYears<'a>,
    /// First year with a round, first year shown, last year with a round.
    years: Option<(i32, i32, i32)>,
}

impl<'a> Rounds<'a> {
    pub(crate) fn new(catalog: &'a Catalog, firm: u32, history: &'a History) -> Self {
        let mut years = history.rounds.keys().flatten().copied();
        let first = years.next();
        let years = first.map(|first| {
            let last = years.next_back().unwrap_or(first);
            (first, first.max(last - MAX_YEARS + 1), last)
        });
        let covered = CoveredYears::of_investors(catalog);
        Self { catalog, firm, slug: catalog.snapshot().slug(Table::Firms, firm), history, covered, years }
    }

    fn path(&self) -> String {
        path_of(Table::Firms, self.slug)
    }

    /// The rounds of a year by stage; `None` (unknown) if the data hardly covers the year and has no round of the firm.
    fn year_counts(&self, year: i32) -> Option<StageCounts> {
        let counts = self.history.rounds.get(&Some(year)).copied();
        counts.or_else(|| self.covered.covers(year).then(StageCounts::default))
    }

    /// True if the firm may have joined rounds of the year that are not known: of other countries, or most rounds.
    fn is_part(&self, year: &str) -> bool {
        year.parse().is_ok_and(|year| self.covered.is_part(year) || !self.covered.covers(year))
    }

    /// Path of the list of the firm's rounds of a stage, optionally of one year.
    fn list_href(&self, stage: Option<Stage>, year: Option<i32>) -> String {
        let of_stage = Link::new("/rounds", vec![("investor".to_owned(), self.slug.to_owned())]).of_stage(stage);
        let of_year = year.map(|year| of_stage.with("since", &year.to_string()).with("until", &year.to_string()));
        of_year.unwrap_or(of_stage).href()
    }

    /// Label and sum of the rounds before the years shown.
    fn earlier(&self) -> Option<(String, StageCounts)> {
        let (_, shown, _) = self.years?;
        let earlier = self.history.rounds.iter().filter(|(year, _)| year.is_some_and(|year| year < shown));
        let mut sum = StageCounts::default();
        earlier.flat_map(|(_, counts)| counts.iter().enumerate()).for_each(|(stage, count)| sum[stage] += count);
        (sum != StageCounts::default()).then(|| (format!("to {}", shown - 1), sum))
    }

    /// The row of a stage. A column named by a year has links to the rounds of that year.
    fn row(&self, stage: Option<Stage>, columns: &[(String, Option<StageCounts>)]) -> ChartRow {
        let cell = |(name, counts): &(String, Option<StageCounts>)| {
            let value = counts.map(|counts| u64::from(counts[Stage::place(stage)]));
            let year = name.parse().ok().filter(|_| value > Some(0));
            ChartMark { value, href: year.map(|year| self.list_href(stage, Some(year))) }
        };
        let href = Some(self.list_href(stage, None));
        ChartRow { label: format::stage(stage), href, cells: columns.iter().map(cell).collect() }
    }

    /// Rounds per year, by stage; `None` if no round has a date.
    pub(crate) fn by_year(&self) -> Option<Bars> {
        let (first, shown, last) = self.years?;
        let columns: Vec<(String, Option<StageCounts>)> =
            (shown..=last).map(|year| (year.to_string(), self.year_counts(year))).collect();
        let sum: u32 = columns.iter().flat_map(|(_, counts)| counts.iter().flatten()).sum();
        let period = if shown == last { format!("in {last}") } else { format!("from {shown} to {last}") };
        let mut summary = format!("{} {period}.", format::counted(sum, "round", "rounds"));
        if first < shown {
            summary += &format!(" The first was in {first}.");
        }
        summary += &self.covered.gaps(shown, last);
        if let Some(undated) = self.history.rounds.get(&None) {
            let undated = format::counted(undated.iter().sum::<u32>(), "round", "rounds");
            summary += &format!(" Without a known date: {undated}.");
        }
        let head = ChartHead::new("years", "Rounds joined per year, by stage", summary)
            .table(["Year", "Total"], ROUNDS)
            .with_gap_reason(self.covered.gap_reason())
            .on_page(&self.path(), "");
        let rows = Stage::places().map(|stage| self.row(stage, &columns)).collect();
        let years = columns.into_iter().map(|(year, _)| year).collect();
        Some(Bars::stacked(head, years, rows).partly_covered(|year| self.is_part(year)))
    }

    /// The rounds one by one; of many, the largest. `None` if few have a date: bars show as much.
    pub(crate) fn timeline(&self) -> Option<Timeline> {
        let snapshot = self.catalog.snapshot();
        let rounds = snapshot.facet_rows(Table::Rounds, Facet::Investor, self.firm).iter();
        let mut rounds: Vec<u32> = rounds.filter(|round| snapshot.round_date(*round).is_some()).collect();
        let dated = rounds.len();
        if dated < MIN_DOTS {
            return None;
        }
        // Stable: among equal or unknown amounts, the latest come first.
        rounds.sort_by_key(|round| std::cmp::Reverse(snapshot.round_amount(*round)));
        let left_out = rounds.split_off(dated.min(MAX_DOTS));
        let undisclosed = left_out.iter().filter(|round| snapshot.round_amount(**round).is_none()).count();
        let smaller = left_out.len() - undisclosed;
        let event = |round: u32| {
            let startup = snapshot.round_startup(round);
            let (of, id) = (snapshot.slug(Table::Startups, startup), snapshot.slug(Table::Rounds, round));
            Some(TimelineEvent {
                label: snapshot.name(Table::Startups, startup).to_owned(),
                lane: Stage::place(snapshot.round_stage(round)),
                date: snapshot.round_date(round)?,
                amount: snapshot.round_amount(round),
                href: format!("/startups/{of}#round-{id}"),
            })
        };
        let events: Vec<TimelineEvent> = rounds.iter().filter_map(|round| event(*round)).collect();
        let undated: u32 = self.history.rounds.get(&None).into_iter().flatten().sum();
        let unknown = events.iter().filter(|event| event.amount.is_none()).count();
        let which = match (left_out.is_empty(), unknown) {
            (true, _) => "each round".to_owned(),
            (false, 0) => format!("each of the {} largest rounds", events.len()),
            (false, _) => format!("each of {} rounds", events.len()),
        };
        let mut summary = format!("A dot for {which}; its area is the amount raised by all investors.");
        if unknown > 0 {
            let of = format::counted(unknown, "round", "rounds");
            summary += &format!(" The amount of {of} is unknown: a hollow dot.");
        }
        let left_out = [
            (smaller > 0).then(|| format::counted(smaller, "smaller round", "smaller rounds")),
            (undisclosed > 0).then(|| format!("{} of unknown amount", format::counted(undisclosed, "round", "rounds"))),
            (undated > 0).then(|| format!("{} without a date", format::counted(undated, "round", "rounds"))),
        ];
        let left_out = left_out.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let rest = (!left_out.is_empty()).then(|| (left_out, format!("/rounds?investor={}", self.slug)));
        let is_covered = |year: i32| self.year_counts(year).is_some();
        let head = ChartHead::new("timeline", "Rounds one by one", summary)
            .table(["Startup", "Stage", "Date", "Amount"], ChartUnit::Usd)
            .with_gap_reason(self.covered.gap_reason())
            .on_page(&self.path(), "");
        let stages: Vec<String> = Stage::places().map(format::stage).collect();
        Timeline::new(head, &stages, events, is_covered, rest, NAMED)
    }

    /// Rounds by stage and year, including undated ones. `None` without rounds of a known stage.
    pub(crate) fn by_stage(&self) -> Option<Heatmap> {
        let mut columns: Vec<(String, Option<StageCounts>)> = Vec::new();
        columns.extend(self.earlier().map(|(name, counts)| (name, Some(counts))));
        let years = self.years.into_iter().flat_map(|(_, shown, last)| shown..=last);
        columns.extend(years.map(|year| (year.to_string(), self.year_counts(year))));
        columns.extend(self.history.rounds.get(&None).map(|counts| ("No date".to_owned(), Some(*counts))));
        let of_stage =
            |stage: Option<Stage>| self.history.rounds.values().map(|counts| counts[Stage::place(stage)]).sum::<u32>();
        let mut stages: Vec<(Option<Stage>, u32)> = Stage::places().map(|stage| (stage, of_stage(stage))).collect();
        stages.retain(|(_, rounds)| *rounds > 0);
        let known = || stages.iter().filter(|(stage, _)| stage.is_some());
        let max = known().map(|(_, rounds)| *rounds).max()?;
        let all: u32 = stages.iter().map(|(_, rounds)| rounds).sum();
        let most = known().filter(|(_, rounds)| *rounds == max).map(|(stage, _)| format::stage(*stage));
        let most: Vec<String> = most.collect();
        let each = if most.len() > 1 { " each" } else { "" };
        let (max, of_all) = (format::number(max), format::counted(all, "round", "rounds"));
        let mut summary = format!("Most often {}: {max} of {of_all}{each}.", most.join(" and "));
        if let Some((None, unknown)) = stages.last() {
            summary += &format!(" The stage of {} is unknown.", format::counted(*unknown, "round", "rounds"));
        }
        let rows = stages.iter().map(|(stage, _)| self.row(*stage, &columns)).collect();
        let columns = columns.into_iter().map(|(name, _)| name).collect();
        let head = ChartHead::new("stages", "Rounds by stage and year", summary)
            .table(["Stage"], ROUNDS)
            .with_gap_reason(self.covered.gap_reason())
            .on_page(&self.path(), "");
        Some(Heatmap::new(head, columns, rows))
    }
}

pub(crate) fn co_investors(catalog: &Catalog, firm: u32, firms: &[(u32, CoInvestorFields)]) -> Option<Graph> {
    let snapshot = catalog.snapshot();
    let own = snapshot.slug(Table::Firms, firm);
    let neighbor = |(row, other): &(u32, CoInvestorFields)| {
        let (name, href) = name_and_path(catalog, Table::Firms, *row);
        Neighbor {
            item: ChartItem::linked(name, Some(other.shared_rounds.into()), href),
            shared: format!("/rounds?investor_all={own},{}", snapshot.slug(Table::Firms, *row)),
            detail: other.last_shared_on.map_or_else(String::new, format::day),
        }
    };
    let (row, first) = firms.first()?;
    let summary = format!(
        "Most often with {}: {} shared. The thicker a line, the more rounds.",
        snapshot.name(Table::Firms, *row),
        format::counted(first.shared_rounds, "round", "rounds"),
    );
    let heads = ["Firm", "Shared rounds", "Last shared round"];
    let finding = format!(
        "Most often with {}: {} shared",
        snapshot.name(Table::Firms, *row),
        format::counted(first.shared_rounds, "round", "rounds"),
    );
    let head = ChartHead::new("co-investors", "Shared rounds", summary)
        .table(heads, ROUNDS)
        .found(finding)
        .on_page(&path_of(Table::Firms, own), "");
    Graph::new(head, firms.iter().map(neighbor).collect())
}
