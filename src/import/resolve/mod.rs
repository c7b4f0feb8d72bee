//! Resolution: which records are one real firm, startup or person, across sources and within them.
//!
//! Records are compared if they share a key ([`blocking`]) or if one is among the ten best matches of the other's name in a
//! text index. Named [`evidence`] with points sums to a score, and vetoes forbid what no score may join. A pair is *merged*
//! if it is sure by two independent kinds of evidence, put up for *review* if it is likely, and otherwise left apart.
//! [`decision`]s of people come first. Pairs are merged from the surest down, and only if no record of one cluster must not
//! be any of the other, so that a chain of likely pairs does not join what a veto keeps apart ([`cluster`]).
//!
//! The rules are written down rather than learned: an operator can read why two records were merged, results do not change
//! with the data of others, and no labels are needed. Statistics of the records only say how much a common value means
//! ([`profile`]). Everything is a function of the records and decisions: the order of sources plays no part.

mod blocking;
mod cluster;
pub mod decision;
pub mod evidence;
pub mod look_up;
mod name;
mod profile;
pub mod record;
pub mod rounds;
pub mod statements;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::resolve::blocking::Blocks;
use crate::resolve::cluster::Clustering;
use crate::resolve::evidence::{compare, veto};
use crate::resolve::profile::Profiles;
use crate::resolve::statements::Described;
use crate::sources::view::Clusters;
use crate::sources::{Source, SourceError, Suppressed};
use data::{Names, Progress, Table};
use search::{SearchError, TextIndex};

pub use cluster::Held;
pub use data::import::referable::TABLES;
pub use decision::{Decision, Decisions, Judgement};
pub use evidence::{Evidence, EvidenceKind, Veto};
pub use record::Record;

/// The score from which a pair is merged, if two kinds of evidence are for it, in hundredths.
pub const MERGE_SCORE: i32 = 92;
/// The score from which a pair is reviewed.
pub const REVIEW_SCORE: i32 = 74;

/// Matches of a name in the text index that are compared with its record.
const MAX_MATCHES: usize = 10;

/// Rows that a thread takes at a time.
const CHUNK: usize = 1_024;

/// Two records that are or may be one entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Rows of [`Resolution::records`], the smaller first.
    pub left: u32,
    pub right: u32,
    /// Hundredths, from 0 to 100.
    pub score: i32,
    pub evidence: Vec<Evidence>,
    /// Why it is reviewed although it is sure by itself.
    pub held: Option<Held>,
}

impl Pair {
    fn is_sure(&self) -> bool {
        self.score >= MERGE_SCORE && evidence::is_sufficient(&self.evidence)
    }
}

/// Which records are one entity, and which may be.
#[derive(Debug)]
pub struct Resolution {
    /// By table and id.
    pub records: Vec<Record>,
    /// The pairs that were merged, the surest first.
    pub merged: Vec<Pair>,
    /// The pairs to be reviewed, the most valuable first.
    pub review: Vec<Pair>,
    /// The rows of each entity that has several, ascending.
    pub clusters: Vec<Vec<u32>>,
    /// Pairs that are sure or likely by their score, and apart by a veto.
    pub vetoed: usize,
}

/// Why sources cannot be resolved.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Resolves records, in any order. Ids are unique.
pub fn resolve(
    mut records: Vec<Record>,
    decisions: &Decisions,
    progress: &dyn Progress,
) -> Result<Resolution, SearchError> {
    records.sort_unstable_by(|left, right| (left.table, &left.id).cmp(&(right.table, &right.id)));
    let mut resolution =
        Resolution { records: Vec::new(), merged: Vec::new(), review: Vec::new(), clusters: Vec::new(), vetoed: 0 };
    let mut first = 0;
    for block in records.chunk_by(|left, right| left.table == right.table) {
        resolution.add_table(block, first, decisions, progress)?;
        first += block.len() as u32;
    }
    resolution.records = records;
    resolution.sort();
    Ok(resolution)
}

/// Which entities of `sources` are one record of the view, and what is suppressed. A record is suppressed as a whole, with
/// the entities that it has in `all` sources, of which `sources` may be a part.
pub fn composition(
    folder: &Path,
    all: &[Source],
    sources: &[Source],
    progress: &dyn Progress,
) -> Result<(Clusters, Suppressed), ResolveError> {
    let suppressed = Suppressed::read(folder)?;
    let merged = clusters(folder, sources, progress)?;
    let suppressed = match suppressed.is_empty() || sources.len() == all.len() {
        true => suppressed.with_clusters(&merged),
        false => suppressed.with_clusters(&clusters(folder, all, progress)?),
    };
    Ok((merged, suppressed))
}

