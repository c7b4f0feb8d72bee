//! Decisions of people about pairs of entities: `decisions.csv`.
//!
//! The file is append-only and replayed at each build. The last decision about a pair counts, so `unsure` takes an earlier
//! one back. `same` is transitive and `different` is binding. Contradictory decisions are errors; the message lists the lines
//! that join the two entities.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::OpenOptions;
use std::io::Read as _;
use std::path::Path;

use crate::sources::statement::source_entity;
use crate::sources::{EntityKind, SourceError, read_edited, update};
use data::import::csv_row::CsvRow;
pub use data::import::csv_table::{CsvTable, TableRow};
use data::import::diagnostics::{Diagnostic, Diagnostics, quoted};
use data::vocabulary::{Vocabulary, vocabulary};
use data::{DiagnosticReport, NoProgress, PartialDate};

vocabulary! {
    Judgement, "decision", {
        Same = "same",
        Different = "different",
        /// Nothing is known; also takes an earlier decision back.
        Unsure = "unsure",
    }
}

/// File of decisions, next to the folders of the sources.
pub const FILE: &str = "decisions.csv";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// `source/entity`, such as `gleif/firm:lei:529900T8BM49AURSDO55`.
    pub left: String,
    pub right: String,
    pub judgement: Judgement,
    pub by: String,
    pub on: PartialDate,
    pub why: String,
    line: u64,
}

impl TableRow for Decision {
    const NOUN: &'static str = "decision";
    const FILE: &'static str = FILE;
    const HEADER: &'static str = "left,right,decision,by,on,why";
    const REQUIRED: &'static str = "left,right,decision,on";
}

impl Decision {
    pub const COLUMNS: &'static str = <Self as TableRow>::HEADER;

    pub fn new(left: String, right: String, judgement: Judgement, by: String, on: PartialDate, why: String) -> Self {
        Self { left, right, judgement, by, on, why, line: 0 }
    }

    fn read(row: &mut CsvRow<'_, '_>) -> Option<Self> {
        let left = row.required("left", read_entity);
        let right = row.required("right", read_entity);
        let judgement = row.required("decision", CsvRow::word);
        let (by, on) = (row.phrase("by").unwrap_or_default(), row.required("on", CsvRow::date));
        let why = row.text("why").unwrap_or_default();
        let (left, right) = (left?, right?);
        if left == right {
            row.error("right", format!("{} is also `left`; a decision is about two entities", quoted(&right)));
            return None;
        }
        let [kind, other] = [&left, &right].map(|entity| kind_of(entity));
        if kind != other {
            row.error("right", format!("a {kind} and a {other} cannot be compared; name two of one kind"));
            return None;
        }
        Some(Self { left, right, judgement: judgement?, by, on: on?, why, line: row.line })
    }

    fn fields<'a>(&'a self, on: &'a str) -> [&'a str; 6] {
        [&self.left, &self.right, self.judgement.name(), &self.by, on, &self.why]
    }

    pub(super) fn pair(&self) -> (&str, &str) {
        if self.left < self.right { (&self.left, &self.right) } else { (&self.right, &self.left) }
    }
}

/// `gleif/firm:lei:5493…` → `firm`
fn kind_of(entity: &str) -> &str {
    let (_, entity) = entity.split_once('/').unwrap_or_default();
    entity.split_once(':').unwrap_or_default().0
}

fn read_entity(row: &mut CsvRow<'_, '_>, column: &'static str) -> Option<String> {
    let text = row.field(column).to_owned();
    let entity = source_entity(&text, &[EntityKind::Firm, EntityKind::Startup, EntityKind::Person]).map(drop);
    entity.map_err(|problem| row.error(column, problem)).ok()?;
    Some(text)
}

/// Effective decisions: the last one about each pair.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    last: Vec<Decision>,
    /// Every entity that a decision names, with its group. `same` joins groups.
    pub(super) groups: HashMap<String, u32>,
}

impl Decisions {
    /// Reads the file in `folder`; a missing file means no decisions. The error lists invalid lines and contradictions.
    pub fn read(folder: &Path) -> Result<Self, SourceError> {
        read_edited(folder, Decision::read, Self::from_rows)
    }

    /// Takes decisions in the order in which they were made. Reports contradictions.
    fn from_rows(rows: Vec<Decision>, report: &mut DiagnosticReport) -> Self {
        let mut last: BTreeMap<(String, String), Decision> = BTreeMap::new();
        for decision in rows {
            let (left, right) = decision.pair();
            last.insert((left.to_owned(), right.to_owned()), decision);
        }
        let mut last: Vec<Decision> = last.into_values().collect();
        last.sort_by_key(|decision| decision.line);
        let mut decisions = Self { groups: HashMap::new(), last };
        let groups = decisions.neighbors().groups();
        decisions.groups = groups;
        decisions.report_contradictions(report);
        decisions
    }

    /// Adds decisions in the order in which they were made, and returns them, but for those that contradict an earlier one:
    /// these are reported.
    #[must_use]
    pub fn with(&self, made: Vec<Decision>, report: &mut DiagnosticReport) -> (Self, Vec<Decision>) {
        let next = self.last.last().map_or(1, |last| last.line) + 1;
        let lines = (next..).zip(&made).map(|(line, decision)| Decision { line, ..decision.clone() });
        let mut problems = DiagnosticReport::default();
        let with_all = Self::from_rows(self.last.iter().cloned().chain(lines).collect(), &mut problems);
        if !problems.has_errors() {
            return (with_all, made);
        }
        if let [Decision { left, right, judgement, .. }] = made.as_slice() {
            for problem in problems.problems {
                let message = format!("`{left}` and `{right}` as {}: {}", judgement.name(), problem.message);
                report.problems.push(Diagnostic { line: None, column: None, message, ..problem });
            }
            return (self.clone(), Vec::new());
        }
        let mut first = made;
        let second = first.split_off(first.len() / 2);
        let (with_first, mut kept) = self.with(first, report);
        let (with_both, mut further) = with_first.with(second, report);
        kept.append(&mut further);
        (with_both, kept)
    }

