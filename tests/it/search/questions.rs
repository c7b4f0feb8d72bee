//! Questions in words (`ask`): read as parameters, which the answer lists, on lists, pages and in tools.

use std::sync::{Arc, LazyLock};

use auth::quota::Tier;
use catalog::{Catalog, ParseOptions, Resource};
use data::ReviewStatus;
use mcp::Tool;
use proptest::prelude::*;
use proptest::sample::select;
use scraper::Html;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::pages::charts::all_of;
use crate::pages::{list_of, rendered};
use crate::support::harness::{Client, Server, bundled, cases, catalog_of, code, real_catalog};
use crate::support::html::{Markup, parse, text_of};
use crate::support::two_firms::dataset_with;

/// List, question, parameters, unread words.
static QUESTIONS: LazyLock<Vec<(&str, &str, &str, &str)>> = LazyLock::new(|| {
    let mut list = "";
    let mut questions = Vec::new();
    for line in data::word_file::entries(include_str!("../../../src/catalog/ask/questions.txt")) {
        if let Some(heading) = line.strip_prefix('[') {
            list = if heading == "firms]" { "vcs" } else { heading.trim_end_matches(']') };
            continue;
        }
        let (question, meaning) = line.split_once(" =>").expect("a question and its parameters");
        let (parameters, unread) = meaning.split_once(" | ").unwrap_or((meaning, ""));
        questions.push((list, question, parameters, unread));
    }
    questions
});

fn path(list: &str) -> String {
    format!("/api/v3/{}", if list == "rounds" { "funding-rounds" } else { list })
}

fn ask(client: &Client, list: &str, question: &str) -> Value {
    let reply = client.list(&path(list), &[("ask", question)]);
    assert_eq!(reply.status, 200, "{question}: {}", reply.text);
    reply.json()
}

fn read(meta: &Value) -> Vec<String> {
    let text = |part: &Value, name: &str| part[name].as_str().unwrap().to_owned();
    let parts = meta["interpreted"].as_array().unwrap().iter();
    let mut read: Vec<String> =
        parts.map(|part| format!("{}={}", text(part, "parameter"), text(part, "value"))).collect();
    read.sort();
    read
}

#[test]
fn questions_are_read_as_parameters() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (list, question, parameters, unread) in &*QUESTIONS {
        let meta = ask(&client, list, question)["meta"].clone();
        let mut expected: Vec<String> = parameters.split_whitespace().map(|part| part.replace('+', " ")).collect();
        expected.sort();
        assert_eq!(read(&meta), expected, "{question}: {meta}");
        let unread: Vec<&str> = unread.split("; ").filter(|words| !words.is_empty()).collect();
        assert_eq!(meta["unread"], json!(unread), "{question}");
        for part in meta["interpreted"].as_array().unwrap() {
            let words = part["text"].as_str().unwrap();
            assert!(question.contains(words) && !part["why"].as_str().unwrap().is_empty(), "{question}: {part}");
        }
    }
}

#[test]
fn the_equivalent_url_and_arguments_give_the_same_records() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let tools = TestTools::bundled();
    for (list, question, ..) in &*QUESTIONS {
        let asked = ask(&client, list, question);
        let url = asked["meta"]["url"].as_str().unwrap();
        let at = url.find("/api/v3/").unwrap();
        assert!(!url.contains("ask="), "{url}");
        let plain = client.get(&url[at..]).json();
        assert_eq!(plain["data"], asked["data"], "{question}");
        assert_eq!(plain["pagination"]["total"], asked["pagination"]["total"], "{question}");
        assert!(plain["meta"].get("interpreted").is_none());
        let tool = match *list {
            "startups" => Tool::SearchStartups,
            "vcs" => Tool::SearchVcs,
            "rounds" => Tool::GetFundingRounds,
            _ => Tool::SearchPeople,
        };
        let result = tools.call(tool, &asked["meta"]["arguments"]).unwrap();
        assert_eq!(result["total"], asked["pagination"]["total"], "{question}");
    }
}

/// The counts of a question on a page, in the first line that begins so: names, numbers, and the lists of their rows.
fn counted_values<'p>(page: &'p Html, start: &str) -> Vec<(String, String, &'p str)> {
    let mut lines = page.all("section[aria-labelledby=question] > p").into_iter();
    let line = lines.find(|line| text_of(*line).starts_with(start)).unwrap();
    let links = line.all("a").into_iter().zip(line.texts("span.number"));
    links.map(|(link, count)| (text_of(link), count, link.attr("href").unwrap())).collect()
}

