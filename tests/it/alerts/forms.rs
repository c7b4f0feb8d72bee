//! Forms of saved searches, lists and webhooks: nothing is lost silently, and every error says how to fix it.

use super::{hidden, link_to_save, number, save};
use crate::pages::check;
use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Server};
use crate::support::html::{Markup, parse, text_of};

/// The records of the list that was saved first.
fn listed(server: &Server) -> Vec<String> {
    let store = server.state.auth.store();
    let account = store.account(&"ada@example.com".parse().unwrap()).unwrap().id;
    let watches = store.watches(account).unwrap();
    watches.last().map_or_else(Vec::new, |watch| store.listed(watch.id).unwrap())
}

#[test]
fn no_line_of_a_list_is_lost_silently() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let csv = "name,country\nAlder Capital,US\nno such firm at all,\n\nAlder,\nvcs/alder-capital,\n";
    let base = [("name", "Mine"), ("table", "vcs")];
    let first = browser.post_parts("/account/saved/list", &[&base[..], &[("text", "ignored"), ("file", csv)]].concat());
    assert_eq!(first.status, 200, "{}", first.text);
    for (line, text) in [(2, "Alder Capital"), (3, "no such firm at all"), (5, "Alder"), (6, "vcs/alder-capital")] {
        assert!(first.text.contains(&format!("Line {line}</th><td class=\"long\">{text}</td>")), "{}", first.text);
    }
    assert!(first.text.contains("value=\"alder-capital\" selected") && !first.text.contains("ignored"));
    assert_eq!(listed(&server), Vec::<String>::new(), "nothing is saved before each line is settled");

    let open = hidden(&first.text, "open");
    assert_eq!(open.len(), 4, "{open:?}");
    let with = |choices: [&'static str; 4], more: &[(&'static str, &'static str)]| {
        let lines = open.iter().zip(choices).flat_map(|(open, choice)| [("open", open.as_str()), ("choice", choice)]);
        base.iter().copied().chain(lines).chain(more.iter().copied()).collect::<Vec<_>>()
    };
    let undecided = browser.post_parts("/account/saved/list", &with(["alder-capital", "", "-", "alder-capital"], &[]));
    assert_eq!(undecided.status, 422);
    assert_eq!(hidden(&undecided.text, "open"), open, "every line is there again");
    assert!(undecided.text.contains("nothing is saved yet"));
    assert_eq!(listed(&server), Vec::<String>::new());
    // A corrected line that is looked up is shown before it is saved.
    let choices = ["alder-capital", "-", "-", "alder-capital"];
    let corrected = browser.post_parts("/account/saved/list", &with(choices, &[("text", "Kestrelfold Captal")]));
    assert_eq!((corrected.status, hidden(&corrected.text, "open").len()), (200, 5), "{}", corrected.text);
    let slug = server.state.releases.current().snapshot().slug(data::Table::Firms, 7).to_owned();
    let saved = browser.post_parts("/account/saved/list", &[with(choices, &[]), vec![("records", &slug)]].concat());
    let id = number(&saved);
    let mut expected = vec!["alder-capital".to_owned(), slug];
    expected.sort_unstable();
    assert_eq!(listed(&server), expected);

    // What is named exactly is added at once.
    let add = format!("/account/saved/{id}/add");
    let third = server.state.releases.current().snapshot().slug(data::Table::Firms, 9).to_owned();
    let page = format!("{}/vcs/{third}/reviews", server.state.public_url);
    assert_eq!(browser.post(&add, &[("text", &page)]).status, 303);
    assert!(listed(&server).contains(&third) && listed(&server).len() == 3);
    let many: String = (0..301).map(|number| format!("unheard of {number}\n")).collect();
    let refused = browser.post_parts(&add, &[("text", &many)]);
    assert!(refused.status == 422 && refused.text.contains("unheard of 300"), "{}", refused.status);
    let empty = browser.post_parts(&add, &[("text", " \n")]);
    assert!(empty.status == 422 && empty.text.contains("name one on each line"), "{}", empty.text);
    assert_eq!(listed(&server).len(), 3);
    let unnamed = browser.post_parts("/account/saved/list", &[("table", "vcs"), ("text", "alder-capital")]);
    assert!(unnamed.status == 422 && unnamed.text.contains("\nalder-capital</textarea>"), "{}", unnamed.text);
}