/// Which entities of sources are one record of the view: firms, startups and people by [`resolve`] with the decisions in the
/// folder, and the rounds of merged startups that several sources report.
pub fn clusters(folder: &Path, sources: &[Source], progress: &dyn Progress) -> Result<Clusters, ResolveError> {
    let decisions = Decisions::read(folder)?;
    let Described { records, rounds } = statements::read(folder, sources, &Suppressed::default(), progress)?;
    let resolution = resolve(records, &decisions, progress)?;
    let ids = |cluster: &Vec<u32>| cluster.iter().map(|row| resolution.records[*row as usize].id.as_str()).collect();
    let merged: Vec<Vec<&str>> = resolution.clusters.iter().map(ids).collect();
    let numbered = (0..).zip(&merged).flat_map(|(number, ids)| ids.iter().map(move |id| (*id, number)));
    let cluster_of: HashMap<&str, u32> = numbered.collect();
    let joined = rounds::clusters(&rounds, |startup| cluster_of.get(startup).copied());
    let joined = joined.iter().map(|cluster| cluster.iter().map(|index| rounds[*index].id.as_str()).collect());
    let mut clusters = Clusters::default();
    for (number, ids) in (0..).zip(merged.iter().cloned().chain(joined)) {
        for (source, entity) in ids.iter().filter_map(|id| id.split_once('/')) {
            if let Ok(entity) = entity.parse() {
                clusters.add(source, entity, number);
            }
        }
    }
    Ok(clusters)
}

impl Resolution {
    /// Resolves the records of one table, the first of which has the row `first`.
    fn add_table(
        &mut self,
        records: &[Record],
        first: u32,
        decisions: &Decisions,
        progress: &dyn Progress,
    ) -> Result<(), SearchError> {
        let Some(table) = records.first().map(|record| record.table) else { return Ok(()) };
        let records: Vec<&Record> = records.iter().collect();
        let profiles = Profiles::of(table, &records);
        let (pairs, vetoed) = candidates(&records, &profiles, progress)?;
        let mut clustering = Clustering::of(&profiles, &records, decisions);
        let unsure: HashSet<(u32, u32)> = decisions.pairs(Judgement::Unsure).collect();
        let group = |row: u32| decisions.group_of(&records[row as usize].id);
        let mut review = Vec::new();
        for mut pair in pairs {
            if pair.is_sure() {
                match clustering.merge(&pair) {
                    Ok(()) => {
                        self.merged.push(Pair { left: pair.left + first, right: pair.right + first, ..pair });
                        continue;
                    }
                    Err(held) => pair.held = Some(held),
                }
            }
            review.push(pair);
        }
        // About two clusters that are not published there is nothing to decide.
        let is_hidden = |rows: &Vec<u32>| {
            let records = || rows.iter().map(|row| records[*row as usize]);
            records().any(|record| record.is_suppressed) || records().all(|record| record.is_gone)
        };
        let hidden: Vec<bool> = clustering.members.iter().map(is_hidden).collect();
        // One decision about two clusters is enough: that of the best pair.
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        for pair in review {
            let clusters = [pair.left, pair.right].map(|row| clustering.cluster_of[row as usize]);
            let clusters = (clusters[0].min(clusters[1]), clusters[0].max(clusters[1]));
            let is_decided = matches!(pair.held, Some(Held::Decided(..)))
                || clustering.are_different(pair.left, pair.right)
                || group(pair.left)
                    .zip(group(pair.right))
                    .is_some_and(|(left, right)| unsure.contains(&(left.min(right), left.max(right))));
            let are_hidden = hidden[clusters.0 as usize] && hidden[clusters.1 as usize];
            if clusters.0 == clusters.1 || is_decided || are_hidden || !seen.insert(clusters) {
                continue;
            }
            let held = pair.held.map(|held| match held {
                Held::Decided(left, right) => Held::Decided(left + first, right + first),
                Held::Vetoed(left, right, veto) => Held::Vetoed(left + first, right + first, veto),
            });
            self.review.push(Pair { left: pair.left + first, right: pair.right + first, held, ..pair });
        }
        self.vetoed += vetoed;
        for mut members in clustering.members {
            if members.len() > 1 {
                members.sort_unstable();
                self.clusters.push(members.into_iter().map(|row| row + first).collect());
            }
        }
        Ok(())
    }

