//! Entity resolution: finds the records that describe one real firm, startup or person, across sources and within them.
//!
//! Two records are compared if they share a key ([`blocking`]), or if one is among the ten best matches for the other's
//! name in a text index. Each piece of [`evidence`] has points, which sum to a score. A veto forbids a merge at any score.
//! A pair is *merged* if its score is high and two independent kinds of evidence support it, put up for *review* if it is
//! likely, and otherwise kept apart. [`decision`]s of people take precedence. Pairs are merged from the surest down, and
//! only if no veto or decision separates any record of one cluster from any of the other ([`cluster`]).
//!
//! The rules are written, not learned: an operator can read why two records were merged, and no labels are needed.
//! Statistics of the records only weigh a shared value ([`profile`]). The result depends on the records and decisions
//! alone, not on the order of the sources.

pub mod batch;
mod blocking;
mod cluster;
pub mod connections;
pub mod decision;
pub(crate) mod evidence;
pub mod look_up;
mod name;
mod profile;
pub mod record;
pub mod rounds;
pub mod session;
pub mod statements;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::resolve::blocking::Blocks;
use crate::resolve::cluster::Clustering;
use crate::resolve::evidence::{compare, find_veto};
use crate::resolve::profile::Profiles;
use crate::resolve::statements::{SourceRecords, read_records};
use crate::sources::view::Clusters;
use crate::sources::{Source, SourceError, Suppressed};
use data::parallel::all_in_parallel;
use data::{Names, Progress, Table};
use search::{SearchError, TextIndex};

pub use cluster::MergeConflict;
pub use data::evidence::{Evidence, EvidenceKind};
pub use data::import::referable::TABLES;
pub use decision::{Decision, Decisions, Judgement};
pub use evidence::Veto;
pub use record::SourceRecord;

/// Minimum score of a merged pair, in hundredths. Two kinds of evidence must support it, too.
const MERGE_SCORE: i32 = 92;
/// Minimum score of a reviewed pair, in hundredths.
const REVIEW_SCORE: i32 = 74;

/// Text-index matches for a name that are compared with its record.
const MAX_MATCHES: usize = 10;

/// Rows per unit of work of a thread.
const CHUNK: usize = 1_024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPair {
    /// Rows of [`Resolution::records`], the smaller first.
    pub left: u32,
    pub right: u32,
    /// Hundredths, from 0 to 100.
    pub score: i32,
    pub evidence: Vec<Evidence>,
    /// Reason why a sure pair is reviewed instead of merged.
    pub conflict: Option<MergeConflict>,
}

impl RecordPair {
    fn is_sure(&self) -> bool {
        self.score >= MERGE_SCORE && evidence::is_sufficient(&self.evidence)
    }

    /// Adds the row of the table's first record to its rows.
    fn shifted(self, first: u32) -> Self {
        let conflict = self.conflict.map(|conflict| match conflict {
            MergeConflict::Decided(left, right) => MergeConflict::Decided(left + first, right + first),
            MergeConflict::Vetoed(left, right, veto) => MergeConflict::Vetoed(left + first, right + first, veto),
        });
        Self { left: self.left + first, right: self.right + first, conflict, ..self }
    }
}

