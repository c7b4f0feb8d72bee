//! Clusters: records joined into one entity by decisions and by sure pairs.

use std::collections::{HashMap, HashSet};

use crate::resolve::decision::{Decisions, Judgement};
use crate::resolve::evidence::{Veto, compare, find_veto};
use crate::resolve::profile::Profiles;
use crate::resolve::record::SourceRecord;
use crate::resolve::weights::{Findings, Weights};
use crate::resolve::{Candidate, MAX_COMPARED};

/// Reason why a sure pair is not merged. Numbers are rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeConflict {
    /// The merge would join two records that a decision keeps apart.
    Decided(u32, u32),
    /// The merge would join two records that a veto keeps apart.
    Vetoed(u32, u32, Veto),
}

pub(super) struct Clustering<'a> {
    profiles: &'a Profiles,
    /// Cluster of each row, as an index into `members`.
    pub cluster_of: Vec<u32>,
    pub members: Vec<Vec<u32>>,
    groups: Vec<Option<u32>>,
    different: HashSet<(u32, u32)>,
}

impl<'a> Clustering<'a> {
    /// Starts with one cluster per record, except for records that decisions join.
    pub(super) fn new(profiles: &'a Profiles, records: &[SourceRecord], decisions: &Decisions) -> Self {
        let groups: Vec<Option<u32>> = records.iter().map(|record| decisions.groups.get(&record.id).copied()).collect();
        let rows = 0..records.len() as u32;
        let mut clustering = Self {
            profiles,
            cluster_of: rows.clone().collect(),
            members: rows.clone().map(|row| vec![row]).collect(),
            different: decisions.pairs(Judgement::Different).collect(),
            groups,
        };
        let mut firsts: HashMap<u32, u32> = HashMap::new();
        for row in rows {
            if let Some(group) = clustering.groups[row as usize] {
                clustering.join(*firsts.entry(group).or_insert(row), row);
            }
        }
        clustering
    }

    /// Joins the clusters of a pair, unless a decision or veto separates any record of one from any of the other.
    pub(super) fn merge(&mut self, pair: &Candidate) -> Result<(), MergeConflict> {
        let members = |row: u32| &self.members[self.cluster_of[row as usize] as usize];
        for left in members(pair.left) {
            for right in members(pair.right) {
                if self.are_different(*left, *right) {
                    return Err(MergeConflict::Decided(*left, *right));
                }
                let [first, second] = [left, right].map(|row| &self.profiles.all[*row as usize]);
                if let Some(veto) = find_veto(self.profiles, first, second) {
                    return Err(MergeConflict::Vetoed(*left, *right, veto));
                }
            }
        }
        self.join(pair.left, pair.right);
        Ok(())
    }

    pub(super) fn are_one(&self, left: u32, right: u32) -> bool {
        self.cluster_of[left as usize] == self.cluster_of[right as usize]
    }

    /// The pairs of clusters that the pairs of records leave apart, a pair for two clusters, with what all of their records
    /// show. The rows are those of the likeliest pair. `candidates`: the likeliest first.
    pub(super) fn candidates(&self, candidates: Vec<Candidate>, weights: &Weights) -> Vec<Candidate> {
        let mut seen: HashSet<(u32, u32)> = HashSet::new();
        let clusters = |pair: &Candidate| {
            let [left, right] = [pair.left, pair.right].map(|row| self.cluster_of[row as usize]);
            (left.min(right), left.max(right))
        };
        let apart = candidates.into_iter().filter(|pair| {
            let clusters = clusters(pair);
            clusters.0 != clusters.1 && seen.insert(clusters)
        });
        let compared = apart.map(|pair| {
            let [left, right] =
                [pair.left, pair.right].map(|row| &self.members[self.cluster_of[row as usize] as usize]);
            if left.len() == 1 && right.len() == 1 {
                return pair;
            }
            let findings = left.iter().take(MAX_COMPARED).flat_map(|left| {
                right.iter().take(MAX_COMPARED).map(move |right| {
                    let [left, right] = [left, right].map(|row| &self.profiles.all[*row as usize]);
                    Findings::new(&compare(self.profiles, left, right))
                })
            });
            let findings = Findings::best_of(findings, weights);
            Candidate { findings, odds: weights.score(findings), ..pair }
        });
        compared.collect()
    }

    pub(super) fn are_different(&self, left: u32, right: u32) -> bool {
        self.are_decided(&self.different, left, right)
    }

    /// True if the decision groups of two rows are one of `pairs`.
    pub(super) fn are_decided(&self, pairs: &HashSet<(u32, u32)>, left: u32, right: u32) -> bool {
        let groups = self.groups[left as usize].zip(self.groups[right as usize]);
        groups.is_some_and(|(left, right)| pairs.contains(&(left.min(right), left.max(right))))
    }

    fn join(&mut self, left: u32, right: u32) {
        let (left, right) = (self.cluster_of[left as usize], self.cluster_of[right as usize]);
        if left == right {
            return;
        }
        let is_smaller = self.members[left as usize].len() < self.members[right as usize].len();
        let (small, large) = if is_smaller { (left, right) } else { (right, left) };
        let moved = std::mem::take(&mut self.members[small as usize]);
        moved.iter().for_each(|row| self.cluster_of[*row as usize] = large);
        self.members[large as usize].extend(moved);
    }
}
