//! The rows of the tables of pages. Routing, methods, labels, caching, menu, sitemap and twins follow from them.
//!
//! In a path, `{id}` and `{key}` match the number of something in the store, `{number}` any number, `{version}` that of a release, and other
//! placeholders any text within a segment; in the last segment, text without a dot.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::pin::Pin;

use http::{HeaderMap, Response, StatusCode};

use crate::account::AccountHandler;
use crate::account::form::{MAX_BYTES, MAX_LIST_BYTES, MAX_TEXT_BYTES};
use crate::browse::{MAX_PER_PAGE, PER_PAGE, SIZE};
use crate::embed::ChartEntry;
use crate::twin::{TwinFormat, TwinSubject};
use crate::{PAGES, PageRequest, PageResult, account, embed, reconcile};
use catalog::{Catalog, Issue, Issues, ParameterError, Resource};
use data::SnapshotVersion;
use transport::headers::READS;
use transport::negotiation::has_content_type;
use transport::telemetry::RouteGroup;

/// The texts in place of the placeholders, in their order; empty if there are fewer.
pub(crate) type PathValues<'a> = [&'a str; 2];

pub(crate) type HtmlHandler = fn(&Catalog, PageRequest<'_>, PathValues<'_>) -> PageResult<String>;
pub(crate) type RawHandler = fn(&Catalog, PageRequest<'_>, PathValues<'_>) -> PageResult;
pub(crate) type BatchHandler = for<'a> fn(PageRequest<'a>, &'a [u8], IpAddr) -> PageFuture<'a>;
pub(crate) type PageFuture<'a> = Pin<Box<dyn Future<Output = Response<Vec<u8>>> + Send + 'a>>;

#[derive(Clone, Copy)]
pub(crate) enum PageHandler {
    Html(HtmlHandler),
    /// Responds with something else than HTML, such as a feed or a picture.
    Raw(RawHandler),
    /// Answers many items, each in its turn, for the client's address; the body is that of a form.
    Batch(BatchHandler),
    Account(AccountHandler),
    /// The embeddable page of a chart.
    Chart(&'static ChartEntry),
}

/// What a request costs, in addition to a page of the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCharge {
    /// The page has no records, or those of an account.
    Nothing,
    /// The rows of a list, as many as its page has.
    Listed,
    /// Rows that a page shows.
    Rows(u32),
    /// Names suggested to a person who types.
    Names(u32),
    /// A request of a program; more if the answer has many rows.
    Request,
    /// Requests of a program, by the number of its items.
    Items,
}

#[derive(Clone, Copy)]
pub(crate) struct PageRow {
    pub(crate) path: &'static str,
    /// The path in logs and metrics.
    label: &'static str,
    get: Option<PageHandler>,
    post: Option<PageHandler>,
    /// Maximum size of a form in bytes.
    max_form: usize,
    /// True if the form may contain a file, or the records of a list.
    takes_files: bool,
    is_cached: bool,
    charge: PageCharge,
    /// True if a private service answers it without a session or a key.
    is_open: bool,
    /// True if it is only there where the service takes reviews.
    is_of_reviews: bool,
    pub(crate) menu: Option<&'static str>,
    pub(crate) footer: Option<&'static str>,
    pub(crate) is_in_sitemap: bool,
    twins: Option<TwinSubject>,
    /// The parameters of the page; `None` if it reports unknown ones itself.
    parameters: Option<&'static [&'static str]>,
}

const fn row(path: &'static str, get: Option<PageHandler>) -> PageRow {
    PageRow {
        path,
        label: path,
        get,
        post: None,
        max_form: MAX_BYTES,
        takes_files: false,
        is_cached: false,
        charge: PageCharge::Nothing,
        is_open: false,
        is_of_reviews: false,
        menu: None,
        footer: None,
        is_in_sitemap: false,
        twins: None,
        parameters: None,
    }
}