    /// True if the last decision about the same pair has the same judgement.
    pub fn has(&self, decision: &Decision) -> bool {
        self.last.iter().any(|last| last.pair() == decision.pair() && last.judgement == decision.judgement)
    }

    pub fn all(&self) -> &[Decision] {
        &self.last
    }

    pub(super) fn pairs(&self, judgement: Judgement) -> impl Iterator<Item = (u32, u32)> {
        let decisions = self.last.iter().filter(move |decision| decision.judgement == judgement);
        decisions.map(|decision| {
            let (left, right) = (self.groups[&decision.left], self.groups[&decision.right]);
            (left.min(right), left.max(right))
        })
    }

    fn neighbors(&self) -> Neighbors<'_> {
        let mut neighbors = Neighbors::default();
        for Decision { left, right, judgement, line, .. } in &self.last {
            for (from, to) in [(left, right), (right, left)] {
                let known = neighbors.0.entry(from).or_default();
                known.extend((*judgement == Judgement::Same).then_some((to.as_str(), *line)));
            }
        }
        neighbors
    }

    fn report_contradictions(&self, report: &mut DiagnosticReport) {
        let neighbors = self.neighbors();
        let mut diagnostics = Diagnostics::new(Decision::FILE, report);
        for decision in self.last.iter().filter(|decision| decision.judgement == Judgement::Different) {
            if self.groups[&decision.left] != self.groups[&decision.right] {
                continue;
            }
            let path = neighbors.path(&decision.left, &decision.right);
            let mut text = format!("`{}`", decision.left);
            for (entity, line) in path {
                text += &format!(" = `{entity}` (line {line})");
            }
            let message = format!(
                "`different` contradicts the decisions that join the two: {text}; take one of them back: append a line with \
                 its pair and `unsure`"
            );
            diagnostics.error(Some(decision.line), Some("decision"), message);
        }
    }
}

/// Graph of `same` decisions: for each entity its neighbors, with the line of the decision.
#[derive(Default)]
struct Neighbors<'a>(BTreeMap<&'a str, Vec<(&'a str, u64)>>);

impl<'a> Neighbors<'a> {
    /// Number of each entity's component.
    fn groups(&self) -> HashMap<String, u32> {
        let mut groups: HashMap<String, u32> = HashMap::new();
        for (number, start) in (0..).zip(self.0.keys()) {
            let mut rest = vec![*start];
            while let Some(entity) = rest.pop() {
                if groups.contains_key(entity) {
                    continue;
                }
                groups.insert(entity.to_owned(), number);
                rest.extend(self.0[entity].iter().map(|(next, _)| *next));
            }
        }
        groups
    }

    /// Shortest path from one entity to another of its component, without the start.
    fn path(&self, from: &'a str, to: &str) -> Vec<(&'a str, u64)> {
        let mut before: HashMap<&str, (&'a str, &'a str, u64)> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(entity) = queue.pop_front() {
            for (next, line) in &self.0[entity] {
                if *next != from && !before.contains_key(next) {
                    before.insert(next, (next, entity, *line));
                    queue.push_back(next);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while let Some((entity, previous, line)) = before.get(at) {
            path.push((*entity, *line));
            at = previous;
        }
        path.reverse();
        path
    }
}

/// Reads decisions from any file of this format. The report lists invalid lines.
pub fn read_file(file: &Path) -> (Vec<Decision>, DiagnosticReport) {
    let mut report = DiagnosticReport::default();
    let name = file.display().to_string();
    if let Err(error) = std::fs::metadata(file) {
        Diagnostics::new(&name, &mut report).unreadable(&error);
    }
    let rows = CsvTable::read_file(file, &name, &mut report, &NoProgress, Decision::read).rows;
    (rows, report)
}

/// Adds decisions to the file in a folder, all or none.
pub fn append(folder: &Path, decisions: &[Decision]) -> Result<(), SourceError> {
    let days: Vec<String> = decisions.iter().map(|decision| decision.on.to_string()).collect();
    let lines: Vec<[&str; 6]> = decisions.iter().zip(&days).map(|(decision, on)| decision.fields(on)).collect();
    update::append(&folder.join(FILE), Decision::HEADER, &lines)
}

/// Removes decisions that were added last.
pub fn take_back(folder: &Path, decisions: &[Decision]) -> Result<(), SourceError> {
    let path = folder.join(FILE);
    let mut lines = Vec::new();
    for decision in decisions {
        update::write_line(&mut lines, &decision.fields(&decision.on.to_string()));
    }
    let io = |error| SourceError::io(&path, error);
    let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(io)?;
    let mut content = Vec::new();
    file.read_to_end(&mut content).map_err(io)?;
    let Some(rest) = content.strip_suffix(lines.as_slice()) else {
        let problem = "the decisions are not its last lines any more; append a line with their pair and `unsure`";
        return Err(SourceError::invalid(&path, problem));
    };
    file.set_len(rest.len() as u64).and_then(|()| file.sync_data()).map_err(io)
}
