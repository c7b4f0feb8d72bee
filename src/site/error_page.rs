//! What a page answers where it cannot show what was asked for, and how to go on from there.

use askama::Template;
use http::StatusCode;

use crate::auth::AccountError;
use crate::catalog::{Catalog, ParameterError};
use crate::data::Table;
use crate::quota::RetryAfter;
use crate::site::layout::PageLayout;

use crate::site::format;

/// Why a page is not what was asked for.
#[derive(Debug)]
pub(crate) enum PageError {
    /// No record has this slug.
    NoRecord(Table, String),
    /// No page has this path.
    NoPage,
    /// The page's conditions are not understood.
    Wrong(Vec<ParameterError>),
    /// A form was sent from another site, or from a program that does not say from where.
    ForeignForm,
    /// A form is none that can be read: what is wrong with it.
    BadForm(StatusCode, &'static str),
    /// Too many pages were asked for.
    TooMany(RetryAfter),
    /// The account could not be served.
    Refused(AccountError),
    /// A template failed, or a record is none: nothing that a reader could mend.
    Broken,
}

#[derive(Template)]
#[template(path = "failure.html")]
struct ErrorPage<'a> {
    frame: PageLayout,
    status: u16,
    heading: String,
    detail: String,
    errors: &'a [ParameterError],
    /// Records that may have been meant: name and path.
    near: Vec<(String, String)>,
    retry: String,
}

impl From<askama::Error> for PageError {
    fn from(_: askama::Error) -> Self {
        Self::Broken
    }
}

impl PageError {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoRecord(..) | Self::NoPage => StatusCode::NOT_FOUND,
            Self::Wrong(_) => StatusCode::BAD_REQUEST,
            Self::ForeignForm => StatusCode::FORBIDDEN,
            Self::BadForm(status, _) => *status,
            Self::TooMany(_) | Self::Refused(AccountError::Throttled(_)) => StatusCode::TOO_MANY_REQUESTS,
            Self::Refused(AccountError::Busy(_)) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Refused(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// When to come again, where waiting helps.
    pub(crate) fn retry_after(&self) -> Option<RetryAfter> {
        match self {
            Self::TooMany(wait) => Some(*wait),
            Self::Refused(error) => error.retry_after(),
            _ => None,
        }
    }

    /// The status and the page that tells it, for a request of `path`.
    pub(crate) fn page(&self, catalog: &Catalog, path: &str) -> (StatusCode, String) {
        let status = self.status();
        let mut near = Vec::new();
        let (heading, detail) = match self {
            Self::NoRecord(table, slug) => {
                let snapshot = catalog.snapshot();
                let slugs = catalog.nearest_slugs(*table, slug, 5);
                let rows = slugs.iter().filter_map(|slug| snapshot.find(*table, slug));
                near = rows.map(|row| named(catalog, *table, row)).collect();
                let noun = noun(*table);
                (format!("No {noun} of this name"), format!("This release has no {noun} “{slug}”."))
            }
            Self::NoPage => ("There is no such page".to_owned(), format!("Nothing is at {path}.")),
            Self::Wrong(_) => {
                ("This query is not understood".to_owned(), "Mend what is wrong, or begin again.".to_owned())
            }
            Self::ForeignForm => {
                let detail = "A form counts only where it is sent from a page of this site, by a browser that says so. Open                               the page here and send it again.";
                ("This form was not sent from here".to_owned(), detail.to_owned())
            }
            Self::BadForm(_, detail) => ("This form cannot be read".to_owned(), (*detail).to_owned()),
            Self::TooMany(wait) => {
                ("Too many pages at once".to_owned(), sentence(&format!("this address asked for too many: {wait}")))
            }
            Self::Refused(error) => ("This did not work".to_owned(), sentence(&error.to_string())),
            Self::Broken => {
                let detail =
                    "Something went wrong here, not with your request. Try again; if it stays, tell the operator.";
                ("This page is broken".to_owned(), detail.to_owned())
            }
        };
        let errors = if let Self::Wrong(errors) = self { errors.as_slice() } else { &[] };
        let frame = PageLayout::of(catalog.snapshot(), &heading, &detail, path).unlisted();
        let retry = if matches!(self, Self::Wrong(_)) { path.to_owned() } else { "/".to_owned() };
        let page = ErrorPage { frame, status: status.as_u16(), heading, detail, errors, near, retry };
        (status, page.render().unwrap_or_default())
    }
}

/// A message as a sentence of its own: it begins with a capital and ends with a full stop.
pub(crate) fn sentence(message: &str) -> String {
    let message = format::quoted(message);
    let mut chars = message.chars();
    let first = chars.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    if first.is_empty() { first } else { format!("{first}{}.", chars.as_str()) }
}

/// What a table's records are called on pages.
pub(crate) fn noun(table: Table) -> &'static str {
    match table {
        Table::Firms => "firm",
        Table::Startups => "startup",
        Table::People => "person",
        Table::Sectors => "sector",
        Table::Rounds => "funding round",
        Table::Reviews => "review",
    }
}

/// The path of a record's page; of a sector that of its firms.
pub(crate) fn path_of(table: Table, slug: &str) -> String {
    match table {
        Table::Startups => format!("/startups/{slug}"),
        Table::People => format!("/people/{slug}"),
        Table::Sectors => format!("/vcs?sector={slug}"),
        Table::Firms | Table::Rounds | Table::Reviews => format!("/vcs/{slug}"),
    }
}

/// A record's name with its path.
pub(crate) fn named(catalog: &Catalog, table: Table, row: u32) -> (String, String) {
    let snapshot = catalog.snapshot();
    (snapshot.name(table, row).to_owned(), path_of(table, snapshot.slug(table, row)))
}
