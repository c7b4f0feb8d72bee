//! Entity resolution: finds the records that describe one real firm, startup or person, across sources and within them.
//!
//! Two records are compared if they share a key ([`blocking`]), or if one is among the ten best matches for the other's
//! name in a text index. Each piece of [`evidence`] has points, which are estimated from the records at hand ([`weights`]);
//! their sum is the probability that both are one. A veto forbids a merge at any probability. A pair is *merged* if it is
//! nearly certain and its evidence suffices, put up for *review* if a person may know better, and otherwise kept apart.
//! [`decision`]s of people take precedence. Pairs are merged from the surest down, and only if no veto or decision separates
//! any record of one cluster from any of the other ([`cluster`]). Then clusters are compared like records, with what all of
//! their records say, until no more can be joined.
//!
//! An operator can read why two records were merged, and no labels are needed. The result depends on the records and
//! decisions alone, not on the order of the sources.

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
mod weights;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::resolve::blocking::Blocks;
use crate::resolve::cluster::Clustering;
use crate::resolve::evidence::{compare, find_veto, sum_points};
use crate::resolve::profile::{EntityHashes, Profiles};
use crate::resolve::statements::{SourceRecords, read_records};
use crate::resolve::weights::{Findings, Weights, probability};
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

/// Minimum probability of a merged pair. Its evidence must suffice, too.
const MERGE: f64 = 0.9;
/// Pairs of at least this probability are reviewed.
const REVIEW: f64 = 0.2;
/// Less likely pairs are reviewed as long as at least this share of all reviewed pairs is expected to be one: a person who
/// sees nearly equal pairs only stops to look.
const REVIEWED_SHARE: f64 = 0.5;
/// Minimum probability of those.
const MIN_REVIEW: f64 = 0.002;

/// Text-index matches for a name that are compared with its record.
const MAX_MATCHES: usize = 10;

/// Rows per unit of work of a thread.
const CHUNK: usize = 1_024;

/// Most times that clusters are compared.
const MAX_PASSES: usize = 4;

/// Records of a cluster that are compared with those of another.
const MAX_COMPARED: usize = 8;

/// A finding with its points. Ten points double the odds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeighedEvidence {
    pub evidence: Evidence,
    pub points: i32,
}

impl WeighedEvidence {
    #[cfg(test)]
    fn usual(evidence: Evidence) -> Self {
        Self { evidence, points: evidence.points() }
    }

