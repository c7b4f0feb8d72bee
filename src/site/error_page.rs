//! Error pages, with hints how to continue. Errors that a form can show are not among these.

use askama::Template;
use http::StatusCode;
use thiserror::Error;

use crate::PageRequest;
use crate::layout::{PageLayout, is_stranger};
use auth::quota::BatchRefused;
use auth::{AccountError, RetryAfter};
use catalog::{Catalog, ParameterError};
use data::Table;
use service::{Operator, SignUp};
use transport::problem::{Code, Problem};
use view::format;
use view::picture::PictureError;

#[derive(Debug, Error)]
pub(crate) enum PageError {
    #[error("There is no {} “{}” in this release.", .0.noun(), .1)]
    UnknownRecord(Table, String),
    /// The record is no longer in the data, as the sentence says.
    #[error("{0}")]
    Gone(String),
    /// The record with the first slug was merged into the record with the second.
    #[error("the {} `{}` was merged into `{}`", .0.noun(), .1, .2)]
    Moved(Table, String, String),
    #[error("no page has this path")]
    UnknownPage,
    /// A refusal of the service as a whole, such as a method that the path does not take.
    #[error("{}", .0.detail)]
    Refused(Problem),
    #[error("Fix the values listed below, or reset the filters.")]
    InvalidQuery(Vec<ParameterError>),
    /// A form from another site, or from a client that does not send its origin.
    #[error(
        "A form is accepted only if it is sent from a page of this site, by a browser that sends its origin. Open the page \
         again and send the form from there."
    )]
    ForeignForm,
    #[error("{}", .0.refusal())]
    SignUpClosed(SignUp),
    #[error("{1}")]
    UnreadableForm(StatusCode, &'static str),
    #[error("too many requests from this address: {0}")]
    RateLimited(RetryAfter),
    #[error("Too many pages are waiting. Try again in a second.")]
    Overloaded,
    #[error(transparent)]
    BatchRefused(#[from] BatchRefused),
    #[error(transparent)]
    Account(#[from] AccountError),
    #[error("a template failed: {0}")]
    Template(#[from] askama::Error),
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// The chart at an address that a page may have, for another record or market.
    #[error("There is no chart at this address: the data has too little for it.")]
    NoChart,
    /// Cannot happen with a verified snapshot.
    #[error("row {1} of {0:?} is not a record")]
    Undecodable(Table, u32),
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    layout: PageLayout,
    status: u16,
    errors: &'a [ParameterError],
    /// The name and path of records with a similar slug.
    suggestions: Vec<(String, String)>,
}

impl PageError {
    pub(crate) fn retry_after(&self) -> Option<RetryAfter> {
        match self {
            Self::RateLimited(wait) => Some(*wait),
            Self::Overloaded | Self::BatchRefused(_) => Some(RetryAfter { seconds: 1 }),
            Self::Account(error) => error.retry_after(),
            _ => None,
        }
    }

    /// The log message for an error of the service; `None` for an error of the request.
    pub(crate) fn cause(&self) -> Option<String> {
        match self {
            Self::Account(AccountError::Store(cause) | AccountError::Unavailable(cause)) => Some(cause.to_string()),
            Self::Template(_) | Self::Picture(_) | Self::Undecodable(..) => Some(self.to_string()),
            _ => None,
        }
    }

    pub(crate) fn page(&self, catalog: &Catalog, request: PageRequest<'_>) -> (StatusCode, String) {
        self.page_for(catalog, request.path, &request.state.operator, is_stranger(request))
    }

    /// The page for a stranger of a private service says nothing of the data.
    pub(crate) fn page_for(
        &self,
        catalog: &Catalog,
        path: &str,
        operator: &Operator,
        is_stranger: bool,
    ) -> (StatusCode, String) {
        let (status, heading) = self.status_and_heading();
        let detail = self.detail(path);
        let mut suggestions = Vec::new();
        if let Self::UnknownRecord(table, slug) = self {
            let slugs = catalog.nearest_slugs(*table, slug, 5);
            let rows = slugs.iter().filter_map(|slug| catalog.snapshot().find(*table, slug));
            suggestions.extend(rows.map(|row| name_and_path(catalog, *table, row)));
        }
        let errors = if let Self::InvalidQuery(errors) = self { errors.as_slice() } else { &[] };
        let mut layout =
            PageLayout::new(catalog.snapshot(), &heading, &detail, path).not_indexed().with_operator(operator);
        if is_stranger {
            (layout.release, layout.is_closed) = (None, true);
        }
        let page = ErrorPage { layout, status: status.as_u16(), errors, suggestions };
        let minimal = |_| format!("<!doctype html>\n<title>{status}</title>\n<h1>{status}</h1>\n");
        (status, page.render().unwrap_or_else(minimal))
    }

    /// The same refusal for programs.
    pub(crate) fn problem(&self, catalog: &Catalog, path: &str) -> Problem {
        let code = match self {
            Self::Refused(problem) => {
                let Problem { code, detail, allow, quota, .. } = problem;
                return Problem { allow: *allow, quota: quota.clone(), ..Problem::new(*code, detail.clone()) };
            }
            Self::InvalidQuery(errors) => return Problem::of_parameters(errors.clone()),
            Self::UnknownRecord(table, slug) => {
                let did_you_mean = catalog.nearest_slugs(*table, slug, 5);
                return Problem { did_you_mean, ..Problem::new(Code::NotFound, self.to_string()) };
            }
            Self::Gone(_) => Code::Gone,
            Self::Moved(..) => Code::Moved,
            Self::UnknownPage => Code::UnknownRoute,
            Self::NoChart => Code::NotFound,
            Self::ForeignForm | Self::SignUpClosed(_) => Code::Forbidden,
            Self::UnreadableForm(StatusCode::PAYLOAD_TOO_LARGE, _) => Code::BodyTooLarge,
            Self::UnreadableForm(StatusCode::UNSUPPORTED_MEDIA_TYPE, _) => Code::UnsupportedMediaType,
            Self::UnreadableForm(..) => Code::InvalidRequest,
            Self::RateLimited(_) | Self::Account(AccountError::Throttled(_)) => Code::TooManyRequests,
            Self::Overloaded | Self::BatchRefused(_) => Code::Overloaded,
            Self::Account(AccountError::InLine(_) | AccountError::Busy(_) | AccountError::Unavailable(_)) => {
                Code::NotReady
            }
            Self::Account(_) | Self::Template(_) | Self::Picture(_) | Self::Undecodable(..) => Code::InternalError,
        };
        Problem::new(code, self.detail(path))
    }

    fn status_and_heading(&self) -> (StatusCode, String) {
        let (status, heading) = match self {
            Self::Refused(problem) => (problem.code.status(), problem.code.title()),
            Self::UnknownRecord(table, _) => {
                return (StatusCode::NOT_FOUND, format!("No {} of this name", table.noun()));
            }
            Self::Gone(_) => (StatusCode::GONE, "No longer in the data"),
            Self::Moved(..) => (StatusCode::MOVED_PERMANENTLY, "Moved"),
            Self::UnknownPage => (StatusCode::NOT_FOUND, "Page not found"),
            Self::NoChart => (StatusCode::NOT_FOUND, "No chart"),
            Self::InvalidQuery(_) => (StatusCode::BAD_REQUEST, "Invalid filters"),
            Self::SignUpClosed(SignUp::Invite) => (StatusCode::FORBIDDEN, "Sign-up by invitation"),
            Self::SignUpClosed(_) => (StatusCode::FORBIDDEN, "No sign-up"),
            Self::ForeignForm => (StatusCode::FORBIDDEN, "Form rejected"),
            Self::UnreadableForm(status, _) => (*status, "Unreadable form"),
            Self::RateLimited(_) => (StatusCode::TOO_MANY_REQUESTS, "Too many requests"),
            Self::Overloaded | Self::BatchRefused(_) => (StatusCode::SERVICE_UNAVAILABLE, "Busy"),
            Self::Account(AccountError::Throttled(_)) => (StatusCode::TOO_MANY_REQUESTS, "Request failed"),
            Self::Account(AccountError::InLine(_) | AccountError::Busy(_) | AccountError::Unavailable(_)) => {
                (StatusCode::SERVICE_UNAVAILABLE, "Request failed")
            }
            Self::Account(_) => (StatusCode::INTERNAL_SERVER_ERROR, "Request failed"),
            Self::Template(_) | Self::Picture(_) | Self::Undecodable(..) => {
                (StatusCode::INTERNAL_SERVER_ERROR, "Internal error")
            }
        };
        (status, heading.to_owned())
    }

    fn detail(&self, path: &str) -> String {
        match self {
            Self::UnknownPage => format!("There is no page at {path}."),
            Self::Template(_) | Self::Picture(_) | Self::Undecodable(..) => {
                "This page could not be shown because of an error of the service. Try again later; if the error persists, \
                 contact the operator."
                    .to_owned()
            }
            Self::Gone(_) | Self::Moved(..) | Self::Refused(_) | Self::RateLimited(_) | Self::BatchRefused(_) | Self::Account(_) => {
                sentence(&self.to_string())
            }
            _ => self.to_string(),
        }
    }
}

/// A message as a sentence: with a capital at the start and a full stop at the end.
pub(crate) fn sentence(message: &str) -> String {
    let message = format::with_quotes(message);
    if message.is_empty() { message } else { format!("{}.", format::capitalized(&message)) }
}

/// The path of a record's page; for a sector, of the list of its firms.
pub(crate) fn path_of(table: Table, slug: &str) -> String {
    match table {
        Table::Startups => format!("/startups/{slug}"),
        Table::People => format!("/people/{slug}"),
        Table::Sectors => format!("/vcs?sector={slug}"),
        Table::Firms | Table::Rounds | Table::Reviews => format!("/vcs/{slug}"),
    }
}

pub(crate) fn name_and_path(catalog: &Catalog, table: Table, row: u32) -> (String, String) {
    let snapshot = catalog.snapshot();
    (snapshot.name(table, row).to_owned(), path_of(table, snapshot.slug(table, row)))
}
