//! Findings of the checks.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Ok,
    /// The service runs, but less safely or well than it should.
    Warning,
    /// The service does not start, or serves wrongly or not at all.
    Problem,
}

impl Status {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "PROBLEM",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub check: &'static str,
    pub status: Status,
    pub detail: String,
    /// The remedy; null if nothing needs to be done.
    pub remedy: Option<String>,
}

#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    pub(super) fn ok(&mut self, check: &'static str, detail: impl Into<String>) {
        self.add(check, Status::Ok, detail.into(), "");
    }

    pub(super) fn warning(&mut self, check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) {
        self.add(check, Status::Warning, detail.into(), remedy);
    }

    pub(super) fn problem(&mut self, check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) {
        self.add(check, Status::Problem, detail.into(), remedy);
    }

    /// Adds a finding; the remedy is for all but [`Status::Ok`].
    pub(super) fn add(&mut self, check: &'static str, status: Status, detail: String, remedy: impl Into<String>) {
        let remedy = (status != Status::Ok).then(|| remedy.into());
        self.0.push(Finding { check, status, detail, remedy });
    }
}

/// The worst status found by a check; `None` if it found nothing.
#[cfg(test)]
pub(super) fn status_of(findings: Findings, check: &str) -> Option<Status> {
    findings.0.into_iter().filter(|finding| finding.check == check).map(|finding| finding.status).max()
}