    pub fn name(self) -> &'static str {
        self.evidence.name()
    }

    pub fn kind(self) -> EvidenceKind {
        self.evidence.kind()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPair {
    /// Rows of [`Resolution::records`], the smaller first.
    pub left: u32,
    pub right: u32,
    /// Probability that both are one, in hundredths.
    pub score: i32,
    /// Points of a pair before any evidence: how rare it is that two compared records are one, with or without a common name.
    pub base: i32,
    /// What the records show, or the clusters that they belong to.
    pub evidence: Vec<WeighedEvidence>,
    /// Reason why a sure pair is reviewed instead of merged.
    pub conflict: Option<MergeConflict>,
}

impl RecordPair {
    fn new(candidate: &Candidate, weights: &Weights) -> Self {
        let points = |bits: f64| (bits * 10.0).round() as i32;
        let findings = candidate.findings;
        let weight = |evidence| points(weights.in_pair(findings, evidence));
        let weighed = |evidence: Evidence| WeighedEvidence { evidence, points: weight(evidence) };
        Self {
            left: candidate.left,
            right: candidate.right,
            score: (probability(candidate.odds) * 100.0) as i32,
            base: points(weights.base(findings)),
            evidence: findings.iter().map(weighed).collect(),
            conflict: None,
        }
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
    let mut blocks: Vec<(u32, &[SourceRecord])> = Vec::new();
    for block in records.chunk_by(|left, right| left.table == right.table) {
        let first = blocks.last().map_or(0, |(first, block)| first + block.len() as u32);
        blocks.push((first, block));
    }
    // Those of which most is known are first: their entities are evidence of the firms and people that they are linked to.
    blocks.sort_by_key(|(_, block)| block.first().map(|record| (record.table != Table::Startups, record.table)));
    let mut entities = EntityHashes::default();
    for (first, block) in blocks {
        let known = resolution.clusters.len();
        resolution.add_table(block, first, &entities, decisions, progress)?;
        for cluster in &resolution.clusters[known..] {
            let ids = || cluster.iter().map(|row| xxh3_64(records[*row as usize].id.as_bytes()));
            let entity = ids().min().unwrap_or(0);
            entities.extend(ids().map(|id| (id, entity)));
        }
    }
    resolution.clusters.sort_unstable();
    resolution.merged.sort_by_key(|pair| (-pair.score, pair.left, pair.right));
    // A decision is worth more for prominent records, and if both answers are likely.
    let value = |pair: &RecordPair| {
        let size = records[pair.left as usize].size + records[pair.right as usize].size;
        let openness = 1.0 - f64::from((pair.score - 50).abs()) / 60.0;
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
        entities: &EntityHashes,
        decisions: &Decisions,
        progress: &dyn Progress,
    ) -> Result<(), SearchError> {
        let Some(table) = records.first().map(|record| record.table) else { return Ok(()) };
        let profiles = Profiles::new(table, records, entities);
        let (mut candidates, vetoed) = find_candidates(records, &profiles, progress)?;
        let mut combinations: HashMap<Findings, u64> = HashMap::new();
        for candidate in candidates.iter().filter(|candidate| candidate.findings.has_name()) {
            *combinations.entry(candidate.findings).or_default() += 1;
        }
        let weights = Weights::learned(&combinations);
        candidates.iter_mut().for_each(|candidate| candidate.odds = weights.score(candidate.findings));
        let is_likely = |findings: &&Findings| probability(weights.score(**findings)) >= REVIEW;
        self.vetoed += vetoed.iter().filter(is_likely).count();
        let mut joined = JoinedTable { first, weights, clustering: Clustering::new(&profiles, records, decisions) };
        let (candidates, conflicts) = joined.merge_sure(candidates, &mut self.merged);
        let unsure: HashSet<(u32, u32)> = decisions.pairs(Judgement::Unsure).collect();
        self.review.extend(joined.review(records, &candidates, conflicts, &unsure));
        for mut members in joined.clustering.members.into_iter().filter(|members| members.len() > 1) {
            members.sort_unstable();
            self.clusters.push(members.into_iter().map(|row| row + first).collect());
        }
        Ok(())
    }
}

/// Why sure pairs of rows are not merged.
type MergeConflicts = HashMap<(u32, u32), MergeConflict>;

/// The records of a table while they are joined.
struct JoinedTable<'a> {
    /// Row of the first record.
    first: u32,
    weights: Weights,
    clustering: Clustering<'a>,
}

impl JoinedTable<'_> {
    fn pair(&self, candidate: &Candidate) -> RecordPair {
        RecordPair::new(candidate, &self.weights)
    }

    /// Merges sure pairs from the surest down, then those of clusters with what all of their records say, until no more can
    /// be joined. Returns the pairs as they were compared last.
    fn merge_sure(
        &mut self,
        mut candidates: Vec<Candidate>,
        merged: &mut Vec<RecordPair>,
    ) -> (Vec<Candidate>, MergeConflicts) {
        let mut conflicts = MergeConflicts::new();
        let is_sure = |candidate: &&Candidate| {
            probability(candidate.odds) >= MERGE && evidence::is_sufficient(candidate.findings)
        };
        for pass in 0..MAX_PASSES {
            if pass > 0 {
                candidates = self.clustering.candidates(candidates, &self.weights);
            }
            candidates.sort_unstable_by(|one, other| {
                other.odds.total_cmp(&one.odds).then((one.left, one.right).cmp(&(other.left, other.right)))
            });
            let mut is_joined = false;
            for candidate in candidates.iter().filter(is_sure) {
                if self.clustering.are_one(candidate.left, candidate.right) {
                    if pass == 0 {
                        merged.push(self.pair(candidate).shifted(self.first));
                    }
                    continue;
                }
                match self.clustering.merge(candidate) {
                    Ok(()) => {
                        is_joined = true;
                        merged.push(self.pair(candidate).shifted(self.first));
                    }
                    Err(conflict) => {
                        conflicts.insert((candidate.left, candidate.right), conflict);
                    }
                }
            }
            if !is_joined {
                break;
            }
        }
        (candidates, conflicts)
    }

    /// Selects the pairs to review, the likeliest first: one of two clusters, their best.
    fn review(
        &self,
        records: &[SourceRecord],
        candidates: &[Candidate],
        mut conflicts: MergeConflicts,
        unsure: &HashSet<(u32, u32)>,
    ) -> Vec<RecordPair> {
        // A pair of unpublished clusters needs no decision.
        let is_hidden = |rows: &Vec<u32>| {
            let records = || rows.iter().map(|row| &records[*row as usize]);
            records().any(|record| record.is_suppressed) || records().all(|record| record.is_gone)
        };
        let hidden: Vec<bool> = self.clustering.members.iter().map(is_hidden).collect();
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        let (mut expected, mut count) = (0.0, 0.0);
        let mut review = Vec::new();
        for candidate in candidates {
            let Candidate { left, right, findings, odds } = *candidate;
            let [one, other] = [left, right].map(|row| self.clustering.cluster_of[row as usize]);
            let are_hidden = hidden[one as usize] && hidden[other as usize];
            let conflict = conflicts.get(&(left, right));
            let is_decided = matches!(conflict, Some(MergeConflict::Decided(..)))
                || self.clustering.are_different(left, right)
                || self.clustering.are_decided(unsure, left, right);
            if one == other || are_hidden || is_decided || seen.contains(&(one.min(other), one.max(other))) {
                continue;
            }
            let likelihood = probability(odds);
            let is_reviewed = likelihood >= REVIEW
                || likelihood >= MIN_REVIEW && expected + likelihood >= REVIEWED_SHARE * (count + 1.0)
                || findings.is_never_unseen();
            // A sure pair that a veto or decision keeps apart is shown in any case.
            if !is_reviewed || conflict.is_none() && evidence::is_settled(findings) {
                continue;
            }
            (expected, count) = (expected + likelihood, count + 1.0);
            seen.insert((one.min(other), one.max(other)));
            let conflict = conflicts.remove(&(left, right));
            review.push(RecordPair { conflict, ..self.pair(candidate) }.shifted(self.first));
        }
        review
    }
}

