//! `indexer resolve`: finds records that are, or may be, the same firm, startup or person.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::review::Reviewed;
use crate::cli::indexer::{CommandResult, ResolveError, Style, check, format, import, review};
use ::import::sources::Suppressed;
use data::vocabulary::Vocabulary;
use data::{Date, Table};
use import::resolve::{
    Decision, Decisions, Judgement, MergeConflict, RecordPair, Resolution, SourceRecord, TABLES, decision, record,
    resolve, statements,
};

#[derive(Args)]
pub(super) struct ResolveArgs {
    /// Folder of sources, with their statements and decisions.csv
    #[arg(long, value_name = "DIR", required_unless_present = "dataset")]
    sources: Option<PathBuf>,
    /// Folder of a dataset instead, whose records are compared with each other
    #[arg(long, value_name = "DIR", conflicts_with = "sources")]
    dataset: Option<PathBuf>,
    /// Decide the likely pairs in batches of equal evidence: the sample of a batch can decide its rest
    #[arg(long, conflicts_with = "dataset")]
    review: bool,
    /// Write the likely pairs as a page to decide them in a browser, which saves the decisions as a file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dataset", "review"])]
    page: Option<PathBuf>,
    /// Add the decisions of a file of the same form, such as the one that the page saves
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dataset", "review", "page"])]
    add: Option<PathBuf>,
    /// Who decides, for decisions.csv
    #[arg(long, value_name = "NAME", env = "USER", default_value = "", hide_env_values = true)]
    by: String,
}

pub(crate) fn run(arguments: &ResolveArgs, today: Date, style: &Style) -> CommandResult {
    if let (Some(folder), Some(file)) = (&arguments.sources, &arguments.add) {
        return add(folder, file, style);
    }
    let steps = Steps::new(style.json);
    let mut sources = Vec::new();
    let (records, decisions) = match (&arguments.sources, &arguments.dataset) {
        (Some(folder), _) => {
            let (decisions, suppressed) = (Decisions::read(folder)?, Suppressed::read(folder)?);
            sources = import::sources_in(folder)?;
            (statements::read_records(folder, &sources, &suppressed, &steps)?.records, decisions)
        }
        (None, folder) => {
            let folder = folder.as_deref().unwrap_or(Path::new("dataset"));
            match data::import::read(folder, &steps) {
                (Some(dataset), _) => (record::records_of_dataset(&dataset), Decisions::default()),
                (None, report) => return Err(check::reject(&report, folder, style)),
            }
        }
    };
    let resolution = resolve(records, &decisions, &steps).map_err(ResolveError::from)?;
    drop(steps);
    if let Some(folder) = arguments.sources.as_deref().filter(|_| arguments.review || arguments.page.is_some()) {
        let (resolution, by) = (&resolution, arguments.by.as_str());
        let reviewed = Reviewed { folder, sources: &sources, resolution, known: decisions, by, on: today };
        return match &arguments.page {
            Some(file) => review::write_page(&reviewed, file, style),
            None => review::run(reviewed, style),
        };
    }
    style.print(true, &ResolutionJson::new(&resolution, &decisions), |out| {
        print(&resolution, &decisions, arguments, style, out)
    })
}

/// Appends the new decisions of a file, but for those that contradict others: these are listed.
fn add(folder: &Path, file: &Path, style: &Style) -> CommandResult {
    let known = Decisions::read(folder)?;
    let (mut made, mut report) = decision::read_file(file);
    if report.has_errors() {
        return Err(check::reject(&report, file, style));
    }
    made.retain(|decision| !known.has(decision));
    let (_, added) = known.with(made, &mut report);
    if !added.is_empty() {
        decision::append(folder, &added)?;
    }
    let left_out: Vec<String> = report.errors().map(ToString::to_string).collect();
    style.print(left_out.is_empty(), &json!({ "added": added.len(), "left_out": left_out }), |out| {
        let count = format::counted(added.len(), "decision");
        writeln!(out, "{count} added to {}", folder.join(decision::FILE).display())?;
        left_out.iter().try_for_each(|problem| writeln!(out, "left out: {problem}"))
    })
}

#[derive(Serialize)]
struct ResolutionCounts {
    kind: Table,
    records: usize,
    /// Numbers of pairs.
    merged: usize,
    review: usize,
    /// Numbers of entities with several records, and of these records.
    clusters: usize,
    clustered: usize,
}

impl ResolutionCounts {
    fn new(resolution: &Resolution, table: Table) -> Self {
        let of_table = |row: u32| resolution.records[row as usize].table == table;
        let clusters = resolution.clusters.iter().filter(|cluster| of_table(cluster[0]));
        Self {
            kind: table,
            records: resolution.records.iter().filter(|record| record.table == table).count(),
            merged: resolution.merged.iter().filter(|pair| of_table(pair.left)).count(),
            review: resolution.review.iter().filter(|pair| of_table(pair.left)).count(),
            clusters: clusters.clone().count(),
            clustered: clusters.map(Vec::len).sum(),
        }
    }
}

