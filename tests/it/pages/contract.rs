//! The contract as tables from the code: it is the one that was written down, and it has every name that clients send.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

use api::{Route, Version};
use auth::quota::Tier;
use catalog::Resource;
use data::vocabulary::Vocabulary;
use data::{Date, Stage};
use service::VersionEnd;
use transport::problem::Code;

use crate::support::harness::Server;
use crate::support::html::{Markup, parse, text_of};

#[test]
fn the_contract_is_the_one_that_was_written_down() {
    let served = Server::bundled().anonymous().get("/docs/contract.txt").text;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/site/docs/contract.txt");
    let written = fs::read_to_string(&file).unwrap();
    let tables = |text: &str| text.split_once('\n').map(|(_, tables)| tables.to_owned());
    if tables(&served) == tables(&written) {
        return;
    }
    assert!(
        env::var_os("VENTUREDEX_BLESS").is_some_and(|bless| bless == "1"),
        "the contract has changed: check whether it may, then VENTUREDEX_BLESS=1 cargo test the_contract_is"
    );
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let today = Date::from_unix(i64::try_from(now).unwrap());
    fs::write(file, format!("{today}\n{}", tables(&served).unwrap())).unwrap();
}

#[test]
fn the_contract_has_every_path_parameter_and_code() {
    let server = Server::bundled();
    let page = server.anonymous().get("/docs/contract");
    assert_eq!(page.status, 200);
    let page = parse(&page.text);
    let rows: Vec<Vec<String>> = page.all("tr").iter().map(|row| row.texts("td")).collect();
    let has = |cells: &[&str]| rows.iter().any(|row| row.iter().zip(cells).all(|(cell, expected)| cell == expected));
    for route in Route::all(Version::V3) {
        let path = format!("/{}", route.path);
        let versions = if route.since == Version::V1 { "v1 v2 v3" } else { "v3" };
        assert!(has(&[&path, versions]), "{path}");
        for name in route.parameters(Version::V3) {
            assert!(has(&[&path, name]), "`{name}` of {path}");
        }
    }
    for code in Code::ALL {
        assert!(has(&[&code.status().as_u16().to_string(), code.name(), code.title()]), "{}", code.name());
    }
    for resource in [Resource::Firms, Resource::Startups, Resource::Rounds, Resource::People, Resource::Sectors] {
        assert!(has(&[&format!("/{}", resource.path()), resource.table().default_sort()]), "{}", resource.path());
    }
    for tier in Tier::ALL {
        assert!(has(&[tier.name()]), "{}", tier.name());
    }
    assert!(has(&["Stage", &Stage::names().join(" ")]));
    assert!(has(&["limit_clamped"]));
}

/// What the documents promise, by page: if one of these sentences has to go, a client may have relied on it.
#[test]
fn the_docs_hold_what_was_promised() {
    let server = Server::bundled();
    let client = server.anonymous();
    for (path, promises) in PROMISES {
        let text =
            text_of(parse(&client.get(path).text).root_element()).split_whitespace().collect::<Vec<_>>().join(" ");
        for promise in *promises {
            assert!(text.contains(promise), "{path} does not say: {promise}");
        }
    }
}

