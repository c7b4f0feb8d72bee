//! `venturedex doctor`: checks the environment in which `serve` would run, and says how to fix problems.
//!
//! It takes the settings of `serve`, writes nothing (except with `--object-store`), and works no matter if the server
//! runs. Values are measured first and then judged by separate functions, so that each finding can be tested.

mod data_folder;
mod finding;
mod machine;
mod releases;
mod server;
mod settings;
mod store;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Instant, SystemTime};

use serde::Serialize;

use crate::app::settings::ServeSettings;
use crate::cli::doctor::finding::{Finding, Findings, Status};
use crate::cli::indexer::format;
use data::rfc3339;
use platform::PROGRAM;
use platform::clock::now;

#[derive(Serialize)]
struct DoctorReport {
    program: String,
    /// Time of the checks, RFC 3339 in UTC.
    checked_at: String,
    status: Status,
    problems: usize,
    warnings: usize,
    findings: Vec<Finding>,
}

/// Checks the settings and all that they name. `variables` are those of the environment. Exits with 1 for a problem.
pub fn run(
    settings: &ServeSettings,
    object_store: Option<&Path>,
    json: bool,
    variables: impl IntoIterator<Item = String>,
) -> ExitCode {
    let began = (SystemTime::now(), Instant::now());
    let checked_at = now();
    let mut findings = Findings::default();
    settings::check(settings, variables, &mut findings);
    let is_shared = settings.store.store.is_some();
    let mut data = data_folder::check(&settings.data, is_shared, &mut findings);
    if is_shared {
        let tables = store::check(&settings.store, &mut findings);
        data.newest_time = tables.and_then(|tables| tables.newest_time);
        data.clock_jump = tables.and_then(|tables| tables.clock_jump);
    }
    let index = releases::check(settings, checked_at, &mut findings);
    if let Some(place) = object_store {
        releases::check_object_store(place, &mut findings);
    }
    if data.holder.is_some() {
        server::check(settings.listen, index.current, &mut findings);
    }
    machine::check(settings, &data, &index, &mut findings);
    machine::check_clock(checked_at, &data, &index, began, &mut findings);
    let findings = findings.0;
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    let report = DoctorReport {
        program: PROGRAM.to_owned(),
        checked_at: rfc3339(checked_at),
        status: findings.iter().map(|finding| finding.status).max().unwrap_or(Status::Ok),
        problems: count(Status::Problem),
        warnings: count(Status::Warning),
        findings,
    };
    let mut out = io::stdout().lock();
    let written = match json {
        true => serde_json::to_writer(&mut out, &report).map_err(io::Error::from).and_then(|()| writeln!(out)),
        false => print(&report, &mut out),
    };
    if let Err(error) = written {
        let _ = writeln!(io::stderr(), "error: standard output: {error}");
        return ExitCode::FAILURE;
    }
    if report.problems > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn print(report: &DoctorReport, out: &mut impl Write) -> io::Result<()> {
    let width = report.findings.iter().map(|finding| finding.check.len()).max().unwrap_or_default();
    for Finding { check, status, detail, remedy } in &report.findings {
        writeln!(out, "{:7}  {check:width$}  {detail}", status.name())?;
        if let Some(remedy) = remedy {
            writeln!(out, "{:7}  {:width$}  -> {remedy}", "", "")?;
        }
    }
    let (problems, warnings) = (report.problems, report.warnings);
    writeln!(out, "\n{}, {}", format::counted(problems, "problem"), format::counted(warnings, "warning"))?;
    out.flush()
}
