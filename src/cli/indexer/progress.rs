//! Progress of a command on standard error: bars on a terminal, otherwise one line per step.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::cli::indexer::format;
use data::Progress;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    Bars,
    Lines,
    Nothing,
}

/// Shows the steps and records their durations.
pub(crate) struct Steps {
    show: Show,
    state: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    running: Option<RunningStep>,
    done: Vec<CompletedStep>,
}

struct RunningStep {
    name: String,
    since: Instant,
    bar: ProgressBar,
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
        let show = match (std::io::stderr().is_terminal(), result_only) {
            (true, _) => Show::Bars,
            (false, true) => Show::Nothing,
            (false, false) => Show::Lines,
        };
        Self { show, state: Mutex::default() }
    }

    pub(crate) fn completed(&self) -> Vec<CompletedStep> {
        self.state().done.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bar(&self, name: &str, total: u64) -> ProgressBar {
        if self.show != Show::Bars {
            return ProgressBar::hidden();
        }
        let template = if total > 0 {
            "{msg:<20} {bar:32} {percent:>3} % {elapsed:>4}"
        } else {
            "{msg:<20} {spinner} {elapsed:>4}"
        };
        let style = ProgressStyle::with_template(template).expect("valid templates");
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style);
        bar.set_message(name.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        bar
    }
}

impl Progress for Steps {
    fn step(&self, name: &str, total: u64) {
        self.done();
        let bar = self.bar(name, total);
        self.state().running = Some(RunningStep { name: name.to_owned(), since: Instant::now(), bar });
    }

    fn advance(&self, done: u64) {
        if let Some(running) = &self.state().running {
            running.bar.set_position(done);
        }
    }

    fn done(&self) {
        let mut state = self.state();
        let Some(RunningStep { name, since, bar }) = state.running.take() else { return };
        bar.finish_and_clear();
        let took = since.elapsed();
        if self.show != Show::Nothing {
            // A command does not fail because its progress cannot be shown.
            let _ = writeln!(std::io::stderr(), "{name:<20} {}", format::time(took));
        }
        state.done.push(CompletedStep { name, took });
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some(running) = self.state().running.take() {
            running.bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_recorded_in_order_and_end_when_the_next_starts() {
        let steps = Steps { show: Show::Nothing, state: Mutex::default() };
        steps.advance(3);
        steps.step("one", 10);
        steps.advance(10);
        steps.step("two", 0);
        steps.done();
        steps.done();
        let names: Vec<String> = steps.completed().into_iter().map(|step| step.name).collect();
        assert_eq!(names, ["one", "two"]);
    }
}
