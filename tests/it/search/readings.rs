//! The meaning of a search text is one for pages, their twins, the tools and the API: as a name, as a question, or as words of
//! descriptions.

use std::collections::BTreeSet;

use auth::quota::Tier;
use catalog::{Catalog, ReadingKind};
use data::{Names, Table};
use mcp::Tool;
use serde_json::{Value, json};

use crate::mcp::tools::TestTools;
use crate::pages::listed;
use crate::support::harness::{Client, Reply, Server, grouped, one_of};
use crate::support::html::{Markup, parse, text_of};

const LISTS: [(Tool, &str, &str); 3] = [
    (Tool::SearchVcs, "/vcs", "vcs"),
    (Tool::SearchStartups, "/startups", "startups"),
    (Tool::SearchPeople, "/people", "people"),
];

/// Texts that people type: names and parts of them, sectors, places, questions, words of descriptions, and nonsense.
fn texts(catalog: &Catalog) -> Vec<String> {
    let snapshot = catalog.snapshot();
    let mut texts = BTreeSet::new();
    for table in [Table::Firms, Table::Startups, Table::People] {
        for row in (0..snapshot.rows(table)).step_by(snapshot.rows(table) as usize / 10 + 1) {
            let name = snapshot.name(table, row);
            let first = name.split(' ').next().unwrap().to_owned();
            texts.extend([name.to_owned(), format!("{first} workflow"), first]);
            let description = snapshot.names(table).description(row);
            for words in description.split(' ').collect::<Vec<_>>().windows(2).step_by(4).take(3) {
                texts.insert(words.join(" ").replace(['.', ','], ""));
            }
        }
    }
    for row in (0..snapshot.rows(Table::Sectors)).step_by(5) {
        let name = snapshot.name(Table::Sectors, row);
        texts.extend([name.to_owned(), format!("{name} Germany"), format!("seed {name} startups")]);
    }
    // The gate tries some of these, and all of the following.
    let mut texts: BTreeSet<String> = texts.into_iter().step_by(one_of(6)).collect();
    let others = [
        "software teams",
        "capital",
        "climate",
        "payments Germany",
        "payments pilot",
        "payments pilot customers",
        "top 5 fintech startups in London",
        "startups by country",
        "founders in Berlin",
        "partners",
        "seed accelerators in the US",
        "workflow zzyzx",
        "zzyzx qqq",
        "Tidewick workflow",
        "alder-capital.example",
        "ACAP",
        "London",
        "★",
    ];
    texts.extend(others.map(str::to_owned));
    texts.into_iter().collect()
}

/// The reading that notes and a question tell of.
fn told(notes: &str, question: Option<&Value>) -> ReadingKind {
    match question {
        Some(_) => ReadingKind::Question,
        None if notes.contains("was searched as `text`") => ReadingKind::Text,
        None => ReadingKind::Name,
    }
}

/// A list as a front end has it: the number of all rows, the first ones, and the reading of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    total: u64,
    slugs: Vec<String>,
    reading: ReadingKind,
}

impl Listed {
    fn cut(mut self, rows: usize) -> Self {
        self.slugs.truncate(rows);
        self
    }
}

fn slugs(items: &Value) -> Vec<String> {
    items.as_array().unwrap().iter().map(|item| item["slug"].as_str().unwrap().to_owned()).collect()
}

fn of_tool(tools: &TestTools, tool: Tool, arguments: &Value) -> Listed {
    let result = tools.call(tool, arguments).unwrap_or_else(|error| panic!("{arguments}: {error:?}"));
    Listed {
        total: result["total"].as_u64().unwrap(),
        slugs: slugs(&result["items"]),
        reading: told(&result["notes"].to_string(), result.get("question")),
    }
}

fn of_json(reply: &Reply) -> Listed {
    assert_eq!(reply.status, 200, "{}", reply.text);
    let json = reply.json();
    Listed {
        total: json["pagination"]["total"].as_u64().unwrap(),
        slugs: slugs(&json["data"]),
        reading: told(&json["meta"]["warnings"].to_string(), json["meta"].get("question")),
    }
}

fn of_page(reply: &Reply, path: &str) -> Listed {
    assert_eq!(reply.status, 200, "{}", reply.text);
    let page = parse(&reply.text);
    let number: String = text_of(page.first("strong.number")).chars().filter(char::is_ascii_digit).collect();
    let reading = match () {
        () if reply.text.contains("It was read as a question.") => ReadingKind::Question,
        () if reply.text.contains("With all of its words in descriptions, sectors or places:") => ReadingKind::Text,
        () => ReadingKind::Name,
    };
    Listed { total: number.parse().unwrap_or(0), slugs: listed(&page, path), reading }
}

/// The list that the API says the text means, and its own if that is by name.
fn of_api(client: &Client, version: &str, list: &str, parameters: &[(&str, &str)]) -> Listed {
    let reply = client.list(&format!("/api/{version}/{list}"), parameters);
    let by_name = of_json(&reply);
    let json = reply.json();
    let warnings = json["meta"]["warnings"].as_array().cloned().unwrap_or_default();
    let other = warnings.iter().find_map(|warning| {
        let is_own = |detail: &&str| warning["parameter"] == "q" && !detail.starts_with("another list");
        let detail = warning["detail"].as_str().filter(is_own)?;
        let (said, address) =
            detail.split_once("http://").map(|(said, address)| (said, address.split_once('/').unwrap().1))?;
        let reading = if said.contains("as a question it is") { ReadingKind::Question } else { ReadingKind::Text };
        Some((reading, format!("/{address}")))
    });
    match other {
        Some((reading, address)) => Listed { reading, ..of_json(&client.get(&address)) },
        None => by_name,
    }
}

