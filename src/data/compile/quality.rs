//! Quality of a dataset: valid values that are probably wrong, and missing values.

use std::collections::{BTreeMap, HashMap};
use std::io;

use serde::Serialize;

use crate::archive::record_text::RecordBuffer;
use crate::compile::Compiled;
use crate::coverage::{CountedRound, Markets, RoundCoverage};
use crate::derive::record::reference;
use crate::derive::review_weight::ReviewWeight;
use crate::import::csv_table::TableRow;
use crate::import::rows::DatasetReview;
use crate::import::{TABLES, referable};
use crate::model::Reference;
use crate::vocabulary::Vocabulary;
use crate::{Diagnostic, Severity, Table};

/// A larger difference between the overall rating and the mean of the other ratings is a contradiction.
const MAX_RATING_DIFFERENCE: f64 = 2.0;

/// Responsiveness that contradicts `ghosted`: nobody gives it to a firm that never answered.
const MIN_RATING_OF_ANSWERS: u8 = 4;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DatasetQuality<'a> {
    pub near_duplicates: BTreeMap<Table, usize>,
    /// Rounds with an amount far above those of their stage, the largest first.
    pub suspect_amounts: Vec<SuspectAmount<'a>>,
    pub coverage: BTreeMap<Table, Vec<FieldCompleteness>>,
    /// Number of rows per year, by table, and the years that are probably incomplete.
    pub years: BTreeMap<Table, Years>,
    pub contradictory_reviews: Vec<ContradictoryReview<'a>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SuspectAmount<'a> {
    pub id: &'a str,
    pub startup: Reference<&'a str>,
    /// `None` if it is unknown.
    pub stage: Option<&'static str>,
    pub amount_usd: u64,
    /// 99 % of the amounts of the stage are at most this; of all rounds if it is unknown.
    pub percentile_99_usd: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldCompleteness {
    pub field: &'static str,
    pub known: u32,
    pub records: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Years {
    pub rows: BTreeMap<i32, u32>,
    pub gaps: Vec<i32>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContradictoryReview<'a> {
    pub id: &'a str,
    pub firm: Reference<&'a str>,
    pub problem: String,
}

impl Compiled {
    /// Fails if descriptions are in a file and cannot be read.
    pub fn quality(&self) -> io::Result<DatasetQuality<'_>> {
        let dataset = &self.dataset;
        let counted = |market, date| CountedRound { market, date, known: [false; 3] };
        let rounds = dataset
            .rounds
            .iter()
            .filter_map(|round| Some(counted(dataset.startups[round.startup as usize].country, round.announced_on?)));
        let reviews = dataset.reviews.iter().map(|review| counted(None, review.unpublished().1));
        let years = [
            (Table::Rounds, Years::new(&RoundCoverage::count(rounds))),
            (Table::Reviews, Years::new(&RoundCoverage::count(reviews))),
        ];
        let coverage = Table::ALL.into_iter().map(|table| Ok((table, self.coverage(table)?)));
        Ok(DatasetQuality {
            near_duplicates: referable::TABLES.map(|table| (table, self.near_duplicates(table).len())).into(),
            suspect_amounts: self.suspect_amounts(),
            coverage: coverage.collect::<io::Result<_>>()?,
            years: years.into(),
            contradictory_reviews: self.contradictory_reviews(),
        })
    }

    fn suspect_amounts(&self) -> Vec<SuspectAmount<'_>> {
        let limits = &self.derived.limits;
        let suspect = self.dataset.rounds.iter().filter(|round| limits.is_suspect(round));
        let suspect = suspect.filter_map(|round| {
            Some(SuspectAmount {
                id: &round.id,
                startup: reference(&self.dataset, Table::Startups, round.startup),
                stage: round.stage.map(Vocabulary::name),
                amount_usd: round.amount_usd?,
                percentile_99_usd: limits.percentile(round.stage)?,
            })
        });
        let mut suspect: Vec<SuspectAmount<'_>> = suspect.collect();
        suspect.sort_by(|left, right| right.amount_usd.cmp(&left.amount_usd).then(left.id.cmp(right.id)));
        suspect
    }

    /// Coverage of the fields that are read from CSV columns, except those that every row has.
    fn coverage(&self, table: Table) -> io::Result<Vec<FieldCompleteness>> {
        let dataset = &self.dataset;
        let (_, columns, required) = TABLES[table as usize];
        let has = |list: &str, name: &str| list.split(',').any(|column| column == name);
        let fields = table.fields().iter().enumerate();
        let fields = fields.filter(|(_, field)| has(columns, field.name) && !has(required, field.name));
        // An unapproved review has no public values.
        let is_counted = |row: &&u32| table != Table::Reviews || dataset.reviews[**row as usize].published().is_some();
        let rows: Vec<&u32> = self.orders[table].old.iter().filter(is_counted).collect();
        let records = rows.len() as u32;
        let mut coverage: Vec<(usize, FieldCompleteness)> =
            fields.map(|(index, field)| (index, FieldCompleteness { field: field.name, known: 0, records })).collect();
        let (mut record, mut out) = (RecordBuffer::default(), Vec::new());
        for row in rows {
            out.clear();
            let written = record.write(&mut out, dataset, &self.derived, table, *row as usize)?;
            for (field, coverage) in &mut coverage {
                coverage.known += u32::from(written.is_known(*field));
            }
        }
        Ok(coverage.into_iter().map(|(_, coverage)| coverage).collect())
    }

    /// The published reviews that nobody has cleared and that do not count, count less or contradict themselves, as errors in
    /// the order of their lines.
    pub fn suspicious_reviews(&self) -> Vec<Diagnostic> {
        let contradictory: HashMap<&str, String> =
            self.contradictory_reviews().into_iter().map(|review| (review.id, review.problem)).collect();
        let reviews = self.dataset.reviews.iter().zip(&self.derived.review_weights);
        let reviews = reviews.filter(|(review, _)| review.published().is_some() && !review.is_cleared);
        let problems = reviews.filter_map(|(review, ReviewWeight { weight, held_as })| {
            let problem = match held_as {
                Some(reason) => format!("the review does not count: {}", reason.in_words()),
                None if *weight < 1.0 => {
                    "the review counts less: its account was created around a burst of them".to_owned()
                }
                None => format!("the review contradicts itself: {}", contradictory.get(&*review.id)?),
            };
            let message = format!("{problem}; look at it, then write `true` if it may count, or reject it in `status`");
            let line = Some(u64::from(review.line));
            let (file, column) = (DatasetReview::FILE.to_owned(), Some("cleared".to_owned()));
            Some(Diagnostic { severity: Severity::Error, file, line, column, message })
        });
        problems.collect()
    }

    fn contradictory_reviews(&self) -> Vec<ContradictoryReview<'_>> {
        let contradiction = |review: &'_ DatasetReview| {
            let (content, created_on) = review.unpublished();
            let parts = [content.responsiveness, content.fairness, content.value_add];
            let known: Vec<f64> = parts.iter().flatten().map(|rating| f64::from(*rating)).collect();
            let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
            if content.ghosted == Some(true) && content.responsiveness >= Some(MIN_RATING_OF_ANSWERS) {
                let rating = content.responsiveness.unwrap_or_default();
                return Some(format!("ghosted, and responsiveness is {rating}"));
            }
            // A single rating is no second opinion.
            if known.len() > 1 && (f64::from(content.rating) - mean).abs() > MAX_RATING_DIFFERENCE {
                return Some(format!("rating is {}, the mean of the other ratings {mean:.1}", content.rating));
            }
            let founded = self.dataset.firms[review.firm as usize].founded_year?;
            let written = created_on.year();
            (written < i32::from(founded))
                .then(|| format!("written in {written}, before the firm was founded in {founded}"))
        };
        let reviews = self.dataset.reviews.iter().filter_map(|review| {
            let firm = reference(&self.dataset, Table::Firms, review.firm);
            Some(ContradictoryReview { id: &review.id, firm, problem: contradiction(review)? })
        });
        reviews.collect()
    }
}

impl Years {
    /// Rows by year; gaps are the years between the first and the last covered one that are not covered.
    fn new(coverage: &RoundCoverage) -> Self {
        let covered = coverage.years(None, &Markets::All);
        let between = covered.first().zip(covered.last()).map_or(0..0, |(first, last)| *first..*last);
        let rows = |year: i32| (year, coverage.counts(&Markets::All, year).rounds as u32);
        Self {
            rows: coverage.dated_years().into_iter().map(rows).collect(),
            gaps: between.filter(|year| !covered.contains(year)).collect(),
        }
    }
}
