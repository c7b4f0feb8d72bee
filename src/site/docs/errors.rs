//! The page that explains every error code. Each code is an anchor that the `type` of an error links to.

use askama::Template;

use crate::docs::html;
use transport::problem::Code;

#[derive(Template)]
#[template(path = "docs/errors.html")]
struct ErrorsPage {
    /// Codes and their statuses; true for the first code of a status, which the reference links to.
    errors: Vec<(Code, u16, bool)>,
}

pub(crate) fn page() -> askama::Result<String> {
    let mut last = 0;
    let errors = Code::ALL.into_iter().map(|code| {
        let status = code.status().as_u16();
        (code, status, std::mem::replace(&mut last, status) != status)
    });
    ErrorsPage { errors: errors.collect() }.render()
}
