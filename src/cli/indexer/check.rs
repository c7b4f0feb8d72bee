//! `indexer check`: what is wrong with a dataset.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{Code, CommandError, Style, format};
use crate::data::import::Input;
use crate::data::{self, Compiled, Diagnostic, Report};

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
}

impl<'r> ReportJson<'r> {
    fn of(report: &'r Report, dataset: &Path, style: &Style) -> Self {
        let errors: Vec<&'r Diagnostic> = report.errors().collect();
        Self {
            ok: errors.is_empty(),
            code: (!errors.is_empty()).then_some("dataset_refused"),
            dataset: dataset.display().to_string(),
            error_count: errors.len(),
            warning_count: report.warnings().count(),
            errors,
            warnings: style.verbose.then(|| report.warnings().collect()),
        }
    }
}

pub(crate) fn run(dataset: Input<'_>, style: &Style) -> Result<Code, CommandError> {
    let steps = Steps::new(style.json);
    let folder = dataset.folder;
    let report = data::check(dataset, &steps);
    drop(steps);
    print(&report, folder, style)?;
    Ok(if report.has_errors() { Code::Rejected } else { Code::Success })
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
        return format::json(&ReportJson::of(report, folder, style));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    list(report, style, &mut out)?;
    let errors = format::counted(report.errors().count(), "error");
    let warnings = format::counted(report.warnings().count(), "warning");
    let verdict = if report.has_errors() { "rejected" } else { "ok" };
    writeln!(out, "{}: {verdict}, {errors}, {warnings}{}", folder.display(), hint(report, style))?;
    out.flush()
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
