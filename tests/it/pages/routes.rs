//! Which page is at a path, and what logs and metrics call it.

use site::{PageRoute, all_paths};

fn label(path: &str) -> Option<&'static str> {
    PageRoute::parse(path).map(PageRoute::label)
}

#[test]
fn each_row_is_found_by_its_path() {
    for (known, _) in all_paths() {
        let path = known
            .replace("{id}", "7")
            .replace("{key}", "3")
            .replace("{number}", "1")
            .replace("{version}", "2026-11-20.1");
        let path = ["{slug}", "{code}", "{name}", "{stage}", "{token}"]
            .iter()
            .fold(path, |path, placeholder| path.replace(placeholder, "x"));
        let route = PageRoute::parse(&path).unwrap_or_else(|| panic!("no page is at {path}"));
        assert!(route.is_read() || route.takes_forms(), "{path}");
    }
}

#[test]
fn values_are_those_in_the_path() {
    for (path, values) in [
        ("/vcs", ["", ""]),
        ("/vcs/alder-capital", ["alder-capital", ""]),
        ("/vcs/a.b/reviews", ["a.b", ""]),
        ("/vcs/alder-capital.png", ["alder-capital", ""]),
        ("/cities/St.%20Gallen/seed", ["St.%20Gallen", "seed"]),
        ("/sitemap-2.xml", ["2", ""]),
        ("/releases/2026-11-20.1", ["2026-11-20.1", ""]),
        ("/admin/accounts/7/keys/3/revoke", ["7", "3"]),
    ] {
        assert_eq!(PageRoute::parse(path).map(|route| route.values), Some(values), "{path}");
    }
}

#[test]
fn only_pages_with_content_have_twins() {
    for (path, known) in [
        ("/vcs.json", Some("/{page}.json")),
        ("/vcs/alder-capital.md", Some("/{page}.md")),
        ("/vcs/alder-capital/reviews.csv", Some("/{page}.csv")),
        ("/rounds.json", Some("/{page}.json")),
        ("/rounds/feed.json", Some("/rounds/feed.json")),
        ("/rounds.md", Some("/{page}.md")),
        ("/vcs/a.b/reviews.json", None),
        ("/vcs/a.b", None),
        ("/vcs.png", None),
        ("/people/ada-one.png", None),
        ("/markets.md", None),
        ("/sectors/fintech.md", None),
        ("/reconcile.json", None),
        ("/account.md", None),
        ("/embed/vcs/alder-capital/years", Some("/embed/{chart}")),
        ("/embed/vcs/alder-capital/years.png", Some("/{page}.png")),
        ("/embed/cities/St.%20Gallen/rounds.svg", Some("/{page}.svg")),
        ("/embed/vcs/alder-capital/years.md", None),
        ("/embed/vcs/alder-capital/other.svg", None),
        ("/vcs.svg", None),
    ] {
        assert_eq!(label(path), known, "{path}");
    }
}

#[test]
fn numbers_are_plain_and_paths_complete() {
    for path in [
        "/vcs/alder-capital/news",
        "/sectors/fintech/seed/x",
        "/sitemap-x.xml",
        "/account/keys/07",
        "/account/saved/7/",
        "/account/saved/7/name/x",
        "/account/webhooks/7",
        "/administer",
        "/admin/",
        "/admin/account",
        "/admin/duplicates/7",
        "/admin/accounts/07",
        "/admin/accounts/x",
        "/admin/accounts/7/",
        "/admin/accounts/7/tier/x",
        "/admin/accounts/7/keys/3",
        "/admin/accounts/7/keys/3/revoke/x",
    ] {
        assert_eq!(label(path), None, "{path}");
    }
}

#[test]
fn methods_follow_from_the_handlers() {
    for (path, methods) in [
        ("/vcs", "GET, HEAD, OPTIONS"),
        ("/vcs.md", "GET, HEAD, OPTIONS"),
        ("/resolve", "GET, HEAD, POST, OPTIONS"),
        ("/reconcile", "GET, HEAD, POST, OPTIONS"),
        ("/reconcile/view", "GET, HEAD, OPTIONS"),
        ("/account", "GET, HEAD, OPTIONS"),
        ("/signin", "GET, HEAD, OPTIONS, POST"),
        ("/account/keys", "OPTIONS, POST"),
    ] {
        assert_eq!(PageRoute::parse(path).map(PageRoute::methods), Some(methods), "{path}");
    }
}

#[test]
fn logs_and_metrics_do_not_show_the_address_of_a_feed() {
    for (path, label) in [
        ("/alerts/1-c2VjcmV0LXNlY3JldA.atom", "/alerts/{token}.atom"),
        ("/alerts/1-c2VjcmV0LXNlY3JldA.json", "/alerts/{token}.json"),
    ] {
        assert_eq!(PageRoute::parse(path).map(PageRoute::label), Some(label));
    }
    for path in ["/alerts", "/alerts/1-c2VjcmV0", "/alerts/x.md", "/alerts/x.json/y", "/alerts/a/b.json"] {
        assert_eq!(PageRoute::parse(path).map(PageRoute::label), None, "{path}");
    }
}
