//! Rejected requests: the order of the checks, all errors at once with suggestions, and their limits.

use auth::quota::Tier;

use crate::pages::docs_numbers::assert_says;
use crate::support::harness::{Client, Server, code};

#[test]
fn a_mistyped_value_names_the_nearest() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for (query, meant) in [
        ("sector=fintec", "fintech"),
        ("stage=sereis-a", "series-a"),
        ("country=Germny", "DE"),
        ("sort=-helth_score", "-health_score"),
    ] {
        let reply = client.get(&format!("/api/v3/vcs?{query}"));
        assert_eq!(code(&reply), (400, "unknown_value".to_owned()), "{query}");
        assert_eq!(reply.json()["errors"][0]["did_you_mean"], meant, "{query}");
    }
    let reply = client.get("/api/v3/vcs?secter=fintech");
    assert_eq!(reply.json()["errors"][0]["did_you_mean"], "sector");
    // v1 applies the valid values of a list; without any, the result is empty.
    let good = client.get("/api/v1/vcs?country=DE").json()["pagination"]["total"].clone();
    assert_eq!(client.get("/api/v1/vcs?country=DE,Atlantis").json()["pagination"]["total"], good);
    assert_eq!(client.get("/api/v1/vcs?country=Atlantis").json()["pagination"]["total"], 0);
}

#[test]
fn a_list_of_too_many_values_is_refused_before_any_is_looked_up() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let many: Vec<String> = (0..2_000).map(|number| format!("zqx{number}")).collect();
    for (path, name) in [("people", "organization"), ("reviews", "vc"), ("vcs", "sector"), ("startups", "investor")] {
        let reply = client.list(&format!("/api/v3/{path}"), &[(name, &many.join(","))]);
        assert_eq!(code(&reply), (400, "invalid_parameter".into()), "{path}");
        assert!(reply.text.len() < 2_000, "{} bytes", reply.text.len());
    }
    for version in ["v1", "v3"] {
        let repeated = "&stage=seed".repeat(199);
        for path in ["vcs", "vcs/nobody"] {
            let reply = client.get(&format!("/api/{version}/{path}?_=1{repeated}&bogus=1"));
            assert_eq!(code(&reply), (400, "invalid_parameter".into()), "{version}/{path}");
            assert!(reply.text.contains("`bogus`: a URL has at most 200 parameters, 201 are given"), "{}", reply.text);
        }
    }
    let reply = client.list("/api/v3/vcs", &[("sector", &many[..100].join(","))]);
    assert_eq!(reply.status, 400);
    assert!(reply.json()["errors"].as_array().unwrap().len() <= 20);
    assert_eq!(code(&client.list("/api/v3/vcs", &[("q", &"a".repeat(201))])), (400, "invalid_parameter".into()));
}

#[test]
fn all_errors_of_a_request_are_reported_at_once() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let reply = client.get("/api/v3/vcs?limit=0&fields=nam&explain=maybe&zz=1&stage=sede&min_health_score=x&sort=nam");
    let errors = reply.json()["errors"].as_array().unwrap().clone();
    let mut reported: Vec<&str> = errors.iter().map(|error| error["parameter"].as_str().unwrap()).collect();
    reported.sort_unstable();
    assert_eq!(reported, ["explain", "fields", "limit", "min_health_score", "sort", "stage", "zz"]);
    let detail = reply.json()["detail"].as_str().unwrap().to_owned();
    assert!(reported.iter().all(|name| detail.contains(&format!("`{name}`"))), "{detail}");
    let cursor = client.get("/api/v3/vcs?limit=1").json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    for (query, code, parameter) in [
        ("cursor=x".to_owned(), "invalid_cursor", "cursor"),
        (format!("cursor={cursor}&stage=seed"), "cursor_mismatch", "stage"),
    ] {
        let json = client.get(&format!("/api/v3/vcs?{query}")).json();
        assert_eq!((&json["code"], &json["errors"][0]["code"]), (&code.into(), &code.into()), "{json}");
        assert_eq!(json["errors"][0]["parameter"], parameter);
    }
}

#[test]
fn a_long_error_is_compressed() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let path = "/api/v3/vcs?zz=1&yy=2&xx=3&ww=4";
    let plain = client.get(path);
    assert!(plain.text.len() > 1_024 && plain.header("vary") == "Accept, Accept-Encoding");
    let packed = client.send("GET", path, &[("accept-encoding", "gzip")]);
    assert_eq!((packed.status, packed.header("content-encoding")), (400, "gzip"));
    assert_eq!(packed.json()["errors"], plain.json()["errors"]);
    let short = client.send("GET", "/api/v3/vcs?zz=1", &[("accept-encoding", "gzip")]);
    assert_eq!((short.header("content-encoding"), short.header("vary")), ("", "Accept, Accept-Encoding"));
}

#[test]
fn a_value_that_is_not_utf_8_is_rejected() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for version in ["v1", "v2", "v3"] {
        for query in ["q=%ff", "limit=2&q=caf%e9", "q=%E0%80%80", "city=M%fcnchen"] {
            let reply = client.get(&format!("/api/{version}/vcs?{query}"));
            assert_eq!(code(&reply), (400, "invalid_parameter".into()), "{query}: {}", reply.text);
            assert!(reply.text.contains("is not UTF-8"), "{}", reply.text);
        }
        assert_eq!(client.get(&format!("/api/{version}/vcs?q=%EF%BF%BD")).status, 200);
        assert_eq!(client.get(&format!("/api/{version}/vcs?q=caf%C3%A9")).status, 200);
    }
}

