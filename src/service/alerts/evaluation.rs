//! Evaluates searches and lists after a release swap.

use std::collections::HashMap;
use std::sync::Arc;

use crate::alerts::entry::AlertEntry;
use auth::account::AccountId;
use auth::watch::{Evaluation, Watch};
use auth::{Store, StoreError};
use catalog::changes::RowChange;
use catalog::{Catalog, ReleaseComparison, Resource};
use data::{SnapshotVersion, Table};
use release::ActiveRelease;

/// Maximum number of stored entries per alert; the total counts all of them.
const MAX_ENTRIES: usize = 10_000;
/// Number of searches and lists read at a time; the rest of the last one's account is added.
const BATCH: usize = 1_000;
/// Maximum size of the alerts written in one transaction, in bytes; exceeded only by the alerts of a single account.
const MAX_BYTES: usize = 64 << 20;
/// Number of search results kept for equal searches of other accounts, and the maximum size of each in bytes.
const MAX_KNOWN: usize = 10_000;
const MAX_KNOWN_BYTES: usize = 4 << 10;

/// Evaluates every search and list not yet evaluated up to the served release, and returns the number of alerts. Stops
/// early if `is_stopping`; the next call continues. The bundled snapshot, which is invented, creates no alerts, nor does
/// a release older than the one evaluated last. In place of an earlier release that is no longer loaded, the oldest
/// loaded one after it is compared.
pub fn evaluate(
    store: &dyn Store,
    releases: &ActiveRelease,
    now: i64,
    is_stopping: &dyn Fn() -> bool,
) -> Result<usize, StoreError> {
    let served = releases.current();
    if served.is_bundled() {
        return Ok(0);
    }
    let version = served.version();
    let mut evaluator = Evaluator { served, releases, comparisons: HashMap::new(), known: HashMap::new() };
    let mut account = AccountId(i64::MIN);
    let mut alerts = 0;
    loop {
        let watches = store.unevaluated(account, version, BATCH)?;
        let Some(last) = watches.last() else { return Ok(alerts) };
        account = last.account;
        let mut evaluations = Vec::with_capacity(watches.len());
        let mut bytes = 0;
        for watch in watches.iter().filter(|watch| watch.evaluated < version) {
            if is_stopping() {
                return Ok(alerts);
            }
            let evaluation = evaluator.evaluate(store, watch)?;
            bytes += evaluation.news.as_ref().map_or(0, |(_, entries)| entries.len());
            evaluations.push(evaluation);
            if bytes > MAX_BYTES {
                alerts += store.add_evaluations(version, &std::mem::take(&mut evaluations), now)?;
                bytes = 0;
            }
        }
        alerts += store.add_evaluations(version, &evaluations, now)?;
    }
}

/// New matches of a search, or the reason why it could not be evaluated.
type NewMatches = Result<Option<(u32, String)>, String>;

struct Evaluator<'a> {
    served: Arc<Catalog>,
    releases: &'a ActiveRelease,
    /// By the release evaluated last; `None` if no release before the served one is loaded.
    comparisons: HashMap<SnapshotVersion, Option<Arc<ReleaseComparison>>>,
    /// Results of searches by table, query and earlier release.
    known: HashMap<(Table, String, SnapshotVersion), NewMatches>,
}

impl Evaluator<'_> {
    fn evaluate(&mut self, store: &dyn Store, watch: &Watch) -> Result<Evaluation, StoreError> {
        let comparison = self.comparison(watch.evaluated);
        let since = comparison.as_ref().map_or(watch.evaluated, |comparison| comparison.before.version());
        let mut evaluation = Evaluation {
            watch: watch.id,
            evaluated: watch.evaluated,
            since,
            problem: None,
            news: None,
            moved: Vec::new(),
        };
        let Some(comparison) = comparison else { return Ok(evaluation) };
        match &watch.query {
            Some(query) => match self.search(&comparison, watch.table, query) {
                Ok(news) => evaluation.news = news,
                Err(problem) => evaluation.problem = Some(problem),
            },
            None => evaluate_list(&comparison, watch.table, &store.listed(watch.id)?, &mut evaluation),
        }
        Ok(evaluation)
    }

    fn comparison(&mut self, evaluated: SnapshotVersion) -> Option<Arc<ReleaseComparison>> {
        let (served, releases) = (&self.served, self.releases);
        let compare = || {
            let held = releases.all().into_iter().filter(|held| !held.is_bundled());
            let earlier = held.filter(|held| held.version() >= evaluated && held.version() < served.version());
            let before = earlier.min_by_key(|held| held.version())?;
            Some(Arc::new(ReleaseComparison::new(before, Arc::clone(served))))
        };
        self.comparisons.entry(evaluated).or_insert_with(compare).clone()
    }

    fn search(&mut self, comparison: &ReleaseComparison, table: Table, query: &str) -> NewMatches {
        let key = (table, query.to_owned(), comparison.before.version());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let news = find_new_matches(comparison, table, query);
        let bytes = news.as_ref().map_or_else(String::len, |news| news.as_ref().map_or(0, |(_, json)| json.len()));
        if bytes <= MAX_KNOWN_BYTES {
            if self.known.len() >= MAX_KNOWN {
                self.known.clear();
            }
            self.known.insert(key, news.clone());
        }
        news
    }
}

fn find_new_matches(comparison: &ReleaseComparison, table: Table, query: &str) -> NewMatches {
    let values: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let after = &comparison.after;
    let rows = comparison.new_matches(Resource::of_table(table), &values).map_err(|issues| {
        let errors = issues.report(after);
        errors.iter().map(|error| error.detail.as_str()).collect::<Vec<_>>().join("; ")
    })?;
    Ok(encode_entries(rows.len(), rows.iter().map(|row| AlertEntry::matched(after.snapshot(), table, *row))))
}

/// Adds the changes of a list's records, and the records that were merged into others.
fn evaluate_list(comparison: &ReleaseComparison, table: Table, keys: &[String], evaluation: &mut Evaluation) {
    let (before, after) = (comparison.before.snapshot(), comparison.after.snapshot());
    let mut entries = Vec::new();
    for (key, change) in keys.iter().filter_map(|key| Some((key, comparison.change_of(table, key)?))) {
        if let RowChange::Merged { into, .. } = change.change {
            evaluation.moved.push((key.clone(), after.slug(table, into).to_owned()));
        }
        entries.push(AlertEntry::changed(before, after, table, change));
    }
    evaluation.news = encode_entries(entries.len(), entries.into_iter());
}

fn encode_entries(total: usize, entries: impl Iterator<Item = AlertEntry>) -> Option<(u32, String)> {
    let entries: Vec<AlertEntry> = entries.take(MAX_ENTRIES).collect();
    let json = serde_json::to_string(&entries).expect("entries are texts");
    (total > 0).then(|| (u32::try_from(total).unwrap_or(u32::MAX), json))
}