pub(crate) const fn page(path: &'static str, render: HtmlHandler) -> PageRow {
    row(path, Some(PageHandler::Html(render))).takes(&[]).charged(PageCharge::Rows(PER_PAGE as u32))
}

pub(crate) const fn list(path: &'static str, render: HtmlHandler, resource: Resource) -> PageRow {
    page(path, render).reads_query().in_sitemap().with_twins(TwinSubject::List(resource)).charged(PageCharge::Listed)
}

/// Something for programs, which costs a request unless the row says otherwise.
pub(crate) const fn raw(path: &'static str, respond: RawHandler) -> PageRow {
    row(path, Some(PageHandler::Raw(respond))).charged(PageCharge::Request)
}

pub(crate) const fn batch(path: &'static str, respond: BatchHandler) -> PageRow {
    row(path, Some(PageHandler::Batch(respond))).charged(PageCharge::Items)
}

/// The embeddable page of a chart, with its picture and its data as twins.
pub(crate) fn chart(path: &'static str, entry: &'static ChartEntry) -> PageRow {
    let row = row(path, Some(PageHandler::Chart(entry))).cached().with_twins(TwinSubject::Chart(entry));
    PageRow { parameters: entry.parameters, ..row.labelled("/embed/{chart}") }
}

/// A page of accounts, to complete by [`PageRow::get`], [`PageRow::post`] or both.
pub(crate) const fn account_page(path: &'static str) -> PageRow {
    row(path, None)
}

impl PageRow {
    pub(crate) const fn get(self, respond: AccountHandler) -> Self {
        Self { get: Some(PageHandler::Account(respond)), ..self }
    }

    pub(crate) const fn post(self, respond: AccountHandler) -> Self {
        Self { post: Some(PageHandler::Account(respond)), ..self }
    }

    /// Accepts a body of at most `max_form` bytes in any format.
    pub(crate) const fn with_batch(self, max_form: usize, respond: BatchHandler) -> Self {
        Self { post: Some(PageHandler::Batch(respond)), max_form, ..self }
    }

    pub(crate) const fn charged(self, charge: PageCharge) -> Self {
        Self { charge, ..self }
    }

    pub(crate) const fn takes_files(self) -> Self {
        Self { takes_files: true, max_form: MAX_LIST_BYTES, ..self }
    }

    /// The form may contain a long text.
    pub(crate) const fn takes_texts(self) -> Self {
        Self { max_form: MAX_TEXT_BYTES, ..self }
    }

    pub(crate) const fn of_reviews(self) -> Self {
        Self { is_of_reviews: true, ..self }
    }

    /// Caches the page, which depends only on release, path, query and theme, not on which other releases are loaded.
    pub(crate) const fn cached(self) -> Self {
        Self { is_cached: true, ..self }
    }

    /// Names the parameters of the page, which reports others as unknown.
    pub(crate) const fn takes(self, parameters: &'static [&'static str]) -> Self {
        Self { parameters: Some(parameters), ..self }
    }

    /// The page reads the whole query and reports what it does not know.
    pub(crate) const fn reads_query(self) -> Self {
        Self { parameters: None, ..self }
    }

    /// Lets strangers open the page of a private service, as they must to sign in.
    pub(crate) const fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    pub(crate) const fn in_menu(self, name: &'static str) -> Self {
        Self { menu: Some(name), ..self }
    }

    pub(crate) const fn in_footer(self, name: &'static str) -> Self {
        Self { footer: Some(name), ..self }
    }

    pub(crate) const fn in_sitemap(self) -> Self {
        Self { is_in_sitemap: true, ..self }
    }

    pub(crate) const fn with_twins(self, subject: TwinSubject) -> Self {
        Self { twins: Some(subject), ..self }
    }

    pub(crate) const fn labelled(self, label: &'static str) -> Self {
        Self { label, ..self }
    }
}

#[derive(Clone, Copy)]
pub struct PageRoute<'a> {
    row: &'static PageRow,
    pub values: PathValues<'a>,
    pub(crate) twin: Option<(TwinSubject, TwinFormat)>,
}

