//! One budget at every door: whatever the limits of the tiers, a key yields more than no key, and a higher tier more than a lower.

use auth::quota::{LimitChoice, NETWORK_MULTIPLE, Tier, Tiers};
use proptest::prelude::*;
use serde_json::json;

use crate::support::harness::{Client, Reply, Server};

/// A door for programs: the request with a number, and the records of a response.
struct Door {
    name: &'static str,
    send: fn(&Client, usize, &str) -> Reply,
    records: fn(&Reply) -> usize,
}

fn get(client: &Client, path: &str, address: &str) -> Reply {
    client.send("GET", path, &[("x-forwarded-for", address)])
}

const DOORS: [Door; 8] = [
    Door {
        name: "a list as JSON",
        send: |client, number, address| {
            get(client, &format!("/vcs.json?per_page=100&page={}", number % 3 + 1), address)
        },
        records: |reply| reply.json()["data"].as_array().unwrap().len(),
    },
    Door {
        name: "a list as Markdown",
        send: |client, number, address| {
            get(client, &format!("/startups.md?per_page=100&page={}", number % 3 + 1), address)
        },
        records: |reply| reply.text.lines().filter(|line| line.starts_with("| ")).count() - 2,
    },
    Door {
        name: "a list as CSV",
        send: |client, _, address| get(client, "/vcs.csv", address),
        records: |reply| reply.text.lines().count() - 1,
    },
    Door {
        name: "a record as JSON",
        send: |client, _, address| get(client, "/vcs/alder-capital.json", address),
        records: |_| 1,
    },
    Door {
        name: "a feed",
        send: |client, _, address| get(client, "/rounds.atom", address),
        records: |reply| reply.text.matches("<entry>").count(),
    },
    Door {
        name: "reconciliation",
        send: |client, _, address| {
            let query = json!({ "q0": { "query": "Alder Capital" }, "q1": { "query": "Kestrelfold" } });
            let form: String =
                form_urlencoded::Serializer::new(String::new()).append_pair("queries", &query.to_string()).finish();
            get(client, &format!("/reconcile?{form}"), address)
        },
        records: |reply| reply.json().as_object().unwrap().len(),
    },
    Door {
        name: "profiles",
        send: |client, _, address| {
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read",
                "params": { "uri": "venturedex://vcs/alder-capital" } });
            client.post_with("/api/mcp", &call.to_string(), &[("x-forwarded-for", address)])
        },
        records: |_| 1,
    },
    Door {
        name: "tool calls",
        send: |client, _, address| {
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": "search_vcs", "arguments": { "limit": 50, "fields": ["name"] } } });
            client.post_with("/api/mcp", &call.to_string(), &[("x-forwarded-for", address)])
        },
        records: |reply| reply.json()["result"]["structuredContent"]["items"].as_array().unwrap().len(),
    },
];

/// Records until each of the addresses is refused, at most as many as `requests` give.
fn drain(door: &Door, client: &Client, addresses: &[String], requests: u32) -> usize {
    let mut records = 0;
    for address in addresses {
        for number in 0..=requests as usize {
            let reply = (door.send)(client, number, address);
            if reply.status == 429 {
                assert_ne!(reply.header("retry-after"), "", "{}: {}", door.name, reply.text);
                break;
            }
            assert_eq!(reply.status, 200, "{}: {}", door.name, reply.text);
            assert!(number < requests as usize, "{}: no limit after {requests} requests", door.name);
            records += (door.records)(&reply);
        }
    }
    records
}