#[test]
fn the_link_of_a_profile_leads_to_the_lists_of_its_kind() {
    let server = Server::bundled();
    let profile = parse(&server.anonymous().get("/vcs/alder-capital").text);
    let link = link_to_save(&profile, "Add to a list");
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let page = browser.get(link).text;
    assert!(page.contains("\nalder-capital</textarea>") && page.contains("value=\"vcs\" selected"), "{page}");
    let form = [("name", "Firms"), ("table", "vcs"), ("text", "alder-capital")];
    let id = number(&browser.post_parts("/account/saved/list", &form));
    browser.post_parts("/account/saved/list", &[("name", "Empty"), ("table", "people"), ("text", "")]);
    let page = parse(&browser.get(link).text);
    assert_eq!(page.values("form[action$='/add']", "action"), [format!("/account/saved/{id}/add")]);
}

#[test]
fn a_search_that_is_wrong_names_the_nearest_values() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    for (query, hint) in [
        ("table=vcs&stage=sede", "did you mean seed?"),
        ("table=startups&contry=DE", "did you mean country?"),
        ("table=firms", "there are vcs, startups, funding-rounds and people"),
        ("address=https%3A%2F%2Fexample.com%2Fvcs%2Falder", "this is not the address of a list"),
        ("address=%2Fvcs%3Fmin_health_score%3Dmany", "min_health_score"),
    ] {
        let page = browser.get(&format!("/account/saved/new?{query}"));
        assert_eq!(page.status, 422, "{query}");
        assert!(page.text.to_lowercase().contains(hint), "{query}: {}", page.text);
        assert!(!page.text.contains("action=\"/account/saved\""), "{query} cannot be saved");
    }
    let form = browser.get("/account/saved/new?table=vcs&stage=seed&country=DE&sort=name&page=2");
    assert!(form.text.contains("Seed · Germany"), "{}", form.text);
    assert_eq!(hidden(&form.text, "query"), ["stage=seed&country=DE"]);
    let unnamed = browser.post("/account/saved", &[("table", "vcs"), ("query", "stage=seed"), ("name", " ")]);
    assert!(unnamed.status == 422 && unnamed.text.contains("Invalid name"), "{}", unnamed.text);
    let wrong = browser.post("/account/saved", &[("table", "vcs"), ("query", "stage=sede"), ("name", "x")]);
    assert_eq!(wrong.status, 422, "a forged query is parsed again");
    for _ in 0..20 {
        save(&mut browser, &form, "Seed");
    }
    let more = browser.post("/account/saved", &[("table", "vcs"), ("query", ""), ("name", "x")]);
    assert!(more.status == 422 && more.text.contains("20 saved searches and lists"), "{}", more.text);
}

#[test]
fn every_page_is_valid() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let form = browser.get("/account/saved/new?table=vcs&stage=seed");
    let search = save(&mut browser, &form, "<b>Seed</b> & more");
    let list = [("name", "List"), ("table", "vcs"), ("text", "alder-capital")];
    let list = number(&browser.post_parts("/account/saved/list", &list));
    assert_eq!(browser.post("/account/webhooks", &[("url", "https://hooks.example.org/a")]).status, 201);
    for path in [
        "/account/saved".to_owned(),
        "/account/saved/new".to_owned(),
        "/account/saved/new?address=/people".to_owned(),
        "/account/saved/new?table=vcs&stage=sede".to_owned(),
        "/account/saved/list".to_owned(),
        "/account/saved/list?table=vcs&record=alder-capital".to_owned(),
        format!("/account/saved/{search}"),
        format!("/account/saved/{list}"),
        "/account/webhooks".to_owned(),
        "/account".to_owned(),
    ] {
        let page = browser.get(&path).text;
        check(&path, &page);
        assert!(!page.contains("<b>Seed"), "{path}");
    }
    let lines =
        browser.post_parts("/account/saved/list", &[("name", "x"), ("table", "vcs"), ("text", "Alder\nKestrel")]);
    check("the form of lines", &lines.text);
}

