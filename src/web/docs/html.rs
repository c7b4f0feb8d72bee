//! What stands around every page: the head, the way through the docs, the style.

use std::fmt::Write;

/// The pages in the order of the navigation.
const WAYS: [(&str, &str); 11] = [
    ("/docs", "Begin"),
    ("/docs/reference", "Reference"),
    ("/docs/clients", "Clients"),
    ("/docs/mcp", "Assistants"),
    ("/docs/paging", "Paging"),
    ("/docs/search", "Search"),
    ("/docs/score", "Peer score"),
    ("/docs/match", "Match"),
    ("/docs/limits", "Limits"),
    ("/docs/versions", "Versions"),
    ("/docs/errors", "Errors"),
];

/// A whole page. `body` is HTML.
pub(super) fn framed(title: &str, path: &str, body: &str) -> String {
    let mut page = String::with_capacity(body.len() + 2_048);
    let name = if title == "VentureDex" { title.to_owned() } else { format!("{} · VentureDex", escaped(title)) };
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>{name}</title><link rel=\"stylesheet\" href=\"/docs/style.css\"></head><body>\
         <a class=\"skip\" href=\"#main\">Skip to the text</a><header><a class=\"home\" href=\"/\">VentureDex</a>\
         <nav aria-label=\"Docs\">"
    );
    for (way, name) in WAYS {
        let current = if way == path { " aria-current=\"page\"" } else { "" };
        let _ = write!(page, "<a href=\"{way}\"{current}>{name}</a> ");
    }
    let _ = writeln!(page, "</nav></header><main id=\"main\">{body}</main></body></html>");
    page
}

/// A page whose body is a file; `{base}` in it stands for the address of the service.
pub(super) fn text(title: &str, path: &str, body: &str, base: &str) -> String {
    framed(title, path, &body.replace("{base}", &escaped(base)))
}

/// Text as HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text with `code` in backquotes as HTML.
pub(super) fn marked(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            let _ = write!(html, "<code>{}</code>", escaped(part));
        } else {
            html.push_str(&escaped(part));
        }
    }
    html
}