fn addresses(network: u8, count: u8) -> Vec<String> {
    (1..=count).map(|host| format!("198.51.{network}.{host}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn a_key_yields_more_than_no_key_at_every_door(anonymous in 1_u32..4, above in 1_u32..4, pro in 1_u32..9) {
        let free = NETWORK_MULTIPLE * anonymous + above;
        let chosen = |requests: u32| LimitChoice { requests: Some(Some(requests)), keys: None };
        let tiers = Tiers::new([chosen(free), chosen(free + pro), LimitChoice::default()], (Some(anonymous), None)).unwrap();
        let server = Server::with_tiers(tiers);
        let stranger = server.anonymous();
        for (door, number) in DOORS.iter().zip(0_u8..) {
            let of_one = drain(door, &stranger, &addresses(number, 1), 200);
            let of_network = drain(door, &stranger, &addresses(100 + number, 30), 200);
            let [of_free, of_pro] =
                [Tier::Free, Tier::Pro].map(|tier| drain(door, &server.client(tier), &addresses(number, 1), free + pro + 1));
            prop_assert!(
                0 < of_one && of_one <= of_network && of_network < of_free && of_free < of_pro,
                "{}: {of_one}, {of_network}, {of_free}, {of_pro} records with {anonymous}, {free} and {} requests",
                door.name,
                free + pro
            );
        }
    }
}

#[test]
fn the_doors_share_what_an_address_has_without_a_key() {
    let server = Server::with_tiers(Tiers::default());
    let client = server.anonymous();
    let address = "203.0.113.9";
    let limits = |reply: &Reply| {
        ["x-ratelimit-limit", "x-ratelimit-remaining", "x-request-cost"].map(|name| reply.header(name).to_owned())
    };
    assert_eq!(limits(&get(&client, "/vcs.json", address)), ["40", "39", "1"]);
    assert_eq!(limits(&get(&client, "/rounds.atom", address)), ["40", "38", "1"]);
    // 25 names are three requests.
    let names: Vec<String> = (0..25).map(|number| format!("\"q{number}\":{{\"query\":\"Alder\"}}")).collect();
    let form: String = form_urlencoded::Serializer::new(String::new())
        .append_pair("queries", &format!("{{{}}}", names.join(",")))
        .finish();
    assert_eq!(limits(&get(&client, &format!("/reconcile?{form}"), address)), ["40", "35", "3"]);
    // The 35 that are left are 87 tool calls, each of at least two fifths of a request.
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_platform_stats","arguments":{}}}"#;
    let headers = [("x-forwarded-for", address)];
    let called = client.post_with("/api/mcp", call, &headers);
    assert_eq!((called.status, called.header("x-ratelimit-remaining")), (200, "86"));
    // What nobody gets anything of costs nothing: the manifest, what has not changed, errors.
    let etag = get(&client, "/rounds.atom", address).header("etag").to_owned();
    for (path, status) in
        [("/reconcile", 200), ("/vcs/no-such-firm.json", 404), ("/vcs.json?stage=x", 200), ("/releases.atom", 200)]
    {
        let reply = get(&client, path, address);
        assert!(reply.status == status || reply.status == 400, "{path}: {}", reply.text);
    }
    let unchanged = client.send("GET", "/rounds.atom", &[("x-forwarded-for", address), ("if-none-match", &etag)]);
    assert_eq!((unchanged.status, unchanged.header("x-request-cost")), (304, "0"));
    while get(&client, "/vcs/alder-capital.json", address).status == 200 {}
    let refused = get(&client, "/vcs/alder-capital.json", address);
    assert_eq!((refused.status, refused.json()["code"].as_str()), (429, Some("quota_exceeded")), "{}", refused.text);
    assert!(refused.text.contains("40 requests a day for each address and 80 for its network"), "{}", refused.text);
    assert!(refused.text.contains("/account") && refused.header("retry-after").parse::<u32>().unwrap() > 60);
    let many =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_vcs","arguments":{"limit":50}}}"#;
    let refused = client.post_with("/api/mcp", many, &headers);
    assert_eq!((refused.status, refused.header("x-ratelimit-remaining")), (429, "0"), "{}", refused.text);
    assert!(refused.header("retry-after").parse::<u32>().unwrap() > 60);
    // People read on, and a key has its own quota.
    assert_eq!(get(&client, "/vcs?per_page=100", address).status, 200);
    let keyed = server.client(Tier::Free);
    assert_eq!(limits(&get(&keyed, "/vcs.json", address)), ["100", "99", "1"]);
    assert_eq!(keyed.get("/api/v3/vcs?limit=1").header("x-ratelimit-remaining"), "98");
    let wrong = client.send("GET", "/vcs.json", &[("authorization", "Bearer vdx_wrong")]);
    assert_eq!((wrong.status, wrong.header("www-authenticate")), (401, "Bearer"));
}

#[test]
fn a_person_who_reads_all_day_is_not_refused_and_a_crawler_is() {
    let server = Server::with_tiers(Tiers::default());
    let client = server.anonymous();
    let reads = |address: &str, path: &str, times: usize| {
        (0..times).take_while(|_| get(&client, path, address).status == 200).count()
    };
    // Every two minutes for ten hours, with searches that are typed letter by letter.
    assert_eq!(reads("203.0.113.1", "/vcs/alder-capital", 200), 200);
    assert_eq!(reads("203.0.113.1", "/startups", 100), 100);
    assert_eq!(reads("203.0.113.1", "/suggest?q=al", 400), 400);
    assert_eq!(reads("203.0.113.2", "/startups?per_page=100", 500), 400);
    let refused = client.send("GET", "/startups", &[("x-forwarded-for", "203.0.113.2"), ("accept", "text/html")]);
    assert!(refused.status == 429 && refused.text.starts_with("<!"), "{}", refused.text);
    assert!(refused.header("retry-after").parse::<u32>().unwrap() > 60);
    // The docs and what is no record are read still.
    assert_eq!(get(&client, "/docs/limits", "203.0.113.2").status, 200);
    // Names end before they are as many as a free key completes.
    assert_eq!(reads("198.51.100.3", "/suggest?q=al", 600), 500);
}

#[test]
fn few_errors_of_a_caller_do_not_count() {
    let server = Server::with_tiers(Tiers::default());
    let client = server.client(Tier::Free);
    let remaining = |path: &str| client.get(path).header("x-ratelimit-remaining").to_owned();
    assert_eq!(remaining("/api/v3/vcs?limit=1"), "99");
    let errors = ["/api/v3/vcs/no-such-firm", "/api/v3/vcs?stag=seed", "/api/v3/nowhere", "/api/v3/vcs.csv?fields=x"];
    for number in 0..10 {
        assert_eq!(remaining(errors[number % errors.len()]), "99", "error {number}");
    }
    assert_eq!(remaining(errors[0]), "98", "the eleventh");
    assert_eq!(remaining("/api/v3/vcs?limit=1"), "97");
}

#[test]
fn the_limits_that_an_operator_set_are_those_of_usage_docs_and_keys() {
    let chosen = |requests, keys| LimitChoice { requests: Some(requests), keys: Some(keys) };
    let chosen = [chosen(Some(7), Some(2)), chosen(Some(70), Some(4)), chosen(None, None)];
    let server = Server::with_tiers(Tiers::new(chosen, (Some(3), Some(3_000))).unwrap());
    let client = server.account_client(Tier::Free);
    let usage = client.get("/api/v3/usage").json()["data"].clone();
    assert_eq!((&usage["limit"], &usage["keys"]), (&json!(7), &json!(2)));
    let tiers = json!([
        { "name": "anonymous", "requests": 3, "keys": 0 },
        { "name": "free", "requests": 7, "keys": 2 },
        { "name": "pro", "requests": 70, "keys": 4 },
        { "name": "enterprise", "requests": null, "keys": null },
    ]);
    assert_eq!(usage["tiers"], tiers);
    for number in (0..7).rev() {
        assert_eq!(client.get("/api/v3/vcs?limit=1").header("x-ratelimit-remaining"), number.to_string());
    }
    assert_eq!(client.get("/api/v3/vcs?limit=1").status, 429);
    let text = server.anonymous().get("/docs/limits").text;
    for row in
        ["<td>free</td><td>7</td><td>2</td>", "<td>pro</td><td>70</td><td>4</td>", "3 requests a day", "3,000 rows"]
    {
        assert!(text.contains(row), "{row}");
    }
    assert!(server.anonymous().get("/docs/contract.txt").text.contains("free | 7 | 2"));
    let account = server.state.auth.store().accounts().unwrap()[0].id;
    let key = |name: &str| {
        let key = auth::ApiKey::generate().unwrap();
        server.state.auth.store().create_key(account, &name.parse().unwrap(), &key, None, crate::support::harness::NOON)
    };
    assert!(key("second").is_ok());
    assert!(key("third").unwrap_err().to_string().contains("2 active keys, the maximum of the free tier"));
}
