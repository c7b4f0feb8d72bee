//! The page that explains every error code. Each code is an anchor that the `type` of an error links to.

use askama::Template;

use crate::docs::html;
use transport::problem::Code;

#[derive(Template)]
#[template(path = "docs/errors.html")]
struct ErrorsPage {
    errors: Vec<ErrorEntry>,
}

struct ErrorEntry {
    code: Code,
    status: u16,
    /// The reference links a status to the first of its codes.
    is_first_of_status: bool,
}

pub(crate) fn page() -> askama::Result<String> {
    let mut last = 0;
    let errors = Code::ALL.into_iter().map(|code| {
        let status = code.status().as_u16();
        ErrorEntry { code, status, is_first_of_status: std::mem::replace(&mut last, status) != status }
    });
    ErrorsPage { errors: errors.collect() }.render()
}
