//! A session of review: a person decides pairs of batches, and takes decisions back. Each decision is in the file before the
//! next pair is shown.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::resolve::batch::{Batch, BatchOffer, batches};
use crate::resolve::{Decision, Decisions, Judgement, Resolution, decision};
use crate::sources::SourceError;
use data::DiagnosticReport;

pub struct ReviewSession<'a> {
    folder: &'a Path,
    resolution: &'a Resolution,
    pub batches: Vec<Batch>,
    known: Decisions,
    firsts: HashMap<u32, u32>,
    steps: Vec<ReviewStep>,
    /// Judgement about each pair of the review, made or implied.
    judged: Vec<Option<Judgement>>,
}

/// Decisions that were made, and are taken back, together.
#[derive(Debug)]
pub struct ReviewStep {
    pub batch: usize,
    pub decisions: Vec<Decision>,
    /// Index of each decision's pair.
    pairs: Vec<usize>,
}

/// What is left of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewProgress {
    pub pairs_left: usize,
    pub batches_left: usize,
    /// Pairs to see, if samples go on as they began.
    pub looks_left: usize,
}

impl<'a> ReviewSession<'a> {
    pub fn new(folder: &'a Path, resolution: &'a Resolution, known: Decisions) -> Self {
        let judged = vec![None; resolution.review.len()];
        let (batches, firsts) = (batches(resolution), first_rows(resolution));
        Self { folder, resolution, batches, known, firsts, steps: Vec::new(), judged }
    }

    pub fn judged(&self, batch: usize) -> Vec<Option<Judgement>> {
        self.batches[batch].pairs.iter().map(|pair| self.judged[*pair]).collect()
    }

    pub fn offer(&self, batch: usize) -> Option<BatchOffer> {
        self.batches[batch].offer(&self.judged(batch))
    }

    /// The first pair of a batch that is not decided.
    pub fn next_pair(&self, batch: usize) -> Option<usize> {
        self.batches[batch].pairs.iter().copied().find(|pair| self.judged[*pair].is_none())
    }

    pub fn progress(&self) -> ReviewProgress {
        let judged: Vec<_> = (0..self.batches.len()).map(|batch| self.judged(batch)).collect();
        let looks = self.batches.iter().zip(&judged).map(|(batch, judged)| batch.looks_left(judged));
        ReviewProgress {
            pairs_left: self.judged.iter().filter(|judgement| judgement.is_none()).count(),
            batches_left: judged.iter().filter(|judged| judged.contains(&None)).count(),
            looks_left: looks.sum(),
        }
    }

    /// Number of decisions made and not taken back.
    pub fn decided(&self) -> usize {
        self.steps.iter().map(|step| step.decisions.len()).sum()
    }

    /// Decides pairs of a batch, and returns the problems of those that are left out because they contradict earlier decisions.
    pub fn decide(
        &mut self,
        batch: usize,
        pairs: &[usize],
        make: impl Fn(String, String) -> Decision,
    ) -> Result<Vec<String>, SourceError> {
        let decision = |pair: &usize| {
            let pair = &self.resolution.review[*pair];
            let [left, right] = [pair.left, pair.right].map(|row| self.resolution.records[row as usize].id.clone());
            make(left, right)
        };
        let made: Vec<Decision> = pairs.iter().map(decision).collect();
        let mut report = DiagnosticReport::default();
        let (known, decisions) = self.known.with(made.clone(), &mut report);
        if !decisions.is_empty() {
            decision::append(self.folder, &decisions)?;
            self.known = known;
            let kept: HashSet<(&str, &str)> = decisions.iter().map(Decision::pair).collect();
            let kept = pairs.iter().zip(&made).filter(|(_, made)| kept.contains(&made.pair()));
            let pairs = kept.map(|(pair, _)| *pair).collect();
            self.steps.push(ReviewStep { batch, decisions, pairs });
            self.judge();
        }
        Ok(report.errors().map(ToString::to_string).collect())
    }

    /// Decides the rest of a batch as its sample; nothing without an offer.
    pub fn decide_rest(
        &mut self,
        batch: usize,
        make: impl Fn(String, String) -> Decision,
    ) -> Result<Vec<String>, SourceError> {
        let pairs = self.batches[batch].pairs.iter().copied().filter(|pair| self.judged[*pair].is_none());
        let pairs: Vec<usize> = if self.offer(batch).is_some() { pairs.collect() } else { Vec::new() };
        self.decide(batch, &pairs, make)
    }

    /// Takes the last step back; `None` if nothing is left to take back.
    pub fn undo(&mut self) -> Result<Option<ReviewStep>, SourceError> {
        let Some(step) = self.steps.pop() else { return Ok(None) };
        if let Err(error) = decision::take_back(self.folder, &step.decisions) {
            self.steps.push(step);
            return Err(error);
        }
        self.known = Decisions::read(self.folder)?;
        self.judge();
        Ok(Some(step))
    }

    /// Derives the judgements from the steps: a pair is decided, too, if others join its clusters or keep them apart.
    fn judge(&mut self) {
        let mut groups = Groups::default();
        let review = &self.resolution.review;
        let first = |row: u32| self.firsts.get(&row).copied().unwrap_or(row);
        let ends: Vec<[u32; 2]> = review.iter().map(|pair| [pair.left, pair.right].map(first)).collect();
        let mut own = vec![None; review.len()];
        for step in &self.steps {
            step.pairs.iter().zip(&step.decisions).for_each(|(pair, made)| own[*pair] = Some(made.judgement));
        }
        let with = |judgement| own.iter().zip(&ends).filter(move |(own, _)| **own == Some(judgement));
        for (_, [left, right]) in with(Judgement::Same) {
            groups.join(*left, *right);
        }
        let mut apart: HashSet<(u32, u32)> = HashSet::new();
        for (_, ends) in with(Judgement::Different) {
            let [left, right] = ends.map(|end| groups.first(end));
            apart.insert((left.min(right), left.max(right)));
        }
        let judge = |(own, ends): (&Option<Judgement>, &[u32; 2])| {
            let [left, right] = ends.map(|end| groups.first(end));
            own.or_else(|| (left == right).then_some(Judgement::Same))
                .or_else(|| apart.contains(&(left.min(right), left.max(right))).then_some(Judgement::Different))
        };
        self.judged = own.iter().zip(&ends).map(judge).collect();
    }
}

