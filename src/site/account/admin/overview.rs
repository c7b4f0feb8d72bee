//! The start page: usage of all accounts, the releases, and the number of likely duplicates.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;

use crate::account::admin::{duplicates, reviews};
use crate::account::overview::DAYS;
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::layout::PageLayout;
use auth::account::AccountId;
use data::SnapshotVersion;
use service::State;
use view::charts::{Bars, ChartHead, ChartItem, ChartUnit};
use view::format;

/// Listed accounts with the most requests.
const MAX_ACCOUNTS: usize = 10;

#[derive(Template)]
#[template(path = "admin.html")]
struct OverviewPage {
    layout: PageLayout,
    accounts: u32,
    active: usize,
    today: u64,
    total: u64,
    chart: Bars,
    /// Account id, e-mail address and requests.
    most_active: Vec<(i64, String, u64)>,
    releases: Vec<ReleaseRow>,
    served_since: String,
    swaps: u64,
    rejections: u64,
    file_changes: u64,
    /// Time and reason of the last rejection of a release.
    last_rejection: Option<(String, String)>,
    duplicates: usize,
    /// Reviews that wait for an operator; `None` if the service takes none.
    waiting_reviews: Option<u32>,
}

struct ReleaseRow {
    version: SnapshotVersion,
    /// Empty if unknown.
    built: String,
    is_served: bool,
    /// True if the release is in memory.
    is_held: bool,
    is_on_disk: bool,
}

pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    let state = request.page.state;
    let usage = state.auth.service_usage(DAYS, request.now).await?;
    let (accounts, _) = state.auth.find_accounts("", 0, 0).await?;
    let total: u64 = usage.days.iter().map(|(_, requests)| requests).sum();
    let items =
        usage.days.iter().map(|(day, requests)| ChartItem::new(format::short_day(day), Some(*requests))).collect();
    let summary = format!(
        "{} of {} in {DAYS} days, keys of deleted accounts included.",
        format::counted(total, "request", "requests"),
        format::counted(usage.accounts.len(), "account", "accounts"),
    );
    let head = ChartHead::new("usage", "Requests of all keys", summary);
    let releases = &state.releases;
    let (catalog, history) = (releases.current(), releases.history());
    let waiting_reviews = match state.operator.takes_reviews() {
        true => Some(reviews::count_waiting(request).await?),
        false => None,
    };
    AccountReply::shown(&OverviewPage {
        layout: request.layout("Administration", "Accounts, usage and releases."),
        accounts,
        active: usage.accounts.len(),
        today: usage.days.last().map_or(0, |(_, requests)| *requests),
        total,
        chart: Bars::new(head, ["Day (UTC)", "Requests"], ChartUnit::Count("request", "requests"), items),
        most_active: most_active(state, &usage.accounts).await?,
        releases: release_rows(state).await,
        served_since: format::instant(releases.served_since()),
        swaps: history.swaps,
        rejections: history.rejections,
        file_changes: history.file_changes,
        duplicates: duplicates::count(&catalog),
        waiting_reviews,
        last_rejection: history.last_rejection.map(|rejection| (format::instant(rejection.at), rejection.reason)),
    })
}

async fn most_active(state: &State, usage: &[(AccountId, u64)]) -> Result<Vec<(i64, String, u64)>, AccountReply> {
    let mut accounts = Vec::new();
    for (id, requests) in usage.iter().take(MAX_ACCOUNTS) {
        // The account may have been deleted in the meantime.
        if let Some(account) = state.auth.find_account(*id).await? {
            accounts.push((id.0, account.email.to_string(), *requests));
        }
    }
    Ok(accounts)
}

/// `2026-11-23T21:58:56Z` as `2026-11-23 21:58 UTC`.
fn minute(time: &str) -> String {
    time.get(..16).map_or_else(String::new, |minute| format!("{} UTC", minute.replace('T', " ")))
}

/// The releases in memory and on disk, newest first.
async fn release_rows(state: &State) -> Vec<ReleaseRow> {
    let served = state.releases.current().version();
    let loaded: Vec<SnapshotVersion> = state.releases.all().iter().map(|catalog| catalog.version()).collect();
    let mut on_disk: BTreeMap<SnapshotVersion, String> = BTreeMap::new();
    if let Some(index) = state.index.clone() {
        let built = move || {
            let versions = index.versions().unwrap_or_default();
            let built_at =
                |version| index.manifest(version).map_or_else(|_| String::new(), |manifest| minute(&manifest.built_at));
            versions.into_iter().map(|version| (version, built_at(version))).collect()
        };
        on_disk = tokio::task::spawn_blocking(built).await.unwrap_or_default();
    }
    let versions: BTreeSet<SnapshotVersion> = loaded.iter().chain(on_disk.keys()).copied().collect();
    let row = |version: SnapshotVersion| ReleaseRow {
        version,
        built: on_disk.get(&version).cloned().unwrap_or_default(),
        is_served: version == served,
        is_held: loaded.contains(&version),
        is_on_disk: on_disk.contains_key(&version),
    };
    versions.into_iter().rev().map(row).collect()
}