#[derive(Serialize)]
struct PairJson<'a> {
    left: &'a str,
    right: &'a str,
    /// From 0 to 1.
    score: f64,
    /// Points before any evidence; ten double the odds.
    base: i32,
    /// Names, with points.
    evidence: Vec<Value>,
    /// The reason why it is reviewed despite its score.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<String>,
}

impl<'a> PairJson<'a> {
    fn new(resolution: &'a Resolution, pair: &RecordPair) -> Self {
        let id = |row: u32| resolution.records[row as usize].id.as_str();
        let evidence = pair.evidence.iter().map(|found| json!({ "name": found.name(), "points": found.points }));
        Self {
            left: id(pair.left),
            right: id(pair.right),
            score: f64::from(pair.score) / 100.0,
            base: pair.base,
            evidence: evidence.collect(),
            held: pair.conflict.as_ref().map(|held| conflict_text(resolution, held)),
        }
    }
}

#[derive(Serialize)]
struct ResolutionJson<'a> {
    counts: Vec<ResolutionCounts>,
    vetoed: usize,
    decisions: usize,
    clusters: Vec<Vec<&'a str>>,
    merged: Vec<PairJson<'a>>,
    /// The most valuable first.
    review: Vec<PairJson<'a>>,
}

impl<'a> ResolutionJson<'a> {
    fn new(resolution: &'a Resolution, decisions: &Decisions) -> Self {
        let pairs = |pairs: &[RecordPair]| pairs.iter().map(|pair| PairJson::new(resolution, pair)).collect();
        let ids = |rows: &Vec<u32>| rows.iter().map(|row| resolution.records[*row as usize].id.as_str()).collect();
        Self {
            counts: TABLES.map(|table| ResolutionCounts::new(resolution, table)).into(),
            vetoed: resolution.vetoed,
            decisions: decisions.all().len(),
            clusters: resolution.clusters.iter().map(ids).collect(),
            merged: pairs(&resolution.merged),
            review: pairs(&resolution.review),
        }
    }
}

pub(crate) fn conflict_text(resolution: &Resolution, held: &MergeConflict) -> String {
    let name = |row: &u32| {
        let SourceRecord { id, name, .. } = &resolution.records[*row as usize];
        format!("{name} ({id})")
    };
    match held {
        MergeConflict::Decided(left, right) => {
            format!("it would join {} and {}, which are different by decision", name(left), name(right))
        }
        MergeConflict::Vetoed(left, right, veto) => format!("it would join {} and {}: {veto}", name(left), name(right)),
    }
}

/// Formats evidence: `0.97: same name 0.60, same domain 0.45`.
pub(crate) fn evidence_text(pair: &RecordPair) -> String {
    let evidence = pair.evidence.iter().map(|found| format!("{} {:+}", found.name(), found.points));
    let evidence: Vec<String> = evidence.collect();
    format!("{} %: {}, before any evidence {:+}", pair.score, evidence.join(", "), pair.base)
}

fn print(
    resolution: &Resolution,
    decisions: &Decisions,
    arguments: &ResolveArgs,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if style.verbose {
        for (tier, pairs) in [("merge", &resolution.merged), ("review", &resolution.review)] {
            for pair in pairs {
                let [left, right] = [pair.left, pair.right].map(|row| &resolution.records[row as usize]);
                writeln!(out, "{tier} {} ({}) = {} ({})", left.name, left.id, right.name, right.id)?;
                writeln!(out, "  {}", evidence_text(pair))?;
                if let Some(held) = &pair.conflict {
                    writeln!(out, "  not merged: {}", conflict_text(resolution, held))?;
                }
            }
        }
    }
    for table in TABLES {
        let ResolutionCounts { records, clusters, clustered, review, .. } = ResolutionCounts::new(resolution, table);
        if records > 0 {
            let [records, clustered, clusters] = [records, clustered, clusters].map(format::count);
            let (name, review) = (table.name(), format::counted(review, "pair"));
            writeln!(out, "{name}: {records} records; {clustered} are {clusters} together; {review} to review")?;
        }
    }
    writeln!(out, "{} kept apart by a veto", format::counted(resolution.vetoed, "pair"))?;
    if arguments.sources.is_some() {
        let count = |judgement: Judgement| {
            let decided = decisions.all().iter().filter(|decision: &&Decision| decision.judgement == judgement).count();
            format!("{} {}", format::count(decided), judgement.name())
        };
        let counts: Vec<String> = Judgement::ALL.iter().map(|judgement| count(*judgement)).collect();
        writeln!(out, "decisions: {}", counts.join(", "))?;
    }
    let has_pairs = !resolution.merged.is_empty() || !resolution.review.is_empty();
    if has_pairs && !style.verbose {
        let review = if arguments.sources.is_some() { ", decide them with --review" } else { "" };
        writeln!(out, "list the pairs with --verbose{review}")?;
    }
    Ok(())
}