#[test]
fn what_records_are_counted_by_is_read() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let meta = ask(&client, "startups", "how many fintech startups by country")["meta"].clone();
    let url = meta["groups_url"].as_str().unwrap();
    let counts = client.get(&url[url.find("/api/v3/").unwrap()..]).json();
    let groups = counts["data"]["groups"][0]["values"].as_array().unwrap();
    assert!(groups.len() > 3, "{counts}");
    // The tool has them at once.
    let result = TestTools::bundled()
        .call(Tool::SearchStartups, &json!({"query": "how many fintech startups by country"}))
        .unwrap();
    assert_eq!(result["groups"][0]["values"], counts["data"]["groups"][0]["values"]);
    assert_eq!(result["question"]["arguments"], json!({"sector": "fintech", "count_by": "country"}));
    assert_eq!(meta["arguments"], result["question"]["arguments"]);
    // So do pages, each count with the list of its rows.
    let page = parse(&rendered(&server, "/?q=how+many+fintech+startups+by+country"));
    let shown = counted_values(&page, "By country: ");
    for group in groups.iter().take(12) {
        let (name, count) = (group["name"].as_str().unwrap(), group["count"].as_u64().unwrap());
        let (_, number, href) = shown.iter().find(|(known, ..)| known == name).unwrap();
        assert_eq!(*number, count.to_string(), "{name}");
        let list = parse(&rendered(&server, href));
        let noun = if count == 1 { "startup" } else { "startups" };
        assert_eq!(text_of(list.first("strong.number")), format!("{count} {noun}"), "{href}");
    }
    for question in ["fintech startups by year", "fintech startups by sector", "how many startups by stage"] {
        let page = parse(&rendered(&server, &format!("/?q={}", question.replace(' ', "+"))));
        let shown = counted_values(&page, "By ");
        let (_, number, href) = &shown[0];
        let list = parse(&rendered(&server, href));
        let total = text_of(list.first("strong.number"));
        assert!(total.starts_with(&format!("{number} startup")), "{question}: {href} {number} {total}");
    }
    assert_eq!(ask(&client, "startups", "fintech startups")["meta"].get("groups_url"), None);
}

#[test]
fn other_parameters_go_before_the_question() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let with = |parameters: &[(&str, &str)]| client.list("/api/v3/startups", parameters);
    let question = ("ask", "fintech startups in London");
    let reply = with(&[question, ("city", "Berlin"), ("limit", "3")]).json();
    assert_eq!(
        reply["pagination"]["total"],
        with(&[("sector", "fintech"), ("city", "berlin")]).json()["pagination"]["total"]
    );
    assert_eq!(
        (read(&reply["meta"]), &reply["meta"]["unread"]),
        (vec!["sector=fintech".to_owned()], &json!(["London"]))
    );
    // The same filters without or with another question are another response, in caches too.
    for _ in 0..3 {
        let asked = with(&[question]);
        let plain = with(&[("sector", "fintech"), ("city", "london")]);
        assert_eq!(asked.json()["data"], plain.json()["data"]);
        assert_ne!(asked.text, plain.text);
        assert_ne!(asked.header("etag"), plain.header("etag"));
    }
    let long = "seed ".repeat(101);
    assert_eq!(code(&with(&[("ask", &long)])), (400, "invalid_parameter".to_owned()));
    assert_eq!(with(&[("ask", "fintech"), ("ask", "seed")]).status, 400);
    assert_eq!(with(&[("ask", "")]).json()["meta"].get("interpreted"), None);
    assert!(client.get("/api/v1/startups?ask=fintech").text.contains("unknown"));
    assert_eq!(code(&client.get("/api/v3/sectors?ask=fintech")).0, 400);
}

