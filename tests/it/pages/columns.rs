//! The columns of lists: those without room are named by the page itself, and an address chooses others. What a browser shows of them
//! is measured in `tests/browser/tables.mjs`.

use std::collections::BTreeSet;

use scraper::Html;

use crate::pages::{check, list_of};
use crate::support::harness::Server;
use crate::support::html::{Markup, parse, text_of};

const LISTS: [&str; 4] = ["/vcs", "/startups", "/rounds", "/people"];

/// The names and labels of all columns of a list.
fn columns(page: &Html) -> Vec<(String, String)> {
    let options = page.all("div.fits fieldset label").into_iter();
    options.map(|option| (option.first("input").attr("value").unwrap().to_owned(), text_of(option))).collect()
}

/// The labels of the shown columns, with the classes of their heads.
fn shown(page: &Html) -> Vec<(String, String)> {
    let heads = list_of(page).all("thead th").into_iter().skip(1);
    let label = |label: String| label.trim_end_matches([' ', '↑', '↓']).to_owned();
    let of_head = |head: scraper::ElementRef<'_>| {
        let text = head.find("a").map_or_else(|| head.text().next().unwrap_or_default().to_owned(), text_of);
        (label(text), head.attr("class").unwrap_or_default().to_owned())
    };
    heads.map(of_head).collect()
}

fn labels(page: &Html) -> BTreeSet<String> {
    shown(page).into_iter().map(|(label, _)| label).collect()
}

fn query_of(href: &str) -> &str {
    href.split_once('?').map_or("", |(_, query)| query)
}

#[test]
fn each_column_is_shown_from_a_width_on_and_named_below_it_or_unknown_in_all_rows() {
    let server = Server::bundled();
    for list in LISTS {
        let page = check(list, &server.anonymous().get(list).text);
        let unknown = page.texts("div.fits > p").join(" ");
        let shown = shown(&page);
        let named: Vec<(String, &str)> = page
            .all("div.fits .room li")
            .into_iter()
            .map(|item| (text_of(item), item.attr("class").unwrap()))
            .collect();
        assert_eq!(named.len(), shown.len(), "{list}");
        for (label, class) in &shown {
            let from = class
                .split(' ')
                .find_map(|class| class.strip_prefix("at"))
                .unwrap_or_else(|| panic!("{list}: {class}"));
            assert!(
                named.contains(&(label.clone(), format!("no{from}").as_str())),
                "{list}: {label} from {from}: {named:?}"
            );
        }
        for (_, label) in columns(&page) {
            let is_shown = shown.iter().any(|(known, _)| *known == label);
            assert!(is_shown != unknown.contains(&label), "{list}: {label}");
        }
    }
}

#[test]
fn an_address_chooses_columns_and_every_link_of_the_list_keeps_them() {
    let server = Server::bundled();
    let visitor = server.anonymous();
    for list in LISTS {
        let all = columns(&parse(&visitor.get(list).text));
        // Each name without room leads to the list with its column before the others.
        let page = parse(&visitor.get(list).text);
        for item in page.all("div.fits .room li") {
            let first = parse(&visitor.get(item.links()[0]).text);
            let narrow: Vec<u32> = shown(&first)
                .iter()
                .map(|(_, class)| class.split(' ').find_map(|class| class.strip_prefix("at")).unwrap().parse().unwrap())
                .collect();
            let own = shown(&first).iter().position(|(label, _)| *label == text_of(item)).unwrap();
            assert_eq!(Some(narrow[own]), narrow.iter().copied().min(), "{list}: {}", text_of(item));
        }
        let [(first, first_label), (second, second_label)] = &all[..2] else { panic!("{list}: {all:?}") };
        let chosen = format!("{list}?columns={second},{first}&per_page=50");
        let page = check(&chosen, &visitor.get(&chosen).text);
        assert_eq!(labels(&page), BTreeSet::from([first_label.clone(), second_label.clone()]), "{chosen}");
        let left_out: Vec<String> = page.texts("div.fits .names:not(.room) li");
        let unknown = page.texts("div.fits > p").join(" ");
        let others = all[2..].iter().map(|(_, label)| label.clone()).filter(|label| !unknown.contains(label));
        assert_eq!(left_out, others.collect::<Vec<_>>(), "{chosen}");
        let kept = format!("columns={second},{first}");
        for href in list_of(&page).values("thead a", "href").into_iter().chain(page.values("nav.pages a", "href")) {
            assert!(query_of(href).contains(&kept) && href.contains("per_page=50"), "{chosen}: {href}");
        }
        for form in ["form#conditions", "nav.pages form"] {
            assert_eq!(
                page.values(&format!("{form} input[name=columns]"), "value"),
                [format!("{second},{first}")],
                "{chosen}: {form}"
            );
        }
        // Other presentations of the data have no columns to choose.
        for href in
            page.values("link[rel=canonical], link[rel=alternate][type='application/json'], ul.actions a", "href")
        {
            assert!(!href.contains("columns"), "{chosen}: {href}");
        }
        assert!(!text_of(page.first("details.api pre")).contains("columns"), "{chosen}");
        let everything = parse(&visitor.get(&format!("{list}?columns=all")).text);
        assert!(shown(&everything).iter().all(|(_, class)| !class.contains("at")), "{list}: {:?}", shown(&everything));
        assert!(text_of(everything.first("div.fits .room")).starts_with("Further to the right:"), "{list}");
        // Columns of one form that a browser without script sends.
        let sent = parse(&visitor.get(&format!("{list}?columns={first}&columns={second}")).text);
        assert_eq!(labels(&sent), labels(&page), "{list}");
    }
}

#[test]
fn an_unknown_column_is_reported_with_the_nearest_one() {
    let server = Server::bundled();
    let visitor = server.anonymous();
    let page = parse(&visitor.get("/vcs?columns=sector,stages").text);
    assert_eq!(labels(&page), BTreeSet::from(["Stages".to_owned()]));
    let notice = text_of(page.first(".notice"));
    assert!(notice.contains("“sector” is not a column") && notice.contains("did you mean sectors?"), "{notice}");
    // The suggestion takes the place of the wrong name.
    let href = page.first(".notice a").attr("href").unwrap();
    assert_eq!(
        labels(&parse(&visitor.get(href).text)),
        BTreeSet::from(["Sectors".to_owned(), "Stages".to_owned()]),
        "{href}"
    );
    // Pages whose columns cannot be chosen ignore the parameter, and say so.
    let board = text_of(parse(&visitor.get("/leaderboard?columns=rounds").text).first(".notice"));
    assert!(board.contains("unknown parameter “columns”"), "{board}");
}
