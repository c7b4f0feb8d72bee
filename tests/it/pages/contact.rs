//! Whom to contact: security.txt, the privacy page, and where a password is changed.

use data::Date;
use service::{Brand, Operator};

use crate::support::harness::{Client, NOON, Server, agent, agent_without_redirects, code};
use crate::support::html::{Markup, parse, text_of};
use crate::support::program::{Process, run};

fn operator() -> Operator {
    Operator {
        brand: Brand { name: "Größe & Söhne".parse().unwrap(), color: Some("#7a1fa2".parse().unwrap()) },
        imprint_url: Some("https://example.com/imprint".to_owned()),
        contact: Some("mailto:security@example.com".to_owned()),
        privacy_url: Some("https://example.com/privacy?a=1&b=2".to_owned()),
        terms_url: Some("https://example.com/terms".to_owned()),
        ..Operator::default()
    }
}

#[test]
fn the_contact_is_published_if_it_is_set() {
    let server = Server::run_by("https://api.example.com", operator());
    let client = server.anonymous();
    let file = client.get("/.well-known/security.txt");
    assert_eq!((file.status, file.header("content-type")), (200, "text/plain; charset=utf-8"));
    let value = |name: &str| {
        let line = file.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("no {name}: {}", file.text))
    };
    assert_eq!(value("Contact"), "mailto:security@example.com");
    assert_eq!(value("Canonical"), "https://api.example.com/.well-known/security.txt");
    let expires: Date = value("Expires").strip_suffix("T00:00:00Z").unwrap().parse().unwrap();
    let days = expires.days() - Date::from_unix(NOON).days();
    assert!((30..365).contains(&days), "expires in {days} days");
    let privacy = client.get("/docs/privacy").text;
    assert!(privacy.contains("<a href=\"mailto:security@example.com\">security@example.com</a>"), "{privacy}");
}

#[test]
fn without_a_contact_there_is_no_security_txt() {
    let server = Server::bundled();
    let client = server.anonymous();
    let reply = client.get("/.well-known/security.txt");
    assert_eq!(code(&reply), (404, "unknown_route".to_owned()));
    assert!(reply.text.contains("--contact"), "{}", reply.text);
    assert!(client.get("/docs/privacy").text.contains("has published no address"));
    assert!(client.get("/docs/operation").text.contains("--contact"));
}

#[test]
fn an_invalid_contact_is_rejected_with_examples() {
    let data = tempfile::tempdir().unwrap();
    let ended = run(data.path(), &["serve", "--contact", "security@example.com"], "");
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("--contact") && ended.err.contains("mailto:security@example.com"), "{}", ended.err);
}

#[test]
fn password_managers_find_where_to_change_a_password() {
    let server = Server::bundled();
    let client = server.anonymous();
    let agent = agent_without_redirects();
    let reply = Client { agent, ..client }.get("/.well-known/change-password");
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
    assert_eq!(reply.header("cache-control"), "no-store");
}

