//! The colors of pages: chosen in the footer without an account, and never mixed by a cache.

use crate::support::browser::Browser;
use crate::support::harness::{Client, Server};
use crate::support::html::{Markup, parse};

const PAGES: [&str; 5] = ["/", "/vcs?stage=seed", "/docs", "/docs/reference/list_vcs?stage=seed", "/nothing"];

fn with_theme<'a>(theme: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [("cookie", theme), ("accept", "text/html")].into_iter().chain(more.iter().copied()).collect()
}

fn page(client: &Client, path: &str, theme: &str) -> String {
    client.send("GET", path, &with_theme(theme, &[])).text
}

#[test]
fn a_visitor_without_an_account_chooses_the_colors_of_all_pages() {
    let server = Server::bundled();
    let mut browser = Browser::at(&server);
    let base = format!("http://{}", server.address);
    let send = |browser: &mut Browser, theme: &str, from: &str| {
        let headers =
            [("content-type", "application/x-www-form-urlencoded"), ("origin", base.as_str()), ("referer", from)];
        browser.send("POST", "/theme", &headers, &[("theme", theme)])
    };
    for (from, to) in [
        (format!("{base}/vcs?stage=seed&q=a%20b"), "/vcs?stage=seed&q=a%20b"),
        // The answer to a form cannot be read again.
        (format!("{base}/account/keys"), "/account"),
        (format!("{base}//elsewhere.example/x"), "/"),
        (format!("{base}/\\elsewhere.example/x"), "/"),
        (base.clone(), "/"),
        (String::new(), "/"),
    ] {
        let reply = send(&mut browser, "dark", &from);
        assert_eq!((reply.status, reply.header("location")), (303, to), "{from}");
        let cookie = reply.header("set-cookie");
        assert_eq!(cookie, "theme=dark; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000", "{from}");
    }
    for path in PAGES {
        let page = browser.send("GET", path, &[("accept", "text/html")], &[]).text;
        assert!(page.starts_with("<!doctype html>\n<html lang=\"en\" data-theme=\"dark\">"), "{path}");
        assert_eq!(parse(&page).values("[aria-pressed=true]", "value"), ["dark"], "{path}");
    }
    assert_eq!(send(&mut browser, "purple", &base).status, 404);
    send(&mut browser, "system", &base);
    assert!(!browser.cookies.contains_key("theme"));
    let page = browser.send("GET", "/", &[], &[]).text;
    assert!(page.contains("<html lang=\"en\">") && page.contains("value=\"system\" aria-pressed=\"true\""));
    // Not from another site.
    let foreign = [("content-type", "application/x-www-form-urlencoded"), ("origin", "https://elsewhere.example")];
    assert_eq!(browser.send("POST", "/theme", &foreign, &[("theme", "dark")]).status, 403);
}

#[test]
fn caches_never_mix_colors() {
    let server = Server::bundled();
    let client = server.anonymous();
    for path in PAGES {
        let first = client.send("GET", path, &with_theme("theme=light", &[]));
        assert!(first.header("vary").contains("Cookie"), "{path}: {}", first.header("vary"));
        assert!(!first.header("cache-control").contains("public"), "{path}: {}", first.header("cache-control"));
        let etag = first.header("etag");
        if !etag.is_empty() {
            let again = |theme| client.send("GET", path, &with_theme(theme, &[("if-none-match", etag)])).status;
            assert_eq!((again("theme=light"), again("theme=dark"), again("a=b")), (304, 200, 200), "{path}");
        }
        assert!(page(&client, path, "theme=dark").contains("data-theme=\"dark\""), "{path}");
        for theme in ["theme=system", "theme=purple", "theme=\"><script>", "x=dark"] {
            assert!(page(&client, path, theme).contains("<html lang=\"en\">"), "{path}: {theme}");
        }
    }
    // Files have no colors.
    let file = client.send("GET", "/openapi/v3.json", &with_theme("theme=dark", &[]));
    assert_eq!((file.header("cache-control"), file.header("vary")), ("public, max-age=300", "Accept-Encoding"));
}