#[derive(Debug, Default)]
pub struct Resolution {
    /// Sorted by table and id.
    pub records: Vec<SourceRecord>,
    /// The surest first.
    pub merged: Vec<RecordPair>,
    /// Pairs to review, the most valuable first.
    pub review: Vec<RecordPair>,
    /// Rows of each entity with more than one record, ascending.
    pub clusters: Vec<Vec<u32>>,
    /// Number of pairs that a veto keeps apart although their score is sure or likely.
    pub vetoed: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Search(#[from] SearchError),
}

/// Resolves records, given in any order. Ids must be unique.
pub fn resolve(
    mut records: Vec<SourceRecord>,
    decisions: &Decisions,
    progress: &dyn Progress,
) -> Result<Resolution, SearchError> {
    records.sort_unstable_by(|left, right| (left.table, &left.id).cmp(&(right.table, &right.id)));
    let mut resolution = Resolution::default();
    let mut first = 0;
    for block in records.chunk_by(|left, right| left.table == right.table) {
        resolution.add_table(block, first, decisions, progress)?;
        first += block.len() as u32;
    }
    resolution.clusters.sort_unstable();
    resolution.merged.sort_by_key(|pair| (-pair.score, pair.left, pair.right));
    // A decision is worth more for prominent records, and near the middle between review and merge scores.
    let value = |pair: &RecordPair| {
        let size = records[pair.left as usize].size + records[pair.right as usize].size;
        let middle = (MERGE_SCORE + REVIEW_SCORE) / 2;
        let openness = 1.0 - f64::from((pair.score - middle).abs()) / 40.0;
        f64::from(2 + size).ln() * openness
    };
    resolution.review.sort_by(|left, right| {
        value(right).total_cmp(&value(left)).then((left.left, left.right).cmp(&(right.left, right.right)))
    });
    resolution.records = records;
    Ok(resolution)
}

/// Returns the clusters of all sources of a folder for the view, and the suppressed entities. A record is suppressed as a
/// whole, with all of its entities.
pub fn composition(
    folder: &Path,
    sources: &[Source],
    progress: &dyn Progress,
) -> Result<(Clusters, Suppressed), ResolveError> {
    let suppressed = Suppressed::read(folder)?;
    let clusters = find_clusters(folder, sources, progress)?;
    let suppressed = suppressed.with_clusters(&clusters);
    Ok((clusters, suppressed))
}

/// Finds the entities of sources that make one record of the view: firms, startups and people by [`resolve`] with the
/// decisions in the folder, and rounds of merged startups that several sources report.
pub fn find_clusters(folder: &Path, sources: &[Source], progress: &dyn Progress) -> Result<Clusters, ResolveError> {
    let decisions = Decisions::read(folder)?;
    let SourceRecords { records, rounds } = read_records(folder, sources, &Suppressed::default(), progress)?;
    let resolution = resolve(records, &decisions, progress)?;
    let ids = |cluster: &Vec<u32>| cluster.iter().map(|row| resolution.records[*row as usize].id.as_str()).collect();
    let mut groups: Vec<Vec<&str>> = resolution.clusters.iter().map(ids).collect();
    let numbered = (0..).zip(&groups).flat_map(|(number, ids)| ids.iter().map(move |id| (*id, number)));
    let cluster_of: HashMap<&str, u32> = numbered.collect();
    let joined = rounds::cluster_rounds(&rounds, |startup| cluster_of.get(startup).copied());
    groups.extend(joined.iter().map(|cluster| cluster.iter().map(|index| rounds[*index].id.as_str()).collect()));
    let mut clusters = Clusters::default();
    for (number, ids) in (0..).zip(&groups) {
        for (source, entity) in ids.iter().filter_map(|id| id.split_once('/')) {
            if let Ok(entity) = entity.parse() {
                clusters.add(source, entity, number);
            }
        }
    }
    Ok(clusters)
}

impl Resolution {
    /// Resolves the records of one table. `first` is the row of the first record.
    fn add_table(
        &mut self,
        records: &[SourceRecord],
        first: u32,
        decisions: &Decisions,
        progress: &dyn Progress,
    ) -> Result<(), SearchError> {
        let Some(table) = records.first().map(|record| record.table) else { return Ok(()) };
        let profiles = Profiles::new(table, records);
        let (pairs, vetoed) = find_pairs(records, &profiles, progress)?;
        let mut clustering = Clustering::new(&profiles, records, decisions);
        let unsure: HashSet<(u32, u32)> = decisions.pairs(Judgement::Unsure).collect();
        let mut review = Vec::new();
        for mut pair in pairs {
            let is_sure = pair.is_sure();
            pair.conflict = if is_sure { clustering.merge(&pair).err() } else { None };
            if is_sure && pair.conflict.is_none() {
                self.merged.push(pair.shifted(first));
            } else {
                review.push(pair);
            }
        }
        // A pair of unpublished clusters needs no decision.
        let is_hidden = |rows: &Vec<u32>| {
            let records = || rows.iter().map(|row| &records[*row as usize]);
            records().any(|record| record.is_suppressed) || records().all(|record| record.is_gone)
        };
        let hidden: Vec<bool> = clustering.members.iter().map(is_hidden).collect();
        // Two clusters need one decision only: about their best pair.
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        for pair in review {
            let [left, right] = [pair.left, pair.right].map(|row| clustering.cluster_of[row as usize]);
            let clusters = (left.min(right), left.max(right));
            let is_decided = matches!(pair.conflict, Some(MergeConflict::Decided(..)))
                || clustering.are_different(pair.left, pair.right)
                || clustering.are_decided(&unsure, pair.left, pair.right);
            let are_hidden = hidden[clusters.0 as usize] && hidden[clusters.1 as usize];
            if clusters.0 == clusters.1 || is_decided || are_hidden || !seen.insert(clusters) {
                continue;
            }
            self.review.push(pair.shifted(first));
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
}

/// Finds the pairs of at least [`REVIEW_SCORE`], the surest first. Also returns the number of pairs that a veto keeps apart.
fn find_pairs(
    records: &[SourceRecord],
    profiles: &Profiles,
    progress: &dyn Progress,
) -> Result<(Vec<RecordPair>, usize), SearchError> {
    let table = profiles.table;
    let blocks = Blocks::new(table, records, &profiles.all);
    let aliases = records.iter().map(|record| record.aliases.join("|")).collect();
    let names = RecordNames { records, aliases, table };
    let index = TextIndex::in_memory(&names)?;
    progress.step(&format!("resolve {}", table.name()), records.len() as u64);
    let starts: Vec<usize> = (0..records.len()).step_by(CHUNK).collect();
    let found = all_in_parallel(&starts, |start| {
        progress.advance(*start as u64);
        let (mut pairs, mut vetoed) = (Vec::new(), Vec::new());
        let mut others: Vec<u32> = Vec::new();
        for (row, record) in (*start..).zip(records.iter().skip(*start).take(CHUNK)) {
            others.clear();
            blocks.later_rows(table, &record.name, &profiles.all[row], row as u32, &mut others);
            let matches = index.search(&names, &record.name).hits;
            others.extend(matches.iter().map(|hit| hit.row).filter(|other| *other != row as u32).take(MAX_MATCHES));
            others.sort_unstable();
            others.dedup();
            for other in &others {
                let (left, right) = ((row as u32).min(*other), (row as u32).max(*other));
                let [first, second] = [left, right].map(|row| &profiles.all[row as usize]);
                let (evidence, score) = compare(profiles, first, second);
                if score < REVIEW_SCORE {
                    continue;
                }
                if find_veto(profiles, first, second).is_some() {
                    vetoed.push((left, right));
                } else {
                    pairs.push(RecordPair { left, right, score, evidence, conflict: None });
                }
            }
        }
        (pairs, vetoed)
    });
    progress.done();
    let (pairs, vetoed): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let mut pairs: Vec<RecordPair> = pairs.into_iter().flatten().collect();
    pairs.sort_unstable_by_key(|pair| (-pair.score, pair.left, pair.right));
    pairs.dedup_by_key(|pair| (pair.left, pair.right));
    let vetoed: HashSet<(u32, u32)> = vetoed.into_iter().flatten().collect();
    Ok((pairs, vetoed.len()))
}

struct RecordNames<'a> {
    records: &'a [SourceRecord],
    /// Aliases of each record, separated by `|`.
    aliases: Vec<String>,
    table: Table,
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
