//! The releases and their changes, and feeds of releases and of new rounds: Atom (RFC 4287), JSON Feed 1.1.

use std::sync::Arc;

use askama::Template;
use serde_json::json;

use crate::error_page::{PageError, path_of};
use crate::layout::PageLayout;
use crate::records::records;
use crate::release_page::{LISTED, added_href};
use crate::{PageRequest, PageResult, PathValues, respond_unless_known};
use catalog::{Catalog, ChangeCounts, ListPosition, ParseOptions, Request, Resource};
use data::model::{FundingRound, Reference};
use data::{Date, PartialDate, SnapshotVersion, Table};
use view::format;

const MAX_ROUNDS: usize = 50;

#[derive(Template)]
#[template(path = "releases.html")]
struct ReleasesPage<'a> {
    layout: PageLayout,
    releases: Vec<(&'a Catalog, Option<ReleaseChanges>)>,
}

#[derive(Template)]
#[template(path = "release_changes.html")]
pub(super) struct ReleaseChanges {
    since: String,
    counts: Vec<(Table, ChangeCounts)>,
    api: String,
    /// The release, if its new records can be listed.
    listed: Option<SnapshotVersion>,
}

impl ReleaseChanges {
    /// The list of the records of a table that the release added.
    fn added_href(&self, table: &Table, counts: &ChangeCounts) -> Option<String> {
        self.listed.filter(|_| counts.added > 0 && LISTED.contains(table)).map(|release| added_href(*table, release))
    }
}

#[derive(Template)]
#[template(path = "feed.xml")]
pub(crate) struct Feed {
    pub(super) title: String,
    pub(super) author: String,
    pub(super) url: String,
    /// The page with the same content.
    pub(super) home: String,
    /// RFC 3339.
    pub(super) updated: String,
    pub(super) entries: Vec<FeedEntry>,
}

pub(super) struct FeedEntry {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) url: String,
    /// RFC 3339: when the service got to know of it.
    pub(super) updated: String,
    /// RFC 3339: when it happened, if the day is known.
    pub(super) published: Option<String>,
    pub(super) text: String,
}

/// All loaded releases, newest first.
pub(super) fn loaded_releases(request: PageRequest<'_>) -> Vec<Arc<Catalog>> {
    let mut releases = request.state.releases.all();
    releases.sort_by_key(|catalog| std::cmp::Reverse(catalog.version()));
    releases
}

fn with_changes(releases: &[Arc<Catalog>]) -> impl Iterator<Item = (&Catalog, Option<ReleaseChanges>)> {
    let before = releases.iter().skip(1).map(Some).chain([None]);
    releases.iter().zip(before).map(|(release, before)| (&**release, changes(release, before)))
}

/// The changes of a release since `before`; `None` if no previous release is loaded.
pub(super) fn changes(catalog: &Catalog, before: Option<&Arc<Catalog>>) -> Option<ReleaseChanges> {
    let before = before?;
    let counts = catalog.change_counts(before).into_iter().filter(|(_, counts)| *counts != ChangeCounts::default());
    Some(ReleaseChanges {
        since: before.version().to_string(),
        counts: counts.collect(),
        api: format!("/api/v3/changes?from={}&to={}", before.version(), catalog.version()),
        listed: Some(catalog.version()).filter(|version| catalog.compared_releases().contains(version)),
    })
}

pub(crate) fn releases(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let releases = loaded_releases(request);
    let description = "The releases of the data and what each of them changed.";
    let layout = PageLayout::new(catalog.snapshot(), "Releases", description, request.path).canonical(request.state);
    Ok(ReleasesPage { layout, releases: with_changes(&releases).collect() }.render()?)
}

