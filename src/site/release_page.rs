//! `/releases/{version}`: what a release brought. The home page has the same news of the current one.

use std::collections::BTreeSet;

use askama::Template;

use crate::error_page::PageError;
use crate::feeds::{self, ReleaseChanges, loaded_releases};
use crate::layout::PageLayout;
use crate::lists::{list_path, nouns};
use crate::moves::Moves;
use crate::record_table::RecordTable;
use crate::{PageRequest, PageResult, PathValues, render, round_table};
use catalog::{Catalog, LeaderboardQuery};
use data::vocabulary::Vocabulary;
use data::{Date, Facet, Metric, SnapshotVersion, Stage, Table};
use platform::pause;
use service::State;
use view::format;
use view::link::Link;

/// Rounds and firms that are named, at most.
const MAX_LARGEST: usize = 5;
const MAX_NEWEST: usize = 12;
const MAX_INVESTORS: usize = 10;
/// News is what happened within this many days before the release: others are records of the past.
const RECENT_DAYS: i32 = 365;
/// A firm without a known round for this many days that invests again is news.
const ASLEEP_DAYS: i32 = 2 * 365;
/// Lists of records that a release can be limited to.
pub(crate) const LISTED: [Table; 4] = [Table::Rounds, Table::Startups, Table::Firms, Table::People];

#[derive(Template)]
#[template(path = "release.html")]
struct ReleasePage<'a> {
    layout: PageLayout,
    release: &'a Catalog,
    changes: Option<ReleaseChanges>,
    news: Option<ReleaseNews>,
    newest: RecordTable,
}

