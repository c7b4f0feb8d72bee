//! `indexer check`: what is wrong with a dataset, and what is probably wrong or missing.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{Code, CommandError, Style, format};
use data::compile::Quality;
use data::import::Input;
use data::{self, Compiled, Diagnostic, Report, Table};

/// Findings of one kind that are listed without `--verbose`.
const MAX_LISTED: usize = 5;

/// Errors are always listed, warnings only with `--verbose`.
#[derive(Serialize)]
pub(crate) struct ReportJson<'r> {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    dataset: String,
    error_count: usize,
    warning_count: usize,
    errors: Vec<&'r Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<&'r Diagnostic>>,
    /// Of a dataset without errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<Quality<'r>>,
}

impl<'r> ReportJson<'r> {
    fn of(report: &'r Report, quality: Option<Quality<'r>>, dataset: &Path, style: &Style) -> Self {
        let errors: Vec<&'r Diagnostic> = report.errors().collect();
        Self {
            ok: errors.is_empty(),
            code: (!errors.is_empty()).then_some("dataset_refused"),
            dataset: dataset.display().to_string(),
            error_count: errors.len(),
            warning_count: report.warnings().count(),
            errors,
            warnings: style.verbose.then(|| report.warnings().collect()),
            quality,
        }
    }
}

pub(crate) fn run(dataset: Input<'_>, style: &Style) -> Result<Code, CommandError> {
    let folder = dataset.folder;
    let compiled = match compile(dataset, style)? {
        Ok(compiled) => compiled,
        Err(code) => return Ok(code),
    };
    let quality = compiled.quality()?;
    if style.json {
        format::json(&ReportJson::of(compiled.report(), Some(quality), folder, style))?;
        return Ok(Code::Success);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    list(compiled.report(), style, &mut out)?;
    print_quality(&quality, style, &mut out)?;
    print_verdict(compiled.report(), folder, style, &mut out)?;
    out.flush()?;
    Ok(Code::Success)
}

/// Compiles a dataset; the exit code if it has errors, which are printed.
pub(crate) fn compile(dataset: Input<'_>, style: &Style) -> Result<Result<Compiled, Code>, CommandError> {
    let steps = Steps::new(style.json);
    let folder = dataset.folder;
    let compiled = data::compile(dataset, &steps);
    drop(steps);
    Ok(match compiled {
        Ok(compiled) => Ok(compiled),
        Err(report) => {
            print(&report, folder, style)?;
            Err(Code::Rejected)
        }
    })
}

pub(crate) fn print(report: &Report, folder: &Path, style: &Style) -> io::Result<()> {
    if style.json {
        return format::json(&ReportJson::of(report, None, folder, style));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    list(report, style, &mut out)?;
    print_verdict(report, folder, style, &mut out)?;
    out.flush()
}

fn print_verdict(report: &Report, folder: &Path, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let errors = format::counted(report.errors().count(), "error");
    let warnings = format::counted(report.warnings().count(), "warning");
    let verdict = if report.has_errors() { "rejected" } else { "ok" };
    writeln!(out, "{}: {verdict}, {errors}, {warnings}{}", folder.display(), hint(report, style))
}

/// Prints what is probably wrong, and how much of each field is known.
fn print_quality(quality: &Quality<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let listed = if style.verbose { usize::MAX } else { MAX_LISTED };
    let duplicates = quality.near_duplicates.iter().filter(|(_, count)| **count > 0);
    let duplicates: Vec<String> =
        duplicates.map(|(table, count)| format!("{} {}", format::count(*count as u64), table.name())).collect();
    if !duplicates.is_empty() {
        writeln!(out, "near-duplicates: {} (list them with `indexer duplicates`)", duplicates.join(", "))?;
    }
    let suspect = &quality.suspect_amounts;
    if !suspect.is_empty() {
        writeln!(out, "suspect amounts: {}", format::count(suspect.len() as u64))?;
    }
    for round in suspect.iter().take(listed) {
        let [amount, limit] = [round.amount_usd, round.percentile_99_usd].map(format::count);
        let (id, stage, startup) = (round.id, round.stage, round.startup.slug);
        writeln!(out, "  {id} of {startup}: ${amount}; 99 % of the rounds of {stage} raised at most ${limit}")?;
    }
    print_hidden(suspect.len(), listed, out)?;
    let reviews = &quality.contradictory_reviews;
    if !reviews.is_empty() {
        writeln!(out, "contradictory reviews: {}", format::count(reviews.len() as u64))?;
    }
    for review in reviews.iter().take(listed) {
        writeln!(out, "  {} of {}: {}", review.id, review.firm.slug, review.problem)?;
    }
    print_hidden(reviews.len(), listed, out)?;
    for (table, years) in quality.years.iter().filter(|(_, years)| !years.gaps.is_empty()) {
        let gaps: Vec<String> = years.gaps.iter().map(ToString::to_string).collect();
        writeln!(out, "{} are few in {}", table.name(), gaps.join(", "))?;
    }
    for (table, fields) in &quality.coverage {
        let known = fields.iter().filter(|coverage| coverage.records > 0).map(|coverage| {
            let share = 100.0 * f64::from(coverage.known) / f64::from(coverage.records);
            format!("{} {share:.0} %", coverage.field)
        });
        let known: Vec<String> = known.collect();
        if !known.is_empty() && *table != Table::Sectors {
            writeln!(out, "known of {}: {}", table.name(), known.join(", "))?;
        }
    }
    Ok(())
}

fn print_hidden(count: usize, listed: usize, out: &mut dyn Write) -> io::Result<()> {
    match count.saturating_sub(listed) {
        0 => Ok(()),
        hidden => writeln!(out, "  and {} more (list them with --verbose)", format::count(hidden as u64)),
    }
}

/// Prints each error and, with `--verbose`, each warning.
pub(crate) fn list(report: &Report, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    for problem in report.errors() {
        writeln!(out, "error: {problem}")?;
    }
    if style.verbose {
        for problem in report.warnings() {
            writeln!(out, "warning: {problem}")?;
        }
    }
    Ok(())
}

/// How to see warnings that are only counted.
pub(crate) fn hint(report: &Report, style: &Style) -> &'static str {
    let hidden = !style.verbose && report.warnings().next().is_some();
    if hidden { " (list them with --verbose)" } else { "" }
}
