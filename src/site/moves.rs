use crate::browse::SIZE;
use catalog::comparison::SAVED;
use catalog::{Catalog, LeaderboardQuery, ListPosition, RankChange, RankedRow, Request, Resource};
use data::{SnapshotVersion, Table};
use service::State;
use view::format;
use view::link::Link;

/// A move is listed if the firm is among the first this many, in either release.
const FIRST: u64 = 100;
const LISTED: usize = 5;

/// A leaderboard compared with that of the previous release.
pub(crate) struct Moves {
    pub since: SnapshotVersion,
    /// Only lists that have a firm.
    pub lists: Vec<MoveList>,
    changes: Vec<RankChange>,
}

pub(crate) struct MoveList {
    pub title: &'static str,
    /// Name, path and ranks (`12 → 5`) of each; no path if the firm is not in the release.
    pub firms: Vec<(String, Option<String>, String)>,
    pub more: usize,
}

/// The rank change of one firm: class in the style sheet, in short, in words.
pub(crate) type Move = (&'static str, String, String);

impl Moves {
    /// `None` if the previous release is not loaded, or ranks no firm by this metric.
    pub(crate) fn compare(
        catalog: &Catalog,
        state: &State,
        query: &LeaderboardQuery,
        link: &Link,
        page: &[RankedRow],
    ) -> Option<Self> {
        let before = state.releases.before(catalog.version())?;
        let Request::Leaderboard(former) =
            before.parse(Resource::Leaderboard, &link.others(&[SIZE]), SAVED).ok()?.request
        else {
            return None;
        };
        if before.leaderboard(&former, ListPosition::default(), 0).total == 0 {
            return None;
        }
        let changes = catalog.rank_changes(query, &before, &former, page, FIRST as usize);
        let list = |title, changes: Vec<&RankChange>| {
            let firm = |change: &&RankChange| {
                let current = change.row.map(|row| (catalog, row));
                let (of, row) = current.or(change.former_row.map(|row| (&*before, row)))?;
                let slug = of.snapshot().slug(Table::Firms, row);
                let name = of.snapshot().name(Table::Firms, row).to_owned();
                let [then, now] = [change.former_rank, change.rank].map(|rank| rank.map(format::number));
                let ranks = match (then, now) {
                    (Some(then), Some(now)) => format!("{then} → {now}"),
                    (None, Some(now)) => format!("now {now}"),
                    (Some(then), None) => format!("was {then}"),
                    (None, None) => String::new(),
                };
                Some((name, change.row.map(|_| format!("/vcs/{slug}")), ranks))
            };
            let firms: Vec<_> = changes.iter().take(LISTED).filter_map(firm).collect();
            MoveList { title, more: changes.len() - firms.len(), firms }
        };
        // The largest rise or fall first, new and former firms by their rank.
        let up = sorted(&changes, |ranks| match ranks {
            (Some(then), Some(now)) if now <= FIRST && now < then => Some(u64::MAX - (then - now)),
            _ => None,
        });
        let down = sorted(&changes, |ranks| match ranks {
            (Some(then), Some(now)) if then <= FIRST && now > then => Some(u64::MAX - (now - then)),
            _ => None,
        });
        let new = sorted(&changes, |(then, now)| now.filter(|now| *now <= FIRST && then.is_none()));
        let gone = sorted(&changes, |(then, now)| then.filter(|then| *then <= FIRST && now.is_none()));
        let lists = [list("Up", up), list("Down", down), list("New", new), list("No longer ranked", gone)];
        let lists = lists.into_iter().filter(|list| !list.firms.is_empty()).collect();
        Some(Self { since: before.version(), lists, changes })
    }

    /// The rank change of the firm in a row of the current release.
    pub(crate) fn move_of(&self, row: u32) -> Option<Move> {
        let change = self.changes.iter().find(|change| change.row == Some(row))?;
        let since = self.since;
        let (class, short, words) = match (change.rank?, change.former_rank) {
            (_, None) => ("new", "new".to_owned(), "not ranked".to_owned()),
            (now, Some(then)) if now < then => {
                ("up", format!("▲ {}", format::number(then - now)), format!("up from {}", format::number(then)))
            }
            (now, Some(then)) if now > then => {
                ("down", format!("▼ {}", format::number(now - then)), format!("down from {}", format::number(then)))
            }
            _ => ("same", "=".to_owned(), "as".to_owned()),
        };
        Some((class, short, format!("{words} in release {since}")))
    }
}

/// The changes whose former and current rank have a key, in ascending order of the key.
fn sorted(changes: &[RankChange], key: impl Fn((Option<u64>, Option<u64>)) -> Option<u64>) -> Vec<&RankChange> {
    let key = |change: &RankChange| key((change.former_rank, change.rank));
    let mut sorted: Vec<&RankChange> = changes.iter().filter(|change| key(change).is_some()).collect();
    sorted.sort_by_key(|change| (key(change), change.rank));
    sorted
}