#[test]
fn every_page_and_document_names_the_policies_and_the_contact_of_the_operator() {
    let server = Server::run_by("https://api.example.com", operator());
    let client = server.anonymous();
    for path in [
        "/",
        "/vcs",
        "/vcs/alder-capital",
        "/vcs/alder-capital/reviews",
        "/startups",
        "/people",
        "/leaderboard",
        "/data",
        "/sectors",
        "/docs",
        "/docs/mcp",
        "/signin",
        "/signup",
        "/vcs/no-such-firm",
        "/vcs?limit=x",
        "/?q=alder",
    ] {
        let reply = client.send("GET", path, &[("accept", "text/html")]);
        for link in [
            "<a href=\"https://example.com/imprint\">Imprint</a>",
            "<a href=\"https://example.com/privacy?a=1&#38;b=2\">Privacy policy</a>",
            "<a href=\"https://example.com/terms\">Terms</a>",
            "<a href=\"mailto:security@example.com\">Contact</a>",
        ] {
            assert!(reply.text.contains(link), "{path}: {}", reply.text);
        }
        let page = parse(&reply.text);
        let title = text_of(page.first("head > title"));
        assert!(title.contains("Größe & Söhne") && !reply.text.contains("<span>VentureDex"), "{path}: {title}");
        assert_eq!(page.texts("a.home > span"), ["Größe & Söhne"], "{path}");
    }
    assert!(!Server::bundled().anonymous().get("/").text.contains("Privacy policy"));
    let manifest = client.get("/api/mcp/.well-known").json();
    assert_eq!(manifest["contact"], "mailto:security@example.com");
    assert_eq!(manifest["privacyPolicyUrl"], "https://example.com/privacy?a=1&b=2");
    assert_eq!(manifest["termsOfServiceUrl"], "https://example.com/terms");
    let card = client.get("/api/mcp/server-card").json();
    assert_eq!(card["_meta"]["com.example.api/venturedex.termsOfServiceUrl"], "https://example.com/terms");
    let info = &client.get("/openapi/v3.json").json()["info"];
    assert_eq!(info["termsOfService"], "https://example.com/terms");
    assert_eq!(info["contact"]["email"], "security@example.com");
    assert!(info["description"].as_str().unwrap().contains("(https://example.com/privacy?a=1&b=2)"));
}

#[test]
fn language_models_find_every_page_of_the_docs_and_crawlers_the_card() {
    let server = Server::bundled();
    let client = server.anonymous();
    let index = client.get("/llms.txt");
    assert_eq!((index.status, index.header("content-type")), (200, "text/plain; charset=utf-8"));
    assert!(
        index.text.starts_with("# VentureDex\n\n> ") && index.text.contains("The data is invented"),
        "{}",
        index.text
    );
    let links: Vec<&str> = index.text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()).collect();
    assert!(links.len() > 15, "{links:?}");
    for link in links {
        let path = link.strip_prefix(&format!("http://{}", server.address)).unwrap();
        assert_eq!(client.get(path).status, 200, "{link}");
    }
    let robots = client.get("/robots.txt").text;
    let rule = |path: &str| {
        let rules = robots.lines().filter_map(|line| line.split_once(": "));
        let matching = rules.filter(|(rule, prefix)| *rule != "User-agent" && path.starts_with(prefix));
        matching.max_by_key(|(_, prefix)| prefix.len()).map(|(rule, _)| rule.to_owned())
    };
    for path in ["/api/mcp/.well-known", "/api/mcp/server-card"] {
        assert_eq!(rule(path).as_deref(), Some("Allow"), "{robots}");
    }
    assert_eq!(rule("/api/v3/vcs").as_deref(), Some("Disallow"));
}

#[test]
fn files_are_published_below_well_known_and_never_replace_those_of_the_server() {
    let data = tempfile::tempdir().unwrap();
    let files = tempfile::tempdir().unwrap();
    std::fs::write(files.path().join("security.txt"), "Contact: nobody").unwrap();
    let folder = files.path().to_str().unwrap();
    let ended = run(data.path(), &["serve", "--listen", "127.0.0.1:0", "--well-known", folder], "");
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("--well-known") && ended.err.contains("security.txt"), "{}", ended.err);
    std::fs::remove_file(files.path().join("security.txt")).unwrap();
    std::fs::write(files.path().join("mcp-registry-auth"), "v=MCPv1; k=ed25519; p=AAAA").unwrap();
    let server = Process::start(data.path(), &["--well-known", folder]);
    let client = Client { base: server.base.clone(), key: None, agent: agent() };
    let file = client.get("/.well-known/mcp-registry-auth");
    assert_eq!((file.status, file.text.as_str()), (200, "v=MCPv1; k=ed25519; p=AAAA"));
    assert_eq!(client.get("/.well-known/other").status, 404);
}

