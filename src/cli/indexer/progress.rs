//! Progress of a command on standard error: bars on a terminal, otherwise one line per step.

use std::io::{IsTerminal, Write, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::cli::indexer::format;
use data::Progress;

pub(crate) struct Steps {
    is_silent: bool,
    state: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    running: Option<ProgressBar>,
    done: Vec<CompletedStep>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct CompletedStep {
    pub name: String,
    #[serde(rename = "ms", serialize_with = "format::as_milliseconds")]
    pub took: Duration,
}

impl Steps {
    /// Shows bars on a terminal; otherwise lines, or nothing if `result_only`.
    pub(crate) fn new(result_only: bool) -> Self {
        Self { is_silent: result_only && !stderr().is_terminal(), state: Mutex::default() }
    }

    pub(crate) fn completed(&self) -> Vec<CompletedStep> {
        self.state().done.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, name: &str, template: &str, total: u64) {
        self.done();
        let template = if total == 0 { UNKNOWN_SIZE } else { template };
        let style = ProgressStyle::with_template(template).expect("valid templates");
        let target = if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target).with_style(style).with_message(name.to_owned());
        if stderr().is_terminal() {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        self.state().running = Some(bar);
    }
}

const UNKNOWN_SIZE: &str = "{msg:<20} {spinner} {elapsed:>4}";
const BYTES: &str = "{msg:<20} {bar:32} {percent:>3} % of {total_bytes} {elapsed:>4}, {eta} left";
const ROWS: &str = "{msg:<20} {bar:32} {human_pos} of {human_len} rows {elapsed:>4}, {eta} left";

impl Progress for Steps {
    fn step(&self, name: &str, bytes: u64) {
        self.start(name, BYTES, bytes);
    }

    fn step_of_rows(&self, name: &str, rows: u64) {
        self.start(name, ROWS, rows);
    }

    fn advance(&self, done: u64) {
        if let Some(bar) = &self.state().running {
            bar.set_position(done);
        }
    }

    fn done(&self) {
        let mut state = self.state();
        let Some(bar) = state.running.take() else { return };
        bar.finish_and_clear();
        let (name, took) = (bar.message(), bar.elapsed());
        if !self.is_silent {
            // A command does not fail because its progress cannot be shown.
            let _ = writeln!(stderr(), "{name:<20} {}", format::time(took));
        }
        state.done.push(CompletedStep { name, took });
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(bar) = self.state().running.take() {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_recorded_in_order_and_end_when_the_next_starts() {
        let steps = Steps::new(true);
        steps.advance(3);
        steps.step("one", 10);
        steps.advance(10);
        steps.step_of_rows("two", 7);
        steps.step("three", 0);
        steps.done();
        steps.done();
        let names: Vec<String> = steps.completed().into_iter().map(|step| step.name).collect();
        assert_eq!(names, ["one", "two", "three"]);
    }
}