#[test]
fn at_most_twenty_faults_are_reported_and_the_first_is_the_code() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let sectors: Vec<String> = (0..50).map(|number| format!("nosuchsector{number}")).collect();
    let reply = client.get(&format!("/api/v3/vcs?sector={}", sectors.join(",")));
    let errors = reply.json()["errors"].as_array().unwrap().clone();
    assert_eq!((reply.status, errors.len()), (400, 20));
    assert_eq!(reply.json()["code"], errors[0]["code"]);
    for error in &errors {
        assert!(error["parameter"] == "sector" && error["detail"].is_string(), "{error}");
    }
    assert_says(&server.anonymous(), "/docs/errors", &["the faults of all parameters, at most 20.".to_owned()]);
}

#[test]
fn errors_repeat_a_hundred_characters_of_a_value() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, value) in [
        ("vcs?sector=", "x"),
        ("vcs?country=", "x"),
        ("vcs?kind=", "x"),
        ("vcs?slug=", "x"),
        ("vcs?sort=", "x"),
        ("vcs?fields=", "x"),
        ("vcs?limit=", "x"),
        ("vcs?snapshot=", "x"),
        ("vcs?explain=", "x"),
        ("vcs?stage=-", "x"),
        ("vcs?min_health_score=", "x"),
        ("vcs?max_ghosting_rate=", "x"),
        ("vcs?check_usd=", "9"),
        ("vcs?active_since=", "9"),
        ("reviews?ghosted=", "x"),
        ("leaderboard?metric=", "x"),
        ("match?raise_usd=", "x"),
        ("vcs/aggregate?limit=", "x"),
        ("vcs/aggregate?group_by=", "x"),
        ("vcs/alder-capital?include=", "x"),
        ("vcs?1=1&", "x"),
    ] {
        let long = value.repeat(6_000);
        let reply = client.get(&format!("/api/v3/{path}{long}{}", if path.ends_with('&') { "=1" } else { "" }));
        assert_eq!(reply.status, 400, "{path}");
        // A sign is among the characters.
        assert!(reply.text.contains(&value.repeat(99)) && !reply.text.contains(&value.repeat(101)), "{path}");
    }
    for path in ["vcs/", "", "funding-rounds/"] {
        let reply = client.get(&format!("/api/v3/{path}{}", "x".repeat(6_000)));
        let body = reply.json();
        assert_eq!(reply.status, 404, "{path}");
        assert!(!body["detail"].as_str().unwrap().contains(&"x".repeat(101)), "{body}");
    }
}

#[test]
fn checks_run_in_the_order_of_the_contract() {
    let server = Server::bundled();
    let (client, nobody) = (server.client(Tier::Free), server.anonymous());
    let key = client.key.clone().unwrap();
    let with = |text: &str| Client { key: Some(text.to_owned()), ..nobody.clone() };
    assert_eq!(code(&nobody.get(&format!("/api/v3/vcs?api_key={key}"))), (400, "key_in_url".into()));
    assert_eq!(code(&nobody.get("/api/v3/vcs")), (401, "missing_api_key".into()));
    assert_eq!(code(&nobody.get("/api/v3/nowhere?foo=1")), (401, "missing_api_key".into()));
    assert_eq!(code(&with(&key[..39]).get("/api/v1/vcs")), (401, "malformed_api_key".into()));
    let unknown = "vdx_000000000000000000000000000000";
    let digits = crc_suffix(unknown);
    assert_eq!(code(&with(&format!("{unknown}{digits}")).get("/api/v2/vcs")), (401, "invalid_api_key".into()));
    assert_eq!(code(&client.get("/api/v3/nowhere?foo=1")), (404, "unknown_route".into()));
    assert_eq!(code(&client.get("/api/v1/startups")), (404, "unknown_route".into()));
    assert_eq!(code(&client.get("/api/v4/vcs")), (404, "unknown_route".into()));
    let post = client.send("POST", "/api/v3/vcs", &[]);
    assert_eq!((code(&post), post.header("allow")), ((405, "method_not_allowed".into()), "GET, HEAD, OPTIONS"));
    let missing = client.get("/api/v3/vcs/no-such-firm-anywhere");
    assert_eq!(code(&missing), (404, "not_found".into()));
    let refused = nobody.get("/api/v3/vcs");
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    assert_eq!((refused.header("x-ratelimit-limit"), refused.header("x-ratelimit-remaining")), ("0", "0"));
    assert!(!refused.text.contains(&key));
}

/// The checksum of a key's 30 random characters, computed independently: CRC-32 in six base62 digits.
fn crc_suffix(key: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut crc = u32::MAX;
    for byte in key.trim_start_matches("vdx_").bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let mut rest = !crc;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[rest as usize % 62];
        rest /= 62;
    }
    String::from_utf8(digits.to_vec()).unwrap()
}

#[test]
fn every_problem_type_links_to_the_docs() {
    let server = Server::bundled();
    let nobody = server.anonymous();
    let docs = nobody.get("/docs/errors");
    assert_eq!(docs.status, 200);
    for path in ["/api/v3/vcs", "/nowhere", "/api/v3/vcs?k=vdx_1"] {
        let kind = nobody.get(path).json()["type"].as_str().unwrap().to_owned();
        let (page, anchor) = kind.split_once('#').unwrap();
        assert_eq!(page, format!("{}/docs/errors", nobody.base));
        assert!(docs.text.contains(&format!("id=\"{anchor}\"")), "{anchor}");
    }
}

#[test]
fn an_empty_list_of_values_is_ignored_in_v1_and_rejected_in_v3() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for query in ["stage=", "stage=,", "stage=%20,%20", "sector=,&q="] {
        assert_eq!(client.get(&format!("/api/v1/vcs?{query}")).json()["pagination"]["total"], 400, "{query}");
        assert_eq!(code(&client.get(&format!("/api/v3/vcs?{query}"))), (400, "invalid_parameter".into()), "{query}");
    }
}