const PROMISES: &[(&str, &[&str])] = &[
    (
        "/docs",
        &[
            "Unknown values are null, never 0 or an empty text.",
            "fields ending in _usd are whole US dollars",
            "Its id is a date and a counter from 1",
            "Several values of one parameter, separated by commas or repeated, match any of them; different parameters must all \
             match.",
            "are accepted in any letter case and in other spellings (Series A, Germany, DEU) and returned in one.",
            "The letter case of slugs does not matter.",
            "The data is read-only: GET and HEAD. OPTIONS returns 204",
            "a single record {\"data\": {…}}. v3 adds meta; v1 and v2 have it only if there are warnings.",
        ],
    ),
    (
        "/docs/paging",
        &[
            "Every matching record is returned exactly once, even if a new release of the data is published meanwhile",
            "Filters and sort may be repeated unchanged; different ones are rejected",
            "A restart of the server leaves it valid.",
            "Past the end, however far, the response is a 200 and data is empty.",
            "total_pages of a list without records is 0.",
            "Field names are accepted in snake_case and camelCase, and returned in snake_case.",
            "Without fields, lists return the default fields and single records return all, in every version.",
            "A dot selects a field of an object: fields=name,score.value.",
        ],
    ),
    (
        "/docs/search",
        &[
            "Typos: one in a word of 3 to 7 letters, two in a longer one, including the first letter.",
            "Missing, reordered, joined or split words",
            "A name without letters and digits is found as it is written.",
            "Exact matches come before prefix matches, and those before matches with typos",
            "total, facets and a walk through all pages count the same rows.",
            "A filter never matches a record whose value is unknown",
            "An unknown end of the range is open; a firm without both ends does not match.",
            "Equal records are in the order of their slugs or ids. Records without a value come last, in both directions.",
            "Without status, v3 lists approved reviews only; v1 and v2 list pending ones, too",
            "The parameters _ and utm_… are ignored everywhere.",
        ],
    ),
    (
        "/docs/limits",
        &[
            "Each key has its own counter, which resets at 00:00 UTC. Exactly as many requests are admitted, also of those that \
             arrive at the same time.",
            "These do not: 304, 401, 429",
            "HEAD counts like GET.",
            "an IPv6 address counts as its /64",
            "bodies of 1 KB or more are compressed",
            "may be read from scripts of any origin",
            "the next 00:00 UTC in Unix seconds",
        ],
    ),
    (
        "/docs/keys",
        &[
            "Keys are accepted in the Authorization header only.",
            "Only the SHA-256 of a key is stored",
            "Keys are compared in constant time and never logged.",
            "Revoking takes effect immediately. A key created on the same day inherits the usage of the revoked one",
        ],
    ),
    (
        "/docs/errors",
        &["Errors are application/problem+json (RFC 9457)", "errors has the faults of all parameters, at most 20."],
    ),
    (
        "/docs/score",
        &[
            "Without reviews the score is null.",
            "Ties share a rank (1, 2, 2, 4) and are in the order of their slugs.",
            "otherwise it is null, and score.status is insufficient_reviews instead of published.",
        ],
    ),
    (
        "/docs/versions",
        &[
            "all else is null",
            "never returned; status=rejected is an empty list",
            "each is served until an end is announced for it, and at least a year longer",
            "Between the two days are at least 365.",
            "new values of fields out of a list of words",
            "the ranking of searches, similar records and matches",
            "The end of no version is announced.",
        ],
    ),
    (
        "/docs/mcp",
        &[
            "No key or sign-in is required",
            "A single message with only Content-Type: application/json is answered, too.",
            "At most 50 items, 10 by default.",
            "An argument that is refused gives a result with isError: true, which says how to correct it.",
        ],
    ),
    ("/docs/privacy", &["number of requests of each key and day, never which ones"]),
    ("/docs/operation", &["An invalid setting prevents the start", "without dropping a request"]),
];

#[test]
fn the_end_of_a_version_is_announced_where_clients_look() {
    let end: VersionEnd = "v1=2027-06-01/2028-06-01".parse().unwrap();
    let operator = service::Operator { version_ends: vec![end], ..Default::default() };
    let server = Server::run_by("https://dex.example", operator);
    let client = server.client(Tier::Enterprise);
    for path in ["/api/v1/vcs?limit=1", "/v1/vcs/no-such-firm", "/api/v1/vcs.csv"] {
        let reply = client.get(path);
        assert_eq!(reply.header("deprecation"), "@1811808000", "{path}");
        assert_eq!(reply.header("sunset"), "Thu, 01 Jun 2028 00:00:00 GMT", "{path}");
        for rel in ["successor-version", "deprecation", "sunset"] {
            assert!(reply.header("link").contains(&format!("rel=\"{rel}\"")), "{path}: {}", reply.header("link"));
        }
    }
    for path in ["/api/v2/vcs?limit=1", "/api/v3/vcs?limit=1"] {
        assert_eq!(client.get(path).header("deprecation"), "", "{path}");
    }
    let versions = client.get("/docs/versions").text;
    assert!(versions.contains("v1 is deprecated from 2027-06-01 and ends on 2028-06-01."), "{versions}");
    for (version, is_deprecated) in [("v1", true), ("v2", false)] {
        let document = client.get(&format!("/openapi/{version}.json")).json();
        assert_eq!(document["paths"]["/vcs"]["get"]["deprecated"] == true, is_deprecated, "{version}");
    }
}
