//! The page that tells how firms are matched to a startup.

use std::fmt::Write;

use crate::catalog::matching::{METHOD, Reason};

use crate::site::docs::html::marked;

/// `GET /docs/match`.
pub(crate) fn page() -> String {
    let mut page = format!(
        "<h1>Match</h1><p><code>GET /api/v3/match</code> lists the firms that fit a startup: say its <code>stage</code>, \
         <code>sector</code>, <code>country</code> and how much it raises (<code>raise_usd</code>), or some of these.</p>\
         <p>{}</p><h2 id=\"reasons\">Reasons</h2><div class=\"scroll\"><table><thead><tr><th>Reason</th><th>Most \
         points</th><th>How they are given</th></tr></thead><tbody>",
        marked(METHOD)
    );
    for reason in Reason::ALL {
        // Writing to a string does not fail.
        let _ = write!(
            page,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
            reason.name(),
            reason.max_points(),
            marked(reason.explanation())
        );
    }
    page.push_str("</tbody></table></div>");
    page
}