/// The first row of the cluster of each row that others belong to.
pub fn first_rows(resolution: &Resolution) -> HashMap<u32, u32> {
    resolution.clusters.iter().flat_map(|rows| rows.iter().map(|row| (*row, rows[0]))).collect()
}

/// Groups of rows: for each row but the first of its group, an earlier one.
#[derive(Default)]
struct Groups(HashMap<u32, u32>);

impl Groups {
    fn first(&self, mut row: u32) -> u32 {
        while let Some(next) = self.0.get(&row) {
            row = *next;
        }
        row
    }

    fn join(&mut self, left: u32, right: u32) {
        let (left, right) = (self.first(left), self.first(right));
        if left != right {
            self.0.insert(left.max(right), left.min(right));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::resolve::{Evidence, RecordPair, SourceRecord, WeighedEvidence};
    use data::{Date, Table};

    /// Pairs of the rows 0 and 1, 2 and 3, …, then of 0 and 3, and of 1 and 3.
    fn resolution(pairs: u32) -> Resolution {
        let record = |row| SourceRecord::new(Table::Firms, format!("a/firm:{row}"), 0);
        let pair = |(left, right)| RecordPair {
            left,
            right,
            score: 80,
            base: 0,
            evidence: [Evidence::SameName, Evidence::SameCity].map(WeighedEvidence::usual).to_vec(),
            conflict: None,
        };
        let ends = (0..pairs).map(|pair| (pair * 2, pair * 2 + 1)).chain([(0, 3), (1, 3)]);
        Resolution {
            records: (0..pairs * 2).map(record).collect(),
            review: ends.map(pair).collect(),
            ..Resolution::default()
        }
    }

    fn made(judgement: Judgement) -> impl Fn(String, String) -> Decision {
        let on: Date = "2026-11-20".parse().unwrap();
        move |left, right| Decision::new(left, right, judgement, "ada".to_owned(), on.into(), String::new())
    }

    fn lines(folder: &Path) -> usize {
        fs::read_to_string(folder.join(decision::FILE)).map_or(0, |text| text.lines().count().saturating_sub(1))
    }

    #[test]
    fn the_rest_of_a_batch_is_decided_and_taken_back_at_once() {
        let (folder, resolution) = (tempfile::tempdir().unwrap(), resolution(40));
        let mut session = ReviewSession::new(folder.path(), &resolution, Decisions::default());
        assert_eq!(session.progress(), ReviewProgress { pairs_left: 42, batches_left: 1, looks_left: 12 });
        assert!(session.decide_rest(0, made(Judgement::Same)).unwrap().is_empty());
        assert_eq!(lines(folder.path()), 0, "without a sample nothing is decided");
        while session.offer(0).is_none() {
            let pair = session.next_pair(0).unwrap();
            session.decide(0, &[pair], made(Judgement::Same)).unwrap();
        }
        let seen = session.decided();
        session.decide_rest(0, made(Judgement::Same)).unwrap();
        assert_eq!(session.progress(), ReviewProgress { pairs_left: 0, batches_left: 0, looks_left: 0 });
        assert_eq!(lines(folder.path()), session.decided());
        assert_eq!(Decisions::read(folder.path()).unwrap().all().len(), session.decided());
        let step = session.undo().unwrap().unwrap();
        assert_eq!((step.batch, session.decided(), lines(folder.path())), (0, seen, seen));
        assert!(session.offer(0).is_some(), "the sample is as it was");
        session.undo().unwrap().unwrap();
        assert_eq!(lines(folder.path()), seen - 1);
    }

    #[test]
    fn decisions_imply_others_and_contradictions_are_left_out() {
        let (folder, resolution) = (tempfile::tempdir().unwrap(), resolution(2));
        let mut session = ReviewSession::new(folder.path(), &resolution, Decisions::default());
        session.decide(0, &[0], made(Judgement::Same)).unwrap();
        session.decide(0, &[2], made(Judgement::Different)).unwrap();
        assert_eq!(session.judged[3], Some(Judgement::Different), "0 = 1, 0 and 3 differ: so do 1 and 3");
        let problems = session.decide(0, &[1, 3], made(Judgement::Same)).unwrap();
        assert!(problems.len() == 1 && problems[0].contains("contradicts"), "{problems:?}");
        assert_eq!((session.judged[1], lines(folder.path())), (Some(Judgement::Same), 3));
        session.undo().unwrap().unwrap();
        assert_eq!((session.judged[1], lines(folder.path())), (None, 2));
    }

    #[test]
    fn what_somebody_else_added_meanwhile_is_never_removed() {
        let (folder, resolution) = (tempfile::tempdir().unwrap(), resolution(2));
        let mut session = ReviewSession::new(folder.path(), &resolution, Decisions::default());
        session.decide(0, &[0], made(Judgement::Same)).unwrap();
        let other = made(Judgement::Different)("a/firm:8".to_owned(), "a/firm:9".to_owned());
        decision::append(folder.path(), &[other]).unwrap();
        let error = session.undo().unwrap_err().to_string();
        assert!(error.contains("not its last lines any more"), "{error}");
        assert_eq!((session.decided(), lines(folder.path())), (1, 2));
    }
}
