//! The page that explains every error code; each has an anchor of its name, where the `type` of an error leads.

use std::fmt::Write;

use crate::http::problem::Code;

use crate::site::docs::html::marked;

/// `GET /docs/errors`: every error code, its status and its mend; each has an anchor of its name.
pub(crate) fn page() -> String {
    let mut page = String::from(
        "<h1>Errors</h1><p>Errors are <code>application/problem+json</code> (RFC \
         9457): <code>type</code>, <code>title</code>, <code>status</code>, <code>detail</code>, <code>instance</code>, a \
         stable <code>code</code>, the <code>request_id</code>, and <code>errors</code> where parameters are at fault.\
         </p><dl>",
    );
    let mut told = 0;
    for code in Code::ALL {
        let status = code.status().as_u16();
        // The reference links to the first code of a status.
        let anchor = if status == told { String::new() } else { format!("<span id=\"{status}\"></span>") };
        told = status;
        // Writing to a string does not fail.
        let _ = write!(
            page,
            "<dt id=\"{name}\">{anchor}<code>{name}</code> <span class=\"status\">{status}</span></dt><dd>{text}</dd>",
            name = code.name(),
            text = marked(code.explanation()),
        );
    }
    page.push_str("</dl>");
    page
}
