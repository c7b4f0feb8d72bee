//! Rejected requests: all errors are reported at once, with suggestions.

use auth::quota::Tier;

use crate::support::harness::{Server, code};

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