/// Two records that may be one.
#[derive(Clone, Debug)]
struct Candidate {
    left: u32,
    right: u32,
    findings: Findings,
    /// Logarithm, to base 2.
    odds: f64,
}

/// Finds the pairs for which anything speaks, and what is found of those that a veto keeps apart.
fn find_candidates(
    records: &[SourceRecord],
    profiles: &Profiles,
    progress: &dyn Progress,
) -> Result<(Vec<Candidate>, Vec<Findings>), SearchError> {
    let table = profiles.table;
    let blocks = Blocks::new(table, records, &profiles.all);
    let aliases = records.iter().map(|record| record.aliases.join("|")).collect();
    let names = RecordNames { records, aliases, table };
    let index = TextIndex::in_memory(&names)?;
    progress.step_of_rows(&format!("resolve {}", table.name()), records.len() as u64);
    let starts: Vec<usize> = (0..records.len()).step_by(CHUNK).collect();
    let found = all_in_parallel(&starts, |start| {
        progress.advance(*start as u64);
        let mut pairs: Vec<(u32, u32, Findings, bool)> = Vec::new();
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
                let evidence = compare(profiles, first, second);
                if sum_points(&evidence) > 0 {
                    let is_vetoed = find_veto(profiles, first, second).is_some();
                    pairs.push((left, right, Findings::new(&evidence), is_vetoed));
                }
            }
        }
        pairs
    });
    progress.done();
    let mut pairs: Vec<_> = found.into_iter().flatten().collect();
    pairs.sort_unstable();
    pairs.dedup();
    let (vetoed, possible): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(.., is_vetoed)| *is_vetoed);
    let candidate = |(left, right, findings, _)| Candidate { left, right, findings, odds: 0.0 };
    Ok((possible.into_iter().map(candidate).collect(), vetoed.into_iter().map(|(.., found, _)| found).collect()))
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