/// What a release brought.
pub(crate) struct ReleaseNews {
    pub version: SnapshotVersion,
    /// New records of each table that has some, in words, and their list; no list of reviews.
    pub counts: Vec<(String, Option<String>)>,
    pub largest: Vec<NewRound>,
    /// Firms that are new among the investors: by a first known investment, and after years without one.
    pub investors: [(&'static str, NewInvestors); 2],
    /// Names and paths of firms with new reviews.
    pub reviewed: Vec<(String, String)>,
    pub moves: Option<Moves>,
}

pub(crate) struct NewRound {
    pub startup: String,
    pub href: String,
    /// Stage and amount.
    pub what: String,
}

#[derive(Default)]
pub(crate) struct NewInvestors {
    pub firms: Vec<NewInvestor>,
    /// Number of further firms.
    pub more: usize,
}

pub(crate) struct NewInvestor {
    pub name: String,
    pub href: String,
    pub startup: String,
    pub round_href: String,
    /// When, and after which day of an earlier round.
    pub when: String,
}

/// The list of the records of a table that a release added.
pub(crate) fn added_href(table: Table, version: SnapshotVersion) -> String {
    Link::new(list_path(table), Vec::new()).with("first_seen", &version.to_string()).href()
}

/// The place of a round on the page of its startup.
pub(crate) fn round_href(catalog: &Catalog, round: u32) -> String {
    let snapshot = catalog.snapshot();
    let startup = snapshot.slug(Table::Startups, snapshot.round_startup(round));
    format!("/startups/{startup}#round-{}", snapshot.slug(Table::Rounds, round))
}

impl ReleaseNews {
    /// `None` if the release was not compared with an earlier one, or added no record.
    pub(crate) fn new(catalog: &Catalog, state: &State) -> Option<Self> {
        let (snapshot, version) = (catalog.snapshot(), catalog.version());
        let added = |table: Table| -> Vec<u32> { catalog.first_seen_in(table, version).collect() };
        let count = |table: Table, rows: &[u32]| {
            let (one, many) = nouns(table);
            format!("{} new {}", format::number(rows.len() as u64), if rows.len() == 1 { one } else { many })
        };
        let rounds = added(Table::Rounds);
        let of_table = |table: Table| {
            let rows = if table == Table::Rounds { rounds.clone() } else { added(table) };
            (!rows.is_empty()).then(|| (count(table, &rows), Some(added_href(table, version))))
        };
        let mut counts: Vec<_> = LISTED.into_iter().filter_map(of_table).collect();
        let reviews: Vec<u32> = added(Table::Reviews);
        if !reviews.is_empty() {
            counts.push((
                format!("{} new {}", reviews.len(), if reviews.len() == 1 { "review" } else { "reviews" }),
                None,
            ));
        }
        if counts.is_empty() {
            return None;
        }
        let firm = |row: u32| {
            (snapshot.name(Table::Firms, row).to_owned(), format!("/vcs/{}#reviews", snapshot.slug(Table::Firms, row)))
        };
        let of_reviews = snapshot.row_values(Table::Reviews, Facet::Firm);
        let reviewed: BTreeSet<u32> =
            reviews.iter().flat_map(|review| of_reviews.of(*review).iter().copied()).collect();
        let query = LeaderboardQuery { metric: Metric::HealthScore, filters: Vec::new() };
        Some(Self {
            version,
            counts,
            largest: largest(catalog, &rounds),
            investors: new_investors(catalog, &rounds),
            reviewed: reviewed.into_iter().take(MAX_INVESTORS).map(firm).collect(),
            moves: Moves::compare(catalog, state, &query, &Link::new("/leaderboard", Vec::new()), &[])
                .filter(|moves| !moves.lists.is_empty()),
        })
    }
}

/// The largest of some rounds whose amounts are known and not suspect.
fn largest(catalog: &Catalog, rounds: &[u32]) -> Vec<NewRound> {
    let snapshot = catalog.snapshot();
    let mut sized: Vec<(u64, u32)> =
        pause::every(1_000, rounds).filter_map(|round| Some((snapshot.round_amount(*round)?, *round))).collect();
    sized.sort_unstable_by_key(|(amount, round)| (std::cmp::Reverse(*amount), *round));
    let named = |(amount, round): &(u64, u32)| NewRound {
        startup: snapshot.name(Table::Startups, snapshot.round_startup(*round)).to_owned(),
        href: round_href(catalog, *round),
        what: format!("{}, {}", format::round(snapshot.round_stage(*round).map(Stage::name)), format::usd(amount)),
    };
    sized.iter().take(MAX_LARGEST).map(named).collect()
}

/// Firms whose first known investment is among these new rounds, and those that had not invested for two years.
fn new_investors(catalog: &Catalog, rounds: &[u32]) -> [(&'static str, NewInvestors); 2] {
    let snapshot = catalog.snapshot();
    let released_on = snapshot.released_on();
    let since = Date::from_days(released_on.days() - RECENT_DAYS);
    let is_recent = |round: &u32| {
        snapshot.round_date(*round).is_some_and(|date| date.last_day() >= since && date.first_day() <= released_on)
    };
    let recent_rounds: Vec<u32> = rounds.iter().copied().filter(is_recent).collect();
    let firms: BTreeSet<u32> =
        recent_rounds.iter().flat_map(|round| snapshot.round_investors(*round)).map(|(firm, _)| firm).collect();
    let new: BTreeSet<u32> = rounds.iter().copied().collect();
    let (mut first, mut awake) = (NewInvestors::default(), NewInvestors::default());
    let firms: Vec<u32> = firms.into_iter().collect();
    for firm in pause::every(100, &firms) {
        let all = snapshot.facet_rows(Table::Rounds, Facet::Investor, *firm).iter();
        let (added, known): (Vec<u32>, Vec<u32>) = all.partition(|round| new.contains(round));
        let starts = added.into_iter().filter(is_recent);
        let starts = starts.filter_map(|round| Some((snapshot.round_date(round)?.first_day(), round)));
        let Some((on, round)) = starts.min() else { continue };
        // Without all dates it is unknown when the last one before was.
        let Some(ends) = known.iter().map(|round| snapshot.round_date(*round)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let (list, after) = match ends.into_iter().max_by_key(|date| date.last_day()) {
            None => (&mut first, String::new()),
            Some(last) if on.days() - last.last_day().days() >= ASLEEP_DAYS => {
                (&mut awake, format!("; before: {}", format::day(last)))
            }
            Some(_) => continue,
        };
        if list.firms.len() == MAX_INVESTORS {
            list.more += 1;
            continue;
        }
        let date = snapshot.round_date(round).map(format::day).unwrap_or_default();
        list.firms.push(NewInvestor {
            name: snapshot.name(Table::Firms, *firm).to_owned(),
            href: format!("/vcs/{}", snapshot.slug(Table::Firms, *firm)),
            startup: snapshot.name(Table::Startups, snapshot.round_startup(round)).to_owned(),
            round_href: round_href(catalog, round),
            when: format!("{date}{after}"),
        });
    }
    [("First known investments", first), ("Investing again after two years", awake)]
}

pub(crate) fn page(_: &Catalog, request: PageRequest<'_>, [version, _]: PathValues<'_>) -> PageResult<String> {
    let releases = loaded_releases(request);
    let asked = version.parse::<SnapshotVersion>().ok();
    let place = releases.iter().position(|release| Some(release.version()) == asked).ok_or(PageError::UnknownPage)?;
    let release = &releases[place];
    let rounds: Vec<u32> = release.first_seen_in(Table::Rounds, release.version()).take(MAX_NEWEST).collect();
    let title = format!("Release {}", release.version());
    let description = format!("What release {} of the data added and changed.", release.version());
    let layout = PageLayout::new(release.snapshot(), &title, &description, request.path).canonical(request.state);
    render(&ReleasePage {
        layout,
        release,
        changes: feeds::changes(release, releases.get(place + 1)),
        news: ReleaseNews::new(release, request.state),
        newest: round_table::table_of(release, &rounds)?,
    })
}
