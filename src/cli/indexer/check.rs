//! `indexer check`: errors of a dataset, and probable errors and gaps.

use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{CommandError, CommandResult, Style, format};
use data::compile::DatasetQuality;
use data::import::DatasetInput;
use data::{Compiled, Diagnostic, DiagnosticReport, Severity, Table};

/// Number of findings per kind that are listed without `--verbose`.
const MAX_LISTED: usize = 5;

/// Errors are always listed, warnings only with `--verbose`.
#[derive(Serialize)]
struct ReportJson<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    dataset: String,
    error_count: usize,
    warning_count: usize,
    errors: Vec<&'r Diagnostic>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<&'r Diagnostic>>,
    /// Warnings about many values together, which are always listed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suspicions: Vec<&'r Diagnostic>,
    /// Number of dates that were written as the year or month.
    #[serde(skip_serializing_if = "Option::is_none")]
    dates_written: Option<usize>,
    /// Only for a dataset without errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<&'r DatasetQuality<'r>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReviewCheck {
    /// They are no faults
    Lenient,
    /// They are errors until the column `cleared` is true
    Strict,
}

pub(crate) fn run(dataset: DatasetInput<'_>, write_dates: bool, reviews: ReviewCheck, style: &Style) -> CommandResult {
    let folder = dataset.folder;
    let compiled = compile(dataset, style)?;
    let written = if write_dates { Some(compiled.write_known_dates(folder)?) } else { None };
    let mut report = compiled.report.clone();
    if reviews == ReviewCheck::Strict {
        report.problems.extend(compiled.suspicious_reviews());
    }
    print(&report, Some(&compiled.quality()?), written, folder, style)
}

pub(crate) fn compile(dataset: DatasetInput<'_>, style: &Style) -> Result<Compiled, CommandError> {
    let steps = Steps::new(style.json);
    let folder = dataset.folder;
    let compiled = data::compile(dataset, &steps);
    drop(steps);
    compiled.map_err(|report| reject(&report, folder, style))
}

pub(crate) fn reject(report: &DiagnosticReport, folder: &Path, style: &Style) -> CommandError {
    print(report, None, None, folder, style).err().unwrap_or(CommandError::Rejected)
}

fn print(
    report: &DiagnosticReport,
    quality: Option<&DatasetQuality<'_>>,
    dates_written: Option<usize>,
    from: &Path,
    style: &Style,
) -> CommandResult {
    let (errors, warnings): (Vec<_>, Vec<_>) = (report.errors().collect(), report.warnings().collect());
    let [error_count, warning_count] = [errors.len(), warnings.len()];
    let result = ReportJson {
        code: report.has_errors().then_some("dataset_refused"),
        dataset: from.display().to_string(),
        error_count,
        warning_count,
        errors,
        warnings: style.verbose.then_some(warnings),
        suspicions: report.suspicions().collect(),
        dates_written,
        quality,
    };
    style.print(!report.has_errors(), &result, |out| {
        list(report, style, out)?;
        quality.map_or(Ok(()), |quality| print_quality(quality, style, out))?;
        if let Some(count) = dates_written {
            writeln!(out, "dates written as they are known: {}", format::count(count))?;
        }
        let counts = [(error_count, "error"), (warning_count, "warning")];
        let [errors, warnings] = counts.map(|(count, noun)| format::counted(count, noun));
        let verdict = if report.has_errors() { "rejected" } else { "ok" };
        writeln!(out, "{}: {verdict}, {errors}, {warnings}{}", result.dataset, hint(report, style))
    })
}

fn print_quality(quality: &DatasetQuality<'_>, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let listed = if style.verbose { usize::MAX } else { MAX_LISTED };
    let duplicates = quality.near_duplicates.iter().filter(|(_, count)| **count > 0);
    let duplicates: Vec<String> =
        duplicates.map(|(table, count)| format!("{} {}", format::count(count), table.name())).collect();
    if !duplicates.is_empty() {
        writeln!(out, "near-duplicates: {} (list them with `indexer duplicates`)", duplicates.join(", "))?;
    }
    let suspect = &quality.suspect_amounts;
    if !suspect.is_empty() {
        writeln!(out, "suspect amounts: {}", format::count(suspect.len()))?;
    }
    for round in suspect.iter().take(listed) {
        let [amount, limit] = [round.amount_usd, round.percentile_99_usd].map(format::count);
        let (id, startup) = (round.id, round.startup.slug);
        let rounds = round.stage.map_or_else(|| "all rounds".to_owned(), |stage| format!("the rounds of {stage}"));
        writeln!(out, "  {id} of {startup}: ${amount}; 99 % of {rounds} raised at most ${limit}")?;
    }
    print_hidden(suspect.len(), listed, out)?;
    let reviews = &quality.contradictory_reviews;
    if !reviews.is_empty() {
        writeln!(out, "contradictory reviews: {}", format::count(reviews.len()))?;
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
        hidden => writeln!(out, "  and {} more (list them with --verbose)", format::count(hidden)),
    }
}

pub(crate) fn list(report: &DiagnosticReport, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    report.errors().try_for_each(|problem| writeln!(out, "error: {problem}"))?;
    let is_listed = |problem: &&Diagnostic| style.verbose || problem.severity == Severity::Suspicion;
    report.warnings().filter(is_listed).try_for_each(|problem| writeln!(out, "warning: {problem}"))
}

pub(crate) fn hint(report: &DiagnosticReport, style: &Style) -> &'static str {
    let hidden = !style.verbose && report.warnings().any(|problem| problem.severity != Severity::Suspicion);
    if hidden { " (list them with --verbose)" } else { "" }
}