#[test]
fn a_cursor_continues_the_question() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let question = "seed startups in the US";
    let (mut slugs, mut cursor) = (Vec::new(), String::new());
    loop {
        let continued = [("ask", question), ("limit", "7"), ("cursor", cursor.as_str())];
        let page = client.list("/api/v3/startups", &continued[..if cursor.is_empty() { 2 } else { 3 }]);
        assert_eq!(page.status, 200, "{}", page.text);
        slugs.extend(page.slugs());
        match page.json()["pagination"]["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    let all = client.list("/api/v3/startups", &[("stage", "seed"), ("country", "US"), ("limit", "1000")]);
    assert!(slugs.len() > 14);
    assert_eq!(slugs, all.slugs());
    let other = client.list("/api/v3/startups", &[("ask", "fintech"), ("cursor", &cursor)]);
    assert_eq!(other.status, 400, "{}", other.text);
}

#[test]
fn a_search_that_is_no_name_is_read_as_a_question() {
    let server = Server::bundled();
    let page = server.anonymous().get("/?q=seed+fintech+startups+in+the+US+that+glow").text;
    for text in [
        "Read as a question",
        "stage=seed",
        "sector=fintech",
        "country=US",
        "“glow”",
        "<th scope=\"row\"><a href=\"/startups/",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Each chip leads to the list without it.
    let page = parse(&page);
    let chips = page.values("a.chip.on", "href");
    assert_eq!(chips.len(), 3);
    for href in chips {
        let list = server.anonymous().get(href);
        assert_eq!(list.status, 200, "{href}");
        assert_eq!(href.matches('=').count(), 2, "{href}");
    }
    // A list has the rows that the question means, next to its other conditions.
    let list = server.anonymous().get("/vcs?q=seed+accelerators+in+the+US&sort=name").text;
    assert!(list.contains("Read as a question") && list.contains("kind=accelerator"), "{list}");
    assert!(list.contains("No firm is named “seed accelerators in the US”. It was read as a question."), "{list}");
    let as_filters = rendered(&server, "/vcs?stage=seed&kind=accelerator&country=US&sort=name");
    let rows = |page: &str| list_of(&parse(page)).first("tbody").html();
    assert_eq!(rows(&list), rows(&as_filters));
    // What is neither may be in descriptions.
    let page = rendered(&server, "/?q=pilot+customers");
    assert!(page.contains("These have its words") && page.contains("/startups?text=pilot+customers"), "{page}");
    assert!(page.contains("<mark>customers</mark>"), "{page}");
    let list = rendered(&server, "/startups?q=pilot+customers&country=US");
    let of_text = rendered(&server, "/startups?text=pilot+customers&country=US");
    assert!(list.contains("No startup is named “pilot customers”"), "{list}");
    assert_eq!(rows(&list), rows(&of_text));
    assert!(rows(&list).contains("<mark>"), "{list}");
    // The field keeps the words, and a filter that is added to them leaves them there.
    let list = parse(&list);
    let form = list.first("form#conditions");
    assert_eq!(form.values("[name=q]", "value"), ["pilot customers"]);
    assert!(form.find("[name=text]").is_none(), "{}", form.html());
    let next = "/startups?text=pilot+customers&country=US&page=2";
    assert!(list.links().iter().any(|href| href.contains(next)), "{:?}", list.links());
    // What qualifies a noun that is not understood is no condition: descriptions may have all words.
    let page = rendered(&server, "/startups?q=payments+pilot");
    assert!(page.contains("No startup is named “payments pilot”") && page.contains("<mark>"), "{page}");
    for path in ["/?q=payments+pilot+customers", "/startups?q=payments+pilot+customers"] {
        assert!(rendered(&server, path).contains("<mark>pilot</mark>"), "{path}");
    }
    // Fewer than all of the words are no match.
    let none = rendered(&server, "/startups?q=workflow+zzyzx");
    assert!(none.contains("No results.") && !none.contains("No startup is named"), "{none}");
    for name in ["Alder Capital", "Tidewick"] {
        let page = server.anonymous().get(&format!("/?q={}", name.replace(' ', "+"))).text;
        assert!(!page.contains("Read as a question"), "{name}");
    }
}

#[test]
fn words_that_are_not_understood_suggest_sectors_by_the_startups_that_use_them() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let startups = all_of(&client, "startups", "fields=slug,name,description");
    for (word, stem) in [("freelancers", "freelanc"), ("disks", "disk"), ("currencies", "currenc")] {
        let has_word = |startup: &&Value| {
            let texts = ["name", "description"].map(|field| startup[field].as_str().unwrap_or("").to_lowercase());
            let text = texts.join(" ");
            text.split(|char: char| !char.is_alphanumeric()).any(|word| word.starts_with(stem))
        };
        let with_word: Vec<&str> =
            startups.iter().filter(has_word).map(|startup| startup["slug"].as_str().unwrap()).collect();
        assert!(with_word.len() > 5, "{word}");
        let meta = ask(&client, "startups", &format!("US startups for {word}"))["meta"].clone();
        assert_eq!(meta["unread"], json!([word]));
        let suggested = meta["suggested"].as_array().unwrap();
        assert!((1..=2).contains(&suggested.len()), "{meta}");
        for suggestion in suggested {
            let sector = suggestion["sector"].as_str().unwrap();
            let of_sector = all_of(&client, "startups", &format!("sector={sector}"));
            let both =
                of_sector.iter().filter(|startup| with_word.contains(&startup["slug"].as_str().unwrap())).count();
            assert_eq!((&suggestion["count"], &suggestion["of"]), (&json!(both), &json!(with_word.len())), "{word}");
            // As often as among all, and among a sample of those with a description.
            let usual = both as f64 / with_word.len() as f64 * startups.len() as f64 / of_sector.len() as f64;
            let lift = suggestion["lift"].as_f64().unwrap();
            assert!((5.0..usual + 0.051).contains(&lift) && lift > usual / 2.0, "{suggestion}: {usual}");
        }
        // It is only a suggestion; the word ranks by descriptions.
        assert_eq!(read(&meta), ["country=US".to_owned(), format!("text={word}")]);
        let page = parse(&rendered(&server, &format!("/?q=US+startups+for+{word}")));
        let first = &suggested[0];
        let sector = format!("sector={}", first["sector"].as_str().unwrap());
        let counted = format!("({} of {})", first["count"], first["of"]);
        let named = page.texts(&format!("a[href^='/startups?'][href*='{sector}']"));
        assert!(named.iter().any(|name| name.ends_with(&counted)), "{sector}: {named:?}");
    }
    // A word of every kind of startup suggests none, and neither does one that no startup has.
    for word in ["customers", "zzyzx"] {
        let meta = ask(&client, "startups", &format!("US startups for {word}"))["meta"].clone();
        assert_eq!((&meta["unread"], meta.get("suggested")), (&json!([word]), None), "{meta}");
    }
}

#[test]
fn a_tool_reads_a_query_that_is_no_name_as_a_question() {
    let tools = TestTools::bundled();
    let result = tools.call(Tool::SearchStartups, &json!({"query": "seed startups in the US", "limit": 5})).unwrap();
    assert_eq!(read(&result["question"]), ["country=US", "stage=seed"]);
    assert_eq!(result["question"]["arguments"], json!({"country": "US", "stage": "seed"}));
    assert!(result["notes"].to_string().contains("was read as a question"), "{}", result["notes"]);
    let plain = tools.call(Tool::SearchStartups, &json!({"stage": "seed", "country": "US", "limit": 5})).unwrap();
    assert_eq!(result["items"], plain["items"]);
    // The next page with the same arguments.
    let cursor = &result["next_cursor"];
    let next = tools
        .call(Tool::SearchStartups, &json!({"query": "seed startups in the US", "limit": 5, "cursor": cursor}))
        .unwrap();
    let plain_next = tools.call(Tool::SearchStartups, &json!({"limit": 5, "cursor": plain["next_cursor"]})).unwrap();
    assert_eq!(next["items"], plain_next["items"]);
    // A name stays a name, and so does what cannot be read.
    for query in ["Tidewick", "zzyzx qqq"] {
        let result = tools.call(Tool::SearchStartups, &json!({"query": query})).unwrap();
        assert_eq!(result.get("question"), None, "{query}");
    }
    // What is no name and cannot be read is looked for in descriptions, if these have all of its words.
    let query = json!({"query": "pilot customers", "country": "US", "limit": 3});
    let result = tools.call(Tool::SearchStartups, &query).unwrap();
    let plain =
        tools.call(Tool::SearchStartups, &json!({"text": "pilot customers", "country": "US", "limit": 3})).unwrap();
    assert_eq!((&result["items"], &result["total"]), (&plain["items"], &plain["total"]));
    assert!(result["total"].as_u64().is_some_and(|total| total > 3), "{result}");
    let notes = result["notes"].to_string();
    assert!(notes.contains("no startup is named `pilot customers`: `query` was searched as `text`"), "{notes}");
    let mut next = query.clone();
    next["cursor"] = result["next_cursor"].clone();
    let next = tools.call(Tool::SearchStartups, &next).unwrap();
    let plain = tools.call(Tool::SearchStartups, &json!({"limit": 3, "cursor": plain["next_cursor"]})).unwrap();
    assert_eq!(next["items"], plain["items"]);
    let result = tools.call(Tool::SearchStartups, &json!({"query": "seed startups in the US for pilots"})).unwrap();
    assert_eq!(result["question"]["unread"], json!(["pilots"]));
    let result = tools.call(Tool::SearchStartups, &json!({"query": "payments pilot"})).unwrap();
    let plain = tools.call(Tool::SearchStartups, &json!({"text": "payments pilot"})).unwrap();
    assert_eq!(result["items"], plain["items"]);
    let result = tools.call(Tool::SearchStartups, &json!({"query": "workflow zzyzx"})).unwrap();
    assert_eq!(result["total"], 0);
    // Names that have some of the words go first, and it is said where the rest is.
    let result = tools.call(Tool::SearchStartups, &json!({"query": "Tidewick workflow"})).unwrap();
    assert!(result["total"].as_u64().is_some_and(|total| total > 0), "{result}");
    // What is given otherwise goes first.
    let result =
        tools.call(Tool::SearchStartups, &json!({"query": "seed startups in the US", "country": "DE"})).unwrap();
    let question = &result["question"];
    assert_eq!((read(question), &question["unread"]), (vec!["stage=seed".to_owned()], &json!(["US"])));
}

const WORDS: &[&str] = &[
    "by",
    "country",
    "per",
    "each",
    "every",
    "which",
    "cities",
    "have",
    "most",
    "first",
    "half",
    "H1",
    "January",
    "90s",
    "Texas",
    "California",
    "hasn't",
    "don't",
    "nor",
    "limit",
    "sorted",
    "name",
    "alongside",
    "co-invested",
    "with",
    "competitors",
    "tidewick.example",
    "women-led",
    "space",
    "the",
    "5",
    "10",
    "top",
    "largest",
    "newest",
    "most",
    "active",
    "funded",
    "AI",
    "fintech",
    "health",
    "startups",
    "VCs",
    "rounds",
    "in",
    "Berlin",
    "London",
    "not",
    "Germany",
    "or",
    "US",
    "Nordics",
    "seed",
    "series",
    "A",
    "B/C",
    "founded",
    "raised",
    "after",
    "since",
    "before",
    "2019",
    "2020-2022",
    "last",
    "year",
    "past",
    "3",
    "months",
    "over",
    "under",
    "$5m",
    "€1m",
    "between",
    "and",
    "1",
    "million",
    "at",
    "least",
    "20%",
    "backed",
    "by",
    "Alder",
    "Capital",
    "Tidewick",
    "led",
    "of",
    "like",
    "angel",
    "acquired",
    "closed",
    "99999999999999999999",
    "Q1",
    "2024",
    "founders",
    "check",
    "score",
    "0",
    "-",
    "’s",
    "<",
    "½",
    "१",
    "",
];

/// The bundled data and, if it is there, real data.
static CATALOGS: LazyLock<Vec<Arc<Catalog>>> =
    LazyLock::new(|| [Some(bundled()), real_catalog()].into_iter().flatten().collect());

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(1_500, 25), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_is_read_as_valid_parameters(words in prop::collection::vec(select(WORDS), 0..12)) {
        let text = words.join(" ");
        for catalog in CATALOGS.iter() {
            for resource in [Resource::Firms, Resource::Startups, Resource::Rounds, Resource::People] {
                let read = catalog.interpret(resource, &text);
                let again = catalog.interpret(resource, &text);
                prop_assert_eq!(&read, &again);
                let values: Vec<(String, String)> = read.values().filter(|(name, _)| name != "limit").collect();
                let options =
                    ParseOptions { strict: true, review_statuses: &[ReviewStatus::Approved], other_names: &[] };
                let parsed = catalog.parse(resource, &values, options).map_err(|issues| issues.report(catalog));
                prop_assert!(parsed.is_ok(), "{text}: {parsed:?}");
                for part in &read.parts {
                    prop_assert!(text.contains(&part.text), "{}: {:?}", text, part);
                }
            }
        }
    }
}