#[test]
fn pages_twins_tools_and_the_api_read_a_text_alike() {
    let server = Server::bundled();
    let (client, nobody) = (server.client(Tier::Enterprise), server.anonymous());
    let tools = TestTools::of(server.state.releases.current());
    let texts = texts(&tools.catalog);
    assert!(texts.len() >= 200 / one_of(6), "{}", texts.len());
    let mut read = [0; 3];
    for text in &texts {
        for (tool, path, list) in LISTS {
            let get = |path: &str| nobody.list(path, &[("q", text)]);
            let context = format!("{path}?q={text}");
            let by_tool = of_tool(&tools, tool, &json!({ "query": text, "limit": 25 }));
            read[by_tool.reading as usize] += 1;
            let page = of_page(&get(path), path);
            // `top 5` is a limit of tools.
            let few = by_tool.slugs.len();
            assert_eq!(page.clone().cut(few), by_tool, "{context}");
            assert_eq!(of_json(&get(&format!("{path}.json"))), page, "{context}");
            let csv = get(&format!("{path}.csv"));
            assert_eq!(csv.header("x-total-count"), page.total.to_string(), "{context}");
            let warnings = csv.header("x-warnings");
            let read_as = match page.reading {
                ReadingKind::Question => "was read as a question",
                ReadingKind::Text => "was searched as `text`",
                ReadingKind::Name => "",
            };
            assert!(warnings.contains(read_as), "{context}: {warnings}");
            let mut rows = csv::Reader::from_reader(csv.text.as_bytes());
            let rows: Vec<String> = rows.records().take(25).map(|row| row.unwrap()[0].to_owned()).collect();
            assert_eq!(rows, page.slugs, "{context}");
            let markdown = get(&format!("{path}.md")).text;
            assert!(markdown.contains(&format!("\n{} record", grouped(page.total))), "{context}: {markdown}");
            assert_eq!(markdown.contains("> Question:"), page.reading == ReadingKind::Question, "{context}");
            let parameters = [("q", text.as_str()), ("limit", "25")];
            assert_eq!(of_api(&client, "v3", list, &parameters), page, "{context}");
            if list == "vcs" {
                assert_eq!(of_api(&client, "v1", list, &parameters), page, "{context}");
            }
        }
    }
    assert!(read.iter().all(|count| *count > 20 / one_of(6)), "{read:?}");
}

#[test]
fn other_conditions_stay_next_to_what_a_text_means() {
    let server = Server::bundled();
    let (client, nobody) = (server.client(Tier::Enterprise), server.anonymous());
    let tools = TestTools::of(server.state.releases.current());
    for (text, name, value) in [
        ("software teams", "country", "US"),
        ("seed startups in the US", "country", "DE"),
        ("payments Germany", "stage", "seed"),
        ("climate", "sort", "name"),
        ("software teams", "sort", "name"),
        ("payments pilot customers", "stage", "seed,series-a"),
    ] {
        let context = format!("{text}, {name}={value}");
        let parameters = [("q", text), (name, value), ("limit", "25")];
        let page = of_page(&nobody.list("/startups", &parameters[..2]), "/startups");
        let tool = of_tool(&tools, Tool::SearchStartups, &json!({ "query": text, name: value, "limit": 25 }));
        assert_eq!(tool, page, "{context}");
        assert_eq!(of_json(&nobody.list("/startups.json", &parameters[..2])), page, "{context}");
        assert_eq!(of_api(&client, "v3", "startups", &parameters), page, "{context}");
    }
    // The next pages are of the same reading.
    let second = of_page(&nobody.get("/startups?q=software+teams&page=2"), "/startups");
    assert_eq!(of_json(&nobody.get("/startups.json?q=software+teams&page=2")), second);
    assert!(!second.slugs.is_empty());
}

#[test]
fn counts_and_files_of_the_api_say_what_else_a_text_means() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let warning = |path: &str, text: &str| -> Option<String> {
        let reply = client.list(path, &[("q", text)]);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        let warnings: Value = match path.contains('.') {
            true => serde_json::from_str(reply.header("x-warnings")).unwrap_or_default(),
            false => reply.json()["meta"]["warnings"].clone(),
        };
        let warnings = warnings.as_array().cloned().unwrap_or_default();
        let mut details = warnings.iter().filter_map(|warning| warning["detail"].as_str());
        details.find(|detail| detail.contains(" is named ")).map(str::to_owned)
    };
    for (path, text, query) in [
        ("startups/aggregate", "software teams", "text=software+teams"),
        ("startups/aggregate", "climate", "sector=climate"),
        ("vcs/facets", "investing in climate", "sector=climate"),
        ("startups.csv", "software teams", "text=software+teams"),
        ("startups.ndjson", "climate", "sector=climate"),
        ("vcs/alder-capital/portfolio", "software teams", "text=software+teams"),
    ] {
        let path = format!("/api/v3/{path}");
        let detail = warning(&path, text).unwrap_or_else(|| panic!("{path}?q={text}"));
        let (_, address) = detail.split_once(&format!("{path}?")).unwrap_or_else(|| panic!("{detail}"));
        assert_eq!(address, query, "{detail}");
        let reply = client.get(&format!("{path}?{address}"));
        assert_eq!(reply.status, 200, "{}", reply.text);
        // A name needs no warning.
        let name = if path.contains("facets") { "Alder Capital" } else { "Tidewick" };
        assert_eq!(warning(&path, name), None);
    }
}