pub(crate) fn release_feed(_: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult {
    let base = &request.state.public_url;
    let releases = loaded_releases(request);
    let entry = |(release, changes): (&Catalog, Option<ReleaseChanges>)| {
        let id = format!("{base}/releases#{}", release.version());
        let url = format!("{base}/releases/{}", release.version());
        let text = match changes {
            None => "The release before it is no longer held, so its changes are not known here.".to_owned(),
            Some(changes) if changes.counts.is_empty() => format!("No record differs from {}.", changes.since),
            Some(changes) => {
                let count = |(table, counts): &(Table, ChangeCounts)| {
                    let [new, changed, gone] = [counts.added, counts.changed, counts.removed].map(format::number);
                    format!("{}: {new} new, {changed} changed, {gone} gone or merged.", format::word(table.name()))
                };
                let counts: Vec<String> = changes.counts.iter().map(count).collect();
                format!("Since {}: {} Listed by {base}{}", changes.since, counts.join(" "), changes.api)
            }
        };
        let (title, date) = (format!("Release {}", release.version()), midnight(release.snapshot().released_on()));
        FeedEntry { id, title, url, updated: date.clone(), published: Some(date), text }
    };
    Feed::new(request, "releases", "/releases", with_changes(&releases).map(entry).collect()).respond(request)
}

/// `/rounds.atom`, `/rounds/feed.json`: the newest rounds that match the filters of `/funding-rounds`.
pub(crate) fn round_feed(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult {
    let values: Vec<(String, String)> = form_urlencoded::parse(request.query.as_bytes()).into_owned().collect();
    let options = ParseOptions { strict: true, review_statuses: &[], other_names: &[] };
    let parsed = catalog
        .parse(Resource::Rounds, &values, options)
        .map_err(|issues| PageError::InvalidQuery(issues.report(catalog)))?;
    let Request::List(query) = parsed.request else { unreachable!("rounds are a plain list") };
    let page = catalog.list(&query, ListPosition::default(), MAX_ROUNDS);
    let rounds: Vec<FundingRound> = records(catalog, Table::Rounds, &page.rows)?;
    let base = &request.state.public_url;
    let released_on = catalog.snapshot().released_on();
    let entry = |(round, row): (FundingRound, &u32)| {
        let amount = round.amount_usd.filter(|_| !round.suspect).map(|amount| format::usd(&amount));
        let what = [format::round(round.stage.as_deref()), amount.unwrap_or_default()].join(" ");
        let names = |firms: &[Reference]| firms.iter().map(|firm| firm.name.as_str()).collect::<Vec<_>>().join(", ");
        let leads = round.lead_investors.as_deref().filter(|leads| !leads.is_empty());
        let leads = leads.map(|leads| format!("Led by {}. ", names(leads))).unwrap_or_default();
        let investors = match round.investors.is_empty() {
            true => "No investor is known.".to_owned(),
            false => format!("Investors: {}.", names(&round.investors)),
        };
        let day = round.announced_on.filter(|date| date.is_day()).map(PartialDate::first_day);
        let less = round.announced_on.filter(|date| !date.is_day());
        let less = less.map(|date| format!(" Announced {}.", format::on_date(&date))).unwrap_or_default();
        // A round that is older than the compared releases keeps its date from release to release.
        let changed = catalog.changed_in(Table::Rounds, *row).map(SnapshotVersion::date);
        let older = day.filter(|_| catalog.has_record_history());
        FeedEntry {
            id: format!("{base}/api/v3/funding-rounds/{}", round.id),
            title: format!("{}: {}", round.startup.name, what.trim()),
            url: format!("{base}{}", path_of(Table::Startups, &round.startup.slug)),
            updated: midnight(changed.or(older).unwrap_or(released_on)),
            published: day.map(midnight),
            text: format!("{leads}{investors}{less}"),
        }
    };
    Feed::new(request, "new rounds", "/rounds", rounds.into_iter().zip(page.rows.iter()).map(entry).collect())
        .respond(request)
}

fn midnight(date: Date) -> String {
    format!("{date}T00:00:00Z")
}

impl Feed {
    fn new(request: PageRequest<'_>, what: &str, home: &str, entries: Vec<FeedEntry>) -> Self {
        let base = &request.state.public_url;
        let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
        let served = request.state.releases.current();
        Self {
            title: format!("{}: {what}", request.state.operator.brand.name),
            author: request.state.operator.brand.name.to_string(),
            url: format!("{base}{}{query}", request.path),
            home: format!("{base}{home}{query}"),
            updated: midnight(served.snapshot().released_on()),
            entries,
        }
    }

    /// The feed in the format of the request's path.
    pub(crate) fn respond(&self, request: PageRequest<'_>) -> PageResult {
        let (body, content_type) = match request.path.ends_with(".atom") {
            true => (self.render()?, "application/atom+xml; charset=utf-8"),
            false => (self.json().to_string(), "application/feed+json"),
        };
        Ok(respond_unless_known(request, body.into_bytes(), content_type))
    }

    fn json(&self) -> serde_json::Value {
        let item = |entry: &FeedEntry| {
            let mut item = json!({
                "id": entry.id,
                "url": entry.url,
                "title": entry.title,
                "content_text": entry.text,
                "date_modified": entry.updated,
            });
            if let Some(published) = &entry.published {
                item["date_published"] = published.as_str().into();
            }
            item
        };
        json!({
            "version": "https://jsonfeed.org/version/1.1",
            "title": self.title,
            "home_page_url": self.home,
            "feed_url": self.url,
            "items": self.entries.iter().map(item).collect::<Vec<_>>(),
        })
    }
}