#[test]
fn the_document_for_the_registry_names_the_endpoint() {
    let data = tempfile::tempdir().unwrap();
    let ended = run(data.path(), &["server-json", "--public-url", "https://api.example.com/"], "");
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let document: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
    assert_eq!((&document["$schema"], &document["name"]), (&schema.into(), &"com.example.api/venturedex".into()));
    assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
    assert!((1..=100).contains(&document["description"].as_str().unwrap().len()));
    let remotes = serde_json::json!([{ "type": "streamable-http", "url": "https://api.example.com/api/mcp" }]);
    assert_eq!(document["remotes"], remotes);
    for url in ["http://api.example.com", "example.com"] {
        let ended = run(data.path(), &["server-json", "--public-url", url], "");
        assert_eq!(ended.code, Some(2));
        assert!(ended.err.contains("https://example.com"), "{}", ended.err);
    }
}

#[test]
fn the_color_of_the_operator_is_in_a_style_sheet_of_its_own_address() {
    let [own, usual] = [Server::run_by("https://api.example.com", operator()), Server::bundled()];
    let sheet = |server: &Server| {
        let page = parse(&server.anonymous().get("/vcs").text);
        page.values("link[rel=stylesheet]", "href")[0].to_owned()
    };
    let [own_address, usual_address] = [sheet(&own), sheet(&usual)];
    assert_eq!(own_address, format!("{usual_address}-7a1fa2"));
    let style = own.anonymous().get(&own_address);
    assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=utf-8"));
    assert!(style.text.contains("--brand: light-dark(#7a1fa2, #"), "{}", style.text);
    assert!(!usual.anonymous().get(&usual_address).text.contains("#7a1fa2"));
    for path in ["/favicon.svg", "/favicon.ico"] {
        assert!(own.anonymous().get(path).text.contains("fill=\"#7a1fa2\""));
    }
}

#[test]
fn feeds_and_machine_readable_pages_have_the_name_of_the_service() {
    let server = Server::run_by("https://api.example.com", operator());
    let client = server.anonymous();
    let search = client.get("/opensearch.xml").text;
    assert!(search.contains("<ShortName>Größe &amp; Söhne</ShortName>"), "{search}");
    for (atom, json, title) in [
        ("/releases.atom", "/releases.json", "Größe & Söhne: releases"),
        ("/rounds.atom", "/rounds/feed.json", "Größe & Söhne: new rounds"),
    ] {
        let atom = client.get(atom).text;
        assert!(atom.contains("<author><name>Größe &#38; Söhne</name>"), "{atom}");
        assert_eq!(client.get(json).json()["title"], title);
    }
    assert!(client.get("/llms.txt").text.starts_with("# Größe & Söhne\n"));
    for path in ["/docs", "/docs/mcp"] {
        let page = client.get(path).text;
        assert!(page.contains("Größe") && !parse(&page).first("main").html().contains("VentureDex"), "{path}");
    }
    let data = parse(&client.get("/data").text);
    let graph = text_of(data.first("script[type='application/ld+json']"));
    let graph: serde_json::Value = serde_json::from_str(&graph).unwrap();
    assert_eq!(graph["@graph"][0]["publisher"]["name"], "Größe & Söhne");
    assert!(client.get("/reconcile").json()["name"].as_str().unwrap().starts_with("Größe & Söhne ("));
}

#[test]
fn a_color_that_is_hard_to_read_is_rejected_with_the_nearest_that_is_not() {
    let data = tempfile::tempdir().unwrap();
    let ended = run(data.path(), &["serve", "--brand-color", "#ff9900"], "");
    assert_eq!(ended.code, Some(2));
    assert!(ended.err.contains("--brand-color") && ended.err.contains("4.5 : 1"), "{}", ended.err);
    let nearest = ended.err.split("the nearest color that has it is ").nth(1).unwrap()[..7].to_owned();
    let server = Process::start(data.path(), &["--brand-color", &nearest, "--brand-name", "Deals"]);
    let client = Client { base: server.base.clone(), key: None, agent: agent() };
    assert!(client.get("/").text.contains("<title>Deals: "));
    assert!(client.get("/assets/style.css").text.contains(&format!("--brand: light-dark({nearest}, ")));
}