#[test]
fn whoever_signs_in_comes_back_to_what_is_to_be_saved() {
    let server = Server::bundled();
    let mut browser = Browser::at(&server);
    let path = "/account/saved/new?table=vcs&stage=seed";
    assert_eq!(browser.get(path).header("location"), "/signin");
    let credentials = [("email", "ada@example.com"), ("password", PASSWORD)];
    assert_eq!(browser.post("/signup", &credentials).header("location"), path);
    assert!(!browser.cookies.contains_key("return"));
    browser.post("/signout", &[]);
    assert_eq!(browser.get("/account/saved").header("location"), "/signin");
    assert_eq!(browser.post("/signin", &credentials).header("location"), "/account");
    // `//example.com/`, `/account/saved/` with a line end, and what is not Base64.
    for forged in ["Ly9leGFtcGxlLmNvbS8", "L2FjY291bnQvc2F2ZWQvDQo", "%"] {
        let mut browser = Browser::at(&server);
        browser.cookies.insert("return".to_owned(), forged.to_owned());
        assert_eq!(browser.post("/signin", &credentials).header("location"), "/account", "{forged}");
    }
}

#[test]
fn webhooks_are_added_rotated_chosen_and_deleted() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    for (url, hint) in [
        ("http://hooks.example.com/", "only https is accepted"),
        ("https://127.0.0.1/", "not a public address"),
        ("https://localhost/", "local network"),
        ("", "not a URL"),
    ] {
        let page = browser.post("/account/webhooks", &[("url", url)]);
        assert_eq!(page.status, 422, "{url}");
        assert!(page.text.to_lowercase().contains(&hint.to_lowercase()), "{url}: {}", page.text);
    }
    let secret = |page: &str| text_of(parse(page).first("pre#secret"));
    let added = browser.post("/account/webhooks", &[("url", "https://hooks.example.com/a")]);
    assert_eq!(added.status, 201, "{}", added.text);
    let first = secret(&added.text);
    assert!(first.starts_with("whsec_"), "{first}");
    let page = browser.get("/account/webhooks").text;
    assert!(page.contains("https://hooks.example.com/a") && !page.contains("whsec_"), "{page}");
    let number_of = |action: &str| action.split('/').nth(3).unwrap().to_owned();
    let id = number_of(parse(&page).values("form[action$='/secret']", "action")[0]);
    let at = |action: &str| format!("/account/webhooks/{id}/{action}");
    assert_eq!(secret(&browser.post(&at("secret"), &[]).text), first);
    let rotated = browser.post(&at("rotate"), &[]);
    let second = secret(&rotated.text);
    assert!(second != first && rotated.text.contains("signed with the former secret, too"), "{}", rotated.text);
    assert_eq!(secret(&browser.post(&at("secret"), &[]).text), second);

    // No name ends in `.invalid`.
    browser.post("/account/webhooks", &[("url", "https://hooks.invalid/a")]);
    let page = parse(&browser.get("/account/webhooks").text);
    let unreachable = number_of(page.values("form[action$='/test']", "action").last().unwrap());
    let tested = browser.post(&format!("/account/webhooks/{unreachable}/test"), &[]);
    assert!(tested.status == 422 && tested.text.contains("The test message was not delivered: "), "{}", tested.text);
    assert_eq!(browser.post(&format!("/account/webhooks/{unreachable}/delete"), &[]).status, 303);

    let form = browser.get("/account/saved/new?table=vcs");
    let search = save(&mut browser, &form, "Firms");
    let notify = format!("/account/saved/{search}/notify");
    assert_eq!(browser.post(&notify, &[("webhook", &id), ("emails", "1")]).status, 303);
    let page = browser.get(&format!("/account/saved/{search}")).text;
    assert!(
        page.contains(&format!("<option value=\"{id}\" selected>")) && page.contains("value=\"1\" checked"),
        "{page}"
    );
    assert_eq!(browser.post(&notify, &[("webhook", "x")]).status, 422);
    let store = server.state.auth.store();
    let account = store.account(&"ada@example.com".parse().unwrap()).unwrap().id;
    let webhook = store.webhooks(account).unwrap()[0].id;
    let stop = auth::watch::WebhookChange::Stop("the receiver responded with 410");
    store.change_webhook(account, webhook, stop).unwrap();
    assert!(browser.get("/account/webhooks").text.contains("stopped: the receiver responded with 410"));
    assert_eq!(browser.post(&at("resume"), &[]).status, 303);
    assert!(!browser.get("/account/webhooks").text.contains("stopped: "));
    assert_eq!(browser.post(&at("delete"), &[]).status, 303);
    assert_eq!(browser.post(&at("delete"), &[]).status, 404);
    assert_eq!(store.watches(account).unwrap()[0].webhook, None);
    assert!(store.claim_due(NOON, NOON + 1, 9, 9).unwrap().is_empty());
}