impl<'a> PageRoute<'a> {
    /// The page at a path without a trailing slash.
    pub fn parse(path: &'a str) -> Option<Self> {
        if let Some((row, values)) = find(path) {
            return Some(Self { row, values, twin: None });
        }
        let (path, format) =
            TwinFormat::split(path).filter(|(path, _)| !path.contains('.') || embed::is_below(path))?;
        let (row, values) = find(path)?;
        let subject = row.twins.filter(|subject| subject.has(format))?;
        Some(Self { row, values, twin: Some((subject, format)) })
    }

    /// The path without its values.
    pub fn label(self) -> &'static str {
        self.twin.map_or(self.row.label, |(_, format)| format.label())
    }

    pub fn group(self) -> RouteGroup {
        match self.row.get.or(self.row.post) {
            Some(PageHandler::Account(_)) => RouteGroup::Account,
            _ => RouteGroup::Page,
        }
    }

    pub fn is_read(self) -> bool {
        self.row.get.is_some()
    }

    /// True if a private service answers it without a session or a key.
    pub fn is_open(self) -> bool {
        self.twin.is_none() && self.row.is_open
    }

    /// True if it is only there where the service takes reviews.
    pub fn is_of_reviews(self) -> bool {
        self.row.is_of_reviews
    }

    /// What a request costs: GET with this query, or a form.
    pub fn charge(self, query: &str, is_form: bool) -> PageCharge {
        match (self.twin, self.row.charge) {
            (Some(_), _) => PageCharge::Request,
            _ if is_form && matches!(self.row.post, Some(PageHandler::Batch(_))) => PageCharge::Items,
            (None, PageCharge::Listed) => {
                let size = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == SIZE);
                let size = size.and_then(|(_, size)| size.trim().parse::<u64>().ok()).unwrap_or(PER_PAGE);
                PageCharge::Rows(size.clamp(PER_PAGE, MAX_PER_PAGE) as u32)
            }
            (None, charge) => charge,
        }
    }

    /// The parameters of a request that the page does not have.
    pub(crate) fn unknown_parameters(self, catalog: &Catalog, query: &str) -> Vec<ParameterError> {
        let Some(accepted) = self.row.parameters else { return Vec::new() };
        let mut issues: Vec<Issue> = Vec::new();
        let mut seen = BTreeSet::new();
        for (name, _) in form_urlencoded::parse(query.as_bytes()) {
            if !name.is_empty() && !accepted.contains(&&*name) && seen.insert(name.clone()) {
                issues.push(Issue::UnknownParameter { name: name.into_owned(), accepted: accepted.to_vec() });
            }
        }
        issues.into_iter().collect::<Issues>().report(catalog)
    }

    /// True if it is a page for people, not a twin, a feed, a file or a service for programs.
    pub(crate) fn is_html(self) -> bool {
        let is_page =
            |handler| matches!(handler, PageHandler::Html(_) | PageHandler::Account(_) | PageHandler::Chart(_));
        self.twin.is_none() && self.row.get.or(self.row.post).is_some_and(is_page)
    }

    pub fn takes_forms(self) -> bool {
        self.twin.is_none() && self.row.post.is_some()
    }

    /// The value of `Allow`.
    pub fn methods(self) -> &'static str {
        match (self.is_read(), self.takes_forms(), self.group()) {
            (true, false, _) => READS,
            (true, true, RouteGroup::Account) => "GET, HEAD, OPTIONS, POST",
            (true, true, _) => "GET, HEAD, POST, OPTIONS",
            (false, ..) => "OPTIONS, POST",
        }
    }

    /// The maximum size of a form in bytes; a status with an explanation if the page does not accept its format.
    pub fn form_limit(self, headers: &HeaderMap) -> Result<usize, (StatusCode, &'static str)> {
        let is_accepted = self.group() != RouteGroup::Account
            || self.row.takes_files && has_content_type(headers, "multipart/form-data")
            || has_content_type(headers, "application/x-www-form-urlencoded");
        let detail = "Forms are sent as application/x-www-form-urlencoded.";
        if is_accepted { Ok(self.row.max_form) } else { Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)) }
    }

    /// True of the files of charts, too.
    pub(crate) fn is_cached(self) -> bool {
        let is_of_chart = matches!(self.twin, Some((TwinSubject::Chart(_), _)));
        self.row.is_cached && (self.twin.is_none() || is_of_chart)
    }

    pub(crate) fn handler(self, is_form: bool) -> Option<PageHandler> {
        if is_form { self.row.post } else { self.row.get }
    }
}