    fn sort(&mut self) {
        self.clusters.sort_unstable();
        self.merged.sort_by_key(|pair| (-pair.score, pair.left, pair.right));
        let records = &self.records;
        // By the gain of a decision: how prominent the records are, and how open the question is.
        let value = |pair: &Pair| {
            let size = records[pair.left as usize].size + records[pair.right as usize].size;
            let middle = (MERGE_SCORE + REVIEW_SCORE) / 2;
            let openness = 1.0 - f64::from((pair.score - middle).abs()) / 40.0;
            f64::from(2 + size).ln() * openness
        };
        self.review.sort_by(|left, right| {
            value(right).total_cmp(&value(left)).then((left.left, left.right).cmp(&(right.left, right.right)))
        });
    }
}

/// The pairs of at least [`REVIEW_SCORE`], the surest first, and how many more a veto keeps apart.
fn candidates(
    records: &[&Record],
    profiles: &Profiles,
    progress: &dyn Progress,
) -> Result<(Vec<Pair>, usize), SearchError> {
    let table = profiles.table;
    let blocks = Blocks::of(table, records, &profiles.all);
    let names = RecordNames::of(table, records);
    let index = TextIndex::in_memory(&names)?;
    progress.step(&format!("resolve {}", table.name()), records.len() as u64);
    let next = AtomicUsize::new(0);
    let found: Mutex<Found> = Mutex::default();
    let work = || {
        let (mut pairs, mut vetoed) = (Vec::new(), Vec::new());
        let mut others: Vec<u32> = Vec::new();
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= records.len() {
                break;
            }
            progress.advance(start as u64);
            for (row, record) in (start..).zip(records.iter().skip(start).take(CHUNK)) {
                let profile = &profiles.all[row];
                others.clear();
                blocks.later_rows(table, record, profile, row as u32, &mut others);
                let matches = index.search(&names, &record.name).hits;
                others.extend(matches.iter().map(|hit| hit.row).filter(|other| *other != row as u32).take(MAX_MATCHES));
                others.sort_unstable();
                others.dedup();
                for other in &others {
                    let [left, right] = [row.min(*other as usize), row.max(*other as usize)];
                    let [first, second] = [left, right].map(|row| &profiles.all[row]);
                    let evidence::Comparison { evidence, score } = compare(profiles, first, second);
                    let (left, right) = (left as u32, right as u32);
                    if score < REVIEW_SCORE {
                        continue;
                    }
                    if veto(profiles, first, second).is_some() {
                        vetoed.push((left, right));
                    } else {
                        pairs.push(Pair { left, right, score, evidence, held: None });
                    }
                }
            }
        }
        let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.0.append(&mut pairs);
        found.1.append(&mut vetoed);
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
    progress.done();
    let (mut pairs, mut vetoed) = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    pairs.sort_unstable_by_key(|pair| (-pair.score, pair.left, pair.right));
    pairs.dedup_by_key(|pair| (pair.left, pair.right));
    vetoed.sort_unstable();
    vetoed.dedup();
    Ok((pairs, vetoed.len()))
}

/// Pairs that are likely, and those of them that a veto keeps apart; some twice.
type Found = (Vec<Pair>, Vec<(u32, u32)>);

/// The names of records, for the text index.
struct RecordNames<'a> {
    records: &'a [&'a Record],
    /// Of each record, separated by `|`.
    aliases: Vec<String>,
    table: Table,
}

impl<'a> RecordNames<'a> {
    fn of(table: Table, records: &'a [&'a Record]) -> Self {
        Self { records, aliases: records.iter().map(|record| record.aliases.join("|")).collect(), table }
    }
}

impl Names for RecordNames<'_> {
    fn len(&self) -> u32 {
        self.records.len() as u32
    }

    fn name(&self, row: u32) -> &str {
        &self.records[row as usize].name
    }

    fn aliases(&self, row: u32) -> &str {
        &self.aliases[row as usize]
    }

    fn prominence(&self, _row: u32) -> u32 {
        0
    }

    fn has_surnames(&self) -> bool {
        self.table == Table::People
    }
}