#[test]
fn the_rounds_of_a_name_are_those_of_the_record_that_has_far_more() {
    let firms = "seedbox-fund,Seedbox,,accelerator,,,,,,,,,,\nlomar-fund,Lomar,,vc,,,,,,,,,,\n";
    let others: String = (1..20).map(|number| format!("other-{number},Other {number},,,,,,,,,\n")).collect();
    let of_fund = (1..20).map(|day| format!("r-{day},other-{day},seed,100000,2019-05-{day:02},,seedbox-fund\n"));
    let rounds = format!("r-90,seedbox,seed,100000,2019-05-04,,lomar-fund\n{}", of_fund.collect::<String>());
    let startups = format!("seedbox,Seedbox,,,,,,,,,\n{others}");
    let catalog = catalog_of(dataset_with(firms, &startups, &rounds, "").path());
    for (question, parameter, value) in [
        ("rounds of Seedbox in 2019", "investor", "seedbox-fund"),
        ("rounds raised by Seedbox", "startup", "seedbox"),
        ("rounds of Lomar", "startup", "lomar"),
    ] {
        let asked = catalog.ask(question);
        let found = asked.interpretation.parts.iter().find(|part| part.parameter == parameter);
        assert_eq!(found.map(|part| part.value.as_str()), Some(value), "{question}: {:?}", asked.interpretation);
    }
}