/// The paths of all pages with their placeholders, each with the extensions of its twins.
pub fn all_paths() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    rows().map(|row| (row.path, row.twins.map_or_else(Vec::new, |subject| subject.extensions().collect())))
}

/// The paths of the pages that anybody reads by GET, with their placeholders.
pub fn public_paths() -> impl Iterator<Item = &'static str> {
    let is_public = |row: &&PageRow| row.get.is_some_and(|handler| !matches!(handler, PageHandler::Account(_)));
    rows().filter(is_public).map(|row| row.path)
}

/// Names that people try in place of those of the pages.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("/firms", "/vcs"),
    ("/funds", "/vcs"),
    ("/investors", "/vcs"),
    ("/companies", "/startups"),
    ("/funding-rounds", "/rounds"),
    ("/deals", "/rounds"),
    ("/founders", "/people"),
];

/// The path of the page, or of the twin of one, that is meant by another name: `/firms/acme.json` is `/vcs/acme.json`.
pub(crate) fn path_by_other_name(path: &str) -> Option<String> {
    let meant = |(name, own): &(&str, &str)| {
        let rest = path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with(['/', '.']))?;
        Some(format!("{own}{rest}"))
    };
    OTHER_NAMES.iter().find_map(meant).filter(|path| PageRoute::parse(path).is_some_and(PageRoute::is_read))
}

/// The page above an address that only takes forms, to which a browser may return: `/account/keys` is below `/account`.
pub fn page_above(path: &str) -> &str {
    let mut above = path;
    while let Some((parent, _)) = above.rsplit_once('/').filter(|(parent, _)| !parent.is_empty()) {
        above = parent;
        if PageRoute::parse(above).is_some_and(|route| route.is_read() && route.is_html()) {
            return above;
        }
    }
    "/"
}

fn rows() -> impl Iterator<Item = &'static PageRow> {
    PAGES.iter().chain(reconcile::PAGES).chain(account::pages()).chain(embed::pages())
}

fn find(path: &str) -> Option<(&'static PageRow, PathValues<'_>)> {
    rows().find_map(|row| Some((row, values(row.path, path)?)))
}

/// The values in a path; `None` if it does not match the path of the row.
fn values<'a>(mut pattern: &str, mut path: &'a str) -> Option<PathValues<'a>> {
    let mut values = [""; 2];
    for value in &mut values {
        let Some((before, placeholder)) = pattern.split_once('{') else { break };
        let (name, after) = placeholder.split_once('}')?;
        let rest = path.strip_prefix(before)?;
        // What follows a point is the form of the page, but for versions, which have points themselves.
        let has_form = name != "version" && !after.contains('/');
        let end = rest.find(|char: char| char == '/' || has_form && char == '.').unwrap_or(rest.len());
        let (text, rest) = rest.split_at(end);
        if !accepts(name, text) {
            return None;
        }
        *value = text;
        (pattern, path) = (after, rest);
    }
    (pattern == path).then_some(values)
}

fn accepts(placeholder: &str, value: &str) -> bool {
    match placeholder {
        "id" | "key" => value.parse().is_ok_and(|id: i64| id.to_string() == value),
        "number" => value.parse::<usize>().is_ok(),
        "version" => value.parse::<SnapshotVersion>().is_ok_and(|version| version.to_string() == value),
        _ => true,
    }
}
