//! What programs find of the pages: twins in JSON and Markdown, the sitemap, JSON-LD, OpenSearch.

use std::collections::BTreeSet;
use std::fs;

use auth::quota::Tier;
use data::Table;
use scraper::ElementRef;
use serde_json::{Value, json};

use crate::support::harness::{Client, Server, catalog_of, copy_with_few_reviews, real_catalog};
use crate::support::html::{Markup, parse, text_of};

const RECORDS: [(&str, Table); 3] = [("vcs", Table::Firms), ("startups", Table::Startups), ("people", Table::People)];

/// Each twelfth slug of a table.
fn some_slugs(server: &Server, table: Table) -> Vec<String> {
    let catalog = server.state.releases.current();
    let rows = 0..catalog.snapshot().rows(table);
    rows.step_by(12).map(|row| catalog.snapshot().slug(table, row).to_owned()).collect()
}

#[test]
fn the_twin_of_a_record_is_the_answer_of_the_api() {
    let server = Server::bundled();
    let (client, api) = (server.anonymous(), server.client(Tier::Enterprise));
    for (path, table) in RECORDS {
        for slug in some_slugs(&server, table) {
            let twin = client.get(&format!("/{path}/{slug}.json"));
            assert_eq!((twin.status, twin.header("content-type")), (200, "application/json"));
            assert_eq!(twin.header("link"), format!("<{}/{path}/{slug}>; rel=\"canonical\"", client.base));
            let answer = api.get(&format!("/api/v3/{path}/{slug}")).json();
            assert_eq!(twin.json(), json!({ "data": answer["data"], "meta": answer["meta"] }), "{slug}");
            if table != Table::People {
                // Those have `included`, too.
                assert_eq!(twin.text, api.get(&format!("/api/v3/{path}/{slug}")).text);
            }
            let text = client.get(&format!("/{path}/{slug}.md"));
            assert_eq!((text.status, text.header("content-type")), (200, "text/markdown; charset=utf-8"));
            check_markdown(&text.text, &answer["data"]);
            assert!(text.text.contains(&format!("Page: {}/{path}/{slug} ", client.base)), "{}", text.text);
            assert!(text.text.contains("Invented data"));
            let page = parse(&client.get(&format!("/{path}/{slug}")).text);
            let twins = page.values("link[rel=alternate]", "href");
            assert_eq!(twins[..2], [format!("/{path}/{slug}.md"), format!("/{path}/{slug}.json")]);
        }
    }
    for path in ["/vcs/nowhere.json", "/vcs/nowhere.md", "/vcs.md.md", "/data.md", "/vcs/alder-capital.xml", "/x.json"]
    {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    let deep = format!("/vcs{}", ".md".repeat(5_000));
    assert_eq!(client.get(&deep).status, 404);
    assert_eq!(client.get("/vcs/Alder-Capital.json").status, 200);
}

/// Every known value of the record is in the text, and its lists have a row for each item.
fn check_markdown(text: &str, record: &Value) {
    let plain = text.replace('\\', "");
    assert!(plain.starts_with(&format!("# {}\n", record["name"].as_str().unwrap())), "{text}");
    for (name, value) in record.as_object().unwrap() {
        match value {
            Value::String(value) => {
                let line = value.replace(char::is_control, " ");
                assert!(plain.contains(&line), "{name}: {value} is not in {text}");
            }
            Value::Number(value) => {
                assert!(plain.contains(&format!(": {value}\n")), "{name}: {value} is not in {text}")
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                let heading = format!("## {}", name.replace('_', " "));
                let start = plain.to_lowercase().find(&heading).unwrap_or_else(|| panic!("no {heading} in {text}"));
                let rows = plain[start..].lines().skip(2).take_while(|line| line.starts_with('|')).count();
                assert_eq!(rows, items.len() + 2, "{heading} in {text}");
            }
            _ => {}
        }
    }
}

#[test]
fn the_twin_of_a_list_has_the_rows_of_its_page() {
    let server = Server::bundled();
    let (client, api) = (server.anonymous(), server.client(Tier::Enterprise));
    for (list, query) in [
        ("vcs", ""),
        ("vcs", "stage=seed&country=DE"),
        ("vcs", "q=capital&sort=name"),
        ("startups", "country=US"),
        ("people", "q=anna"),
        ("sectors", ""),
        ("leaderboard", "metric=activity"),
        ("vcs/alder-capital/reviews", ""),
    ] {
        let all = api.get(&format!("/api/v3/{list}?{query}&limit=1000")).json();
        let rows = all["data"].as_array().unwrap();
        for page in [1, 2] {
            let twin = client.get(&format!("/{list}.json?{query}&page={page}")).json();
            let expected: Vec<&Value> = rows.iter().skip(25 * (page - 1)).take(25).collect();
            assert_eq!(twin["data"], json!(expected), "{list}?{query} {page}");
            let total = all["pagination"]["total"].as_u64().unwrap();
            let pagination = json!({ "page": page, "total_pages": total.div_ceil(25), "total": total, "limit": 25 });
            assert_eq!(twin["pagination"], pagination);
            assert_eq!(twin["meta"]["snapshot"], all["meta"]["snapshot"]);
            let text = client.get(&format!("/{list}.md?{query}&page={page}"));
            let lines = text.text.lines().filter(|line| line.starts_with('|')).count();
            assert_eq!(lines, if expected.is_empty() { 0 } else { expected.len() + 2 }, "{}", text.text);
            let next = text.text.lines().find_map(|line| line.strip_prefix("Next page: "));
            assert_eq!(next.is_some(), total > 25 * page as u64, "{}", text.text);
            if let Some(next) = next {
                assert_eq!(client.get(next.strip_prefix(client.base.as_str()).unwrap()).status, 200, "{next}");
            }
        }
        let page = parse(&client.get(&format!("/{list}?{query}")).text);
        let twins = page.values("link[rel=alternate]", "href");
        // The tree of sectors has no pages.
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        assert_eq!(twins[..2], [format!("/{list}.md{query}"), format!("/{list}.json{query}")]);
    }
    let warned = client.get("/vcs.json?stage=sede").json();
    assert_eq!(warned["meta"]["warnings"][0]["did_you_mean"], "seed");
    assert_eq!(client.get("/vcs.json?min_reviews=no").status, 400);
}

/// The addresses and days of a file of the sitemap, whose elements HTML does not know and keeps.
fn addresses(text: &str) -> Vec<(String, Option<String>)> {
    let sitemap = parse(text);
    let address = |url: ElementRef<'_>| (text_of(url.first("loc")), url.find("lastmod").map(text_of));
    sitemap.all("url").into_iter().map(address).collect()
}

#[test]
fn every_address_of_the_sitemap_is_a_page_that_names_itself() {
    let server = Server::bundled();
    let client = server.anonymous();
    let sitemap = client.get("/sitemap.xml");
    assert_eq!((sitemap.status, sitemap.header("content-type")), (200, "application/xml"));
    assert!(client.get("/robots.txt").text.ends_with(&format!("\nSitemap: {}/sitemap.xml\n", client.base)));
    let all = addresses(&sitemap.text);
    let unique: BTreeSet<&String> = all.iter().map(|(address, _)| address).collect();
    assert_eq!(unique.len(), all.len());
    let catalog = server.state.releases.current();
    let records: u32 = RECORDS.iter().map(|(_, table)| catalog.snapshot().rows(*table)).sum();
    let is_record = |address: &str| RECORDS.iter().any(|(path, _)| address.contains(&format!("/{path}/")));
    assert_eq!(all.iter().filter(|(address, _)| is_record(address)).count(), records as usize);
    let others: Vec<&(String, Option<String>)> = all.iter().filter(|(address, _)| !is_record(address)).collect();
    assert!(others.len() > 30, "{others:?}");
    // All of the pages but records, and some of these.
    for (address, day) in others.into_iter().chain(all.iter().step_by(97)) {
        let page = client.get(address.strip_prefix(client.base.as_str()).unwrap());
        assert_eq!(page.status, 200, "{address}");
        assert_eq!(parse(&page.text).values("link[rel=canonical]", "href"), [address], "{address}");
        assert!(!page.text.contains("noindex"), "{address}");
        assert_eq!(day.is_none(), address.contains("/docs"), "{address}");
        assert!(day.as_ref().is_none_or(|day| day == "2026-11-20"), "{address}: {day:?}");
    }
    for path in ["/sitemap-1.xml", "/sitemap-0.xml", "/sitemap-x.xml", "/sitemap-.xml"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    assert!(all.iter().any(|(address, _)| address.ends_with("/sectors/fintech")));
    assert!(all.iter().any(|(address, _)| address.ends_with("/countries/de")));
}

#[test]
fn a_list_has_a_title_that_names_its_conditions_and_one_address() {
    let server = Server::bundled();
    let client = server.anonymous();
    let own = |path: &str| {
        let page = parse(&client.get(path).text);
        let title = text_of(page.first("head > title")).strip_suffix(" · VentureDex").unwrap().to_owned();
        let canonical = page.values("link[rel=canonical]", "href").join(" ");
        let address = canonical.strip_prefix(client.base.as_str()).unwrap_or(&canonical).to_owned();
        (title, address, page.find("meta[name=robots][content=noindex]").is_some())
    };
    for (path, title, address, is_hidden) in [
        ("/vcs", "Firms", "/vcs", false),
        ("/vcs?country=DE&stage=seed", "Seed investors in Germany", "/vcs?stage=seed&country=DE", false),
        ("/vcs?stage=seed&page=2", "Seed investors · page 2", "/vcs?stage=seed&page=2", false),
        // Another order or another number of rows is no other list.
        ("/vcs?stage=seed&sort=name&page=2", "Seed investors · page 2", "/vcs?stage=seed", false),
        ("/vcs?per_page=50&stage=seed&utm_source=x", "Seed investors", "/vcs?stage=seed", false),
        ("/vcs?kind=corporate", "Corporate investors", "/vcs?kind=corporate", false),
        (
            "/startups?sector=fintech&founded_from=2020",
            "Fintech startups, founded since 2020",
            "/startups?sector=fintech&founded_from=2020",
            false,
        ),
        ("/rounds?stage=seed,series-a", "Seed and Series A rounds", "/rounds?stage=seed,series-a", false),
        ("/rounds?since=2024", "Rounds, announced since 2024", "/rounds?since=2024-01-01", false),
        (
            "/people?kind=startup&country=GB",
            "People at startups in United Kingdom",
            "/people?kind=startup&country=GB",
            false,
        ),
        (
            "/rounds?stage=seed&country=DE&since=2024",
            "Seed rounds in Germany, announced since 2024",
            "/rounds?stage=seed&country=DE&since=2024-01-01",
            true,
        ),
        (
            "/rounds?stage=seed,series-a,series-b,series-c",
            "Rounds, 4 stages",
            "/rounds?stage=seed,series-a,series-b,series-c",
            true,
        ),
        ("/vcs?q=capital", "Firms, named “capital”", "/vcs?q=capital", true),
        ("/vcs?page=900", "Firms · page 900", "/vcs?page=900", true),
    ] {
        assert_eq!(own(path), (title.to_owned(), address.to_owned(), is_hidden), "{path}");
    }
}

#[test]
fn what_is_indexed_has_a_card() {
    let server = Server::bundled();
    let client = server.anonymous();
    for path in [
        "/",
        "/vcs",
        "/vcs/alder-capital",
        "/startups",
        "/markets",
        "/sectors/fintech",
        "/docs",
        "/leaderboard",
        "/data",
    ] {
        let page = parse(&client.get(path).text);
        let of = |property: &str| page.values(&format!("meta[property='{property}']"), "content").join(" ");
        assert!(!of("og:title").is_empty() && of("og:description").len() > 20, "{path}");
        assert_eq!(of("og:url"), page.values("link[rel=canonical]", "href").join(" "), "{path}");
        assert!(page.values("meta[name='twitter:card']", "content")[0].starts_with("summary"), "{path}");
    }
    for path in ["/vcs/alder-capital".to_owned(), format!("/startups/{}", some_slugs(&server, Table::Startups)[0])] {
        let page = parse(&client.get(&path).text);
        assert_eq!(page.values("meta[name='twitter:card']", "content"), ["summary_large_image"], "{path}");
        let address = page.values("meta[property='og:image']", "content")[0];
        let (_, version) = address.split_once('?').unwrap();
        assert_eq!(address, format!("{}{path}.png?{version}", client.base));
        let request = |address: &str| client.agent.get(address).call().unwrap();
        let mut picture = request(address);
        assert_eq!(picture.headers()["content-type"], "image/png");
        assert_eq!(picture.headers()["cache-control"], "public, max-age=31536000, immutable");
        let bytes = picture.body_mut().read_to_vec().unwrap();
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() < 60_000, "{}", bytes.len());
        assert_eq!(bytes[16..24], [0, 0, 4, 176, 0, 0, 2, 118], "1200 by 630");
        let again = request(&format!("{}{path}.png", client.base));
        assert_eq!(again.headers()["cache-control"], "public, max-age=300");
    }
    assert_eq!(client.get("/vcs/nobody.png").status, 404);
    assert_eq!(client.get("/people/nobody.png").status, 404);
    let hidden = client.get("/vcs?q=capital").text;
    assert!(!hidden.contains("og:title"), "{hidden}");
}

#[test]
fn a_page_that_a_browser_has_is_not_sent_again() {
    let server = Server::bundled();
    let client = server.anonymous();
    for path in [
        "/",
        "/vcs?stage=seed",
        "/vcs/alder-capital",
        "/markets",
        "/vcs.json",
        "/vcs/alder-capital.md",
        "/rounds.atom",
        "/sitemap.xml",
    ] {
        let first = client.get(path);
        let etag = first.header("etag").to_owned();
        assert!(etag.starts_with("W/\"") && etag.len() == 36, "{path}: {etag}");
        assert_eq!(client.get(path).header("etag"), etag, "{path}");
        for known in [etag.as_str(), "*", &format!("\"x\", {etag}")] {
            let again = client.send("GET", path, &[("if-none-match", known)]);
            assert_eq!((again.status, again.text.as_str(), again.header("etag")), (304, "", etag.as_str()), "{path}");
            assert_eq!(again.header("cache-control"), "private, max-age=60", "{path}");
        }
        assert_eq!(client.send("GET", path, &[("if-none-match", "\"x\"")]).text, first.text, "{path}");
    }
    assert_ne!(client.get("/vcs").header("etag"), client.get("/vcs?stage=seed").header("etag"));
    // Pages of accounts and errors are never stored.
    for path in ["/signin", "/vcs/nobody-at-all"] {
        let page = client.send("GET", path, &[("if-none-match", "*")]);
        assert!(page.status != 304 && page.header("etag").is_empty(), "{path}: {}", page.status);
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
    }
}

#[test]
fn an_asset_whose_address_has_its_version_never_changes() {
    let server = Server::bundled();
    let client = server.anonymous();
    let page = parse(&client.get("/").text);
    let style = page.values("link[rel=stylesheet]", "href")[0];
    let caching = |path: &str| client.get(path).header("cache-control").to_owned();
    assert_eq!(caching(style), "public, max-age=31536000, immutable");
    assert_eq!(caching("/assets/inter-4.1.woff2"), "public, max-age=31536000, immutable");
    for path in ["/assets/style.css", "/assets/style.css?other", "/assets/page.js", "/robots.txt"] {
        assert_eq!(caching(path), "public, max-age=300", "{path}");
    }
}

#[test]
fn a_large_sitemap_has_an_index() {
    let Some(catalog) = real_catalog() else { return };
    let server = Server::of(catalog);
    let client = server.anonymous();
    let files = parse(&client.get("/sitemap.xml").text).texts("loc");
    let mut all = BTreeSet::new();
    for (number, file) in files.iter().enumerate() {
        let path = file.strip_prefix(client.base.as_str()).unwrap();
        assert_eq!(path, format!("/sitemap-{}.xml", number + 1));
        let addresses = addresses(&client.get(path).text);
        assert!(!addresses.is_empty() && addresses.len() <= 50_000);
        all.extend(addresses.into_iter().map(|(address, _)| address));
    }
    let catalog = server.state.releases.current();
    let records: u32 = RECORDS.iter().map(|(_, table)| catalog.snapshot().rows(*table)).sum();
    assert!(files.len() > 1 && all.len() > records as usize, "{} in {files:?}", all.len());
    assert_eq!(client.get(&format!("/sitemap-{}.xml", files.len() + 1)).status, 404);
}

/// The graph of the JSON-LD of a page.
fn graph(client: &Client, path: &str) -> Vec<Value> {
    let page = parse(&client.get(path).text);
    let data: Value = serde_json::from_str(&text_of(page.first("script[type='application/ld+json']"))).unwrap();
    assert_eq!(data["@context"], "https://schema.org");
    data["@graph"].as_array().unwrap().clone()
}

#[test]
fn json_ld_has_the_values_of_the_api() {
    let server = Server::bundled();
    let (client, api) = (server.anonymous(), server.client(Tier::Enterprise));
    let optional = |value: &Value| if value.is_null() { None } else { Some(value.clone()) };
    for (path, table) in RECORDS {
        for slug in some_slugs(&server, table).into_iter().step_by(3) {
            let page = format!("/{path}/{slug}");
            let record = api.get(&format!("/api/v3{page}")).json()["data"].clone();
            let graph = graph(&client, &page);
            let (about, crumbs) = (&graph[0], &graph[1]);
            let url = json!(format!("{}{page}", client.base));
            assert_eq!([&about["name"], &about["url"], &about["@id"]], [&record["name"], &url, &url]);
            assert_eq!(about["disambiguatingDescription"], "Invented data: not real.");
            let items = crumbs["itemListElement"].as_array().unwrap();
            assert_eq!((&crumbs["@type"], items.len()), (&json!("BreadcrumbList"), 2));
            assert_eq!(items[0]["item"], json!(format!("{}/{path}", client.base)));
            assert_eq!([&items[1]["item"], &items[1]["name"]], [&url, &record["name"]]);
            if table == Table::People {
                assert_eq!(
                    (&about["@type"], about.get("jobTitle").cloned()),
                    (&json!("Person"), optional(&record["title"]))
                );
                assert_eq!(about["worksFor"]["name"], record["organization"]["name"]);
                let employer = about["worksFor"]["url"].as_str().unwrap().strip_prefix(client.base.as_str()).unwrap();
                assert_eq!(client.get(employer).status, 200);
                continue;
            }
            assert_eq!(about["@type"], "Organization");
            assert_eq!(about.get("description").cloned(), optional(&record["description"]));
            let address = &about["address"];
            assert_eq!(address.get("addressCountry").cloned(), optional(&record["country"]));
            assert_eq!(address.get("addressLocality").cloned(), optional(&record["city"]));
            let founded = optional(&record["founded_year"]).map(|year| json!(year.to_string()));
            assert_eq!(about.get("foundingDate").cloned(), founded);
            let same: Vec<&Value> = about["sameAs"].as_array().into_iter().flatten().collect();
            assert_eq!(same.first().copied().cloned(), optional(&record["website"]));
            let rating = about.get("aggregateRating");
            assert_eq!(rating.map(|rating| rating["ratingValue"].clone()), optional(&record["ratings"]["overall"]));
            if let Some(rating) = rating {
                assert_eq!(rating["ratingCount"], record["review_count"]);
            }
        }
    }
    let stats = api.get("/api/v3/stats").json();
    let graph = graph(&client, "/data");
    assert_eq!((&graph[0]["@type"], &graph[0]["version"]), (&json!("Dataset"), &stats["meta"]["snapshot"]));
    assert_eq!(graph[0]["license"], stats["meta"]["license"]);
}

#[test]
fn no_name_ends_the_json_ld_or_makes_markup_in_markdown() {
    let copy = copy_with_few_reviews("2026-11-21.1");
    let firms = copy.path().join("firms.csv");
    let hostile = "</script><script>alert(1)</script> [x](y) | **b** `c` # d";
    let text = fs::read_to_string(&firms).unwrap().replacen("Alder Capital,", &format!("\"{hostile}\","), 1);
    fs::write(firms, text).unwrap();
    let server = Server::of(catalog_of(copy.path()));
    let client = server.anonymous();
    let graph = graph(&client, "/vcs/alder-capital");
    assert_eq!((&graph[0]["name"], &graph[1]["itemListElement"][1]["name"]), (&json!(hostile), &json!(hostile)));
    assert!(!client.get("/vcs/alder-capital").text.contains("<script>alert"));
    let text = client.get("/vcs/alder-capital.md").text;
    let escaped = r"# \</script\>\<script\>alert(1)\</script\> \[x\](y) \| \*\*b\*\* \`c\` \# d";
    assert_eq!(text.lines().next(), Some(escaped));
}

#[test]
fn a_browser_searches_by_the_description_and_gets_the_suggestions_of_the_page() {
    let server = Server::bundled();
    let client = server.anonymous();
    let home = parse(&client.get("/").text);
    assert_eq!(home.values("link[rel=search]", "href"), ["/opensearch.xml"]);
    let description = client.get("/opensearch.xml");
    assert_eq!(description.header("content-type"), "application/opensearchdescription+xml");
    let description = parse(&description.text);
    let templates = description.values("url", "template");
    assert_eq!(templates.len(), 3);
    for template in templates {
        let path = template.strip_prefix(client.base.as_str()).unwrap().replace("{searchTerms}", "ald");
        assert_eq!(client.get(&path).status, 200, "{path}");
    }
    for text in ["ald", "berl", "x&y", ""] {
        let query = text.replace('&', "%26");
        let suggested = client.get(&format!("/suggest/opensearch?q={query}"));
        assert_eq!(suggested.header("content-type"), "application/x-suggestions+json");
        let suggested = suggested.json();
        let known = client.get(&format!("/suggest?q={query}")).json();
        let known = known["names"].as_array().unwrap();
        let of = |name: &str| known.iter().map(|known| known[name].clone()).collect::<Vec<_>>();
        assert_eq!((&suggested[0], &suggested[1]), (&json!(text), &json!(of("name"))));
        let addresses: Vec<String> =
            of("href").iter().map(|href| format!("{}{}", client.base, href.as_str().unwrap())).collect();
        assert_eq!(suggested[3], json!(addresses));
        assert_eq!(suggested[2].as_array().unwrap().len(), known.len());
    }
}
