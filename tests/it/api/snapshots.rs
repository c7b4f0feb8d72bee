//! Every path in every version as it is answered: status, headers and body.

use std::collections::BTreeSet;

use auth::quota::Tier;

use crate::support::harness::{Client, Reply, Server};

/// Paths with their queries, of all versions.
const ALL: [&str; 5] =
    ["vcs?limit=2&stage=seed", "vcs/alder-capital", "reviews?limit=2", "sectors?limit=2", "leaderboard?limit=2"];
/// Those that v3 has besides.
const FURTHER: [&str; 34] = [
    "vcs?q=alder+capital&fields=slug,name,score.value&limit=1",
    "vcs/facets?country=DE&fields=total,stage,country",
    "vcs/aggregate?group_by=kind&limit=2",
    "startups/aggregate?group_by=status&country=DE",
    "funding-rounds/aggregate?group_by=year,lead&limit=2",
    "people/aggregate?group_by=role&limit=2",
    "reviews/aggregate?group_by=rating",
    "vcs/alder-capital/reviews?limit=1",
    "vcs/alder-capital/portfolio?limit=1",
    "vcs/alder-capital/rounds?limit=1",
    "vcs/alder-capital/people?limit=1",
    "vcs/alder-capital/co-investors?limit=2",
    "startups?limit=1",
    "startups/{startup}",
    "funding-rounds?limit=1",
    "funding-rounds/r-0000001",
    "reviews/rv-0000001",
    "sectors/fintech",
    "vcs/alder-capital?include=score_by_year,people&fields=slug",
    "stats?snapshot=2020-01-01.1",
    "people?limit=2",
    "people/{person}",
    "match?stage=seed&sector=fintech&country=DE&raise_usd=2000000&limit=2",
    "stats",
    "snapshots",
    "suggest?q=alder&limit=2&fields=kind,slug,name",
    "ask?q=payments+startups+in+London+that+raised+a+seed+round&limit=1&fields=kind,list,why,interpreted,unread,url,total",
    "resolve?name=alder+capitl&country=US&limit=1",
    "usage",
    "saved",
    "alerts?limit=1",
    "changes?from=2020-01-01.1",
    "startups?limit=1&sort=name&fields=slug,rounds.stage",
    "leaderboard?limit=2&metric=activity&fields=slug,rank,rankValue",
];
/// What goes wrong, in each version.
const WRONG: [&str; 6] = [
    "vcs?secter=fintech&limit=1",
    "vcs?stage=sede",
    "vcs?limit=0",
    "vcs/aldr-capitol",
    "reviews/1",
    "vcs?limit=500&fields=slug",
];

/// The answer as text, without what differs from run to run.
fn shown(reply: &Reply, base: &str) -> String {
    let mut headers: Vec<String> = reply
        .headers
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "date" | "content-length"))
        .map(|(name, value)| {
            let value = value.to_str().unwrap();
            let value = match name.as_str() {
                "x-request-id" | "x-ratelimit-reset" | "etag" => "…",
                "ratelimit" => value.split("t=").next().unwrap(),
                _ => value,
            };
            format!("{name}: {value}")
        })
        .collect();
    headers.sort_unstable();
    let text = format!("{}\n{}\n\n{}\n", reply.status, headers.join("\n"), reply.text.replace("},{", "},\n{"));
    let mut text = text.replace(base, "http://here");
    for (before, after) in
        [("\"request_id\":\"", "\""), ("\"next_cursor\":\"", "\""), ("cursor=", ">"), ("\"resets_at\":\"", "\"")]
    {
        text = without(&text, before, after);
    }
    text
}

/// The text with each stretch between `before` and `after` left out.
fn without(text: &str, before: &str, after: &str) -> String {
    let mut parts = text.split(before);
    let mut kept = parts.next().unwrap().to_owned();
    for part in parts {
        kept.push_str(before);
        kept.push('…');
        kept.push_str(&part[part.find(after).unwrap()..]);
    }
    kept
}

fn name_of(version: &str, path: &str) -> String {
    let plain: String = path.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
    format!("{version}-{plain}")
}

fn compare(server: &Server, version: &str, path: &str, client: &Client) {
    let catalog = server.state.releases.current();
    let slug = |table| catalog.snapshot().slug(table, 0);
    let asked = path.replace("{startup}", slug(data::Table::Startups)).replace("{person}", slug(data::Table::People));
    let reply = client.send("GET", &format!("/api/{version}/{asked}"), &[("accept-encoding", "identity")]);
    let name = name_of(version, if client.key.is_some() { path } else { "without a key" });
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, description => path }, {
        insta::assert_snapshot!(name, shown(&reply, &client.base));
    });
}

#[test]
fn every_path_is_answered_as_it_was_before() {
    let server = Server::bundled();
    for version in ["v1", "v2", "v3"] {
        ALL.iter().chain(&WRONG).for_each(|path| compare(&server, version, path, &server.client(Tier::Pro)));
        compare(&server, version, "vcs", &server.anonymous());
    }
    let saver = server.account_client(Tier::Pro);
    for path in FURTHER {
        let is_of_account = path.starts_with("saved") || path.starts_with("alerts");
        let client = if is_of_account { saver.clone() } else { server.client(Tier::Pro) };
        compare(&server, "v3", path, &client);
    }
}

#[test]
fn no_path_is_without_its_snapshot() {
    let server = Server::bundled();
    let detail = server.client(Tier::Pro).get("/api/v3/zzqx").json()["detail"].as_str().unwrap().to_owned();
    let paths = detail.split("it has ").nth(1).unwrap();
    let paths: BTreeSet<&str> = paths.split(", ").collect();
    assert!(paths.len() > 15, "{paths:?}");
    let shot: BTreeSet<String> = ALL
        .iter()
        .chain(&FURTHER)
        .map(|path| {
            let path = path.split('?').next().unwrap();
            let parts = path.split('/').enumerate().map(|(place, part)| match (place, part) {
                (0, _) | (1, "facets" | "aggregate") | (2, _) => part,
                _ => "{slug}",
            });
            let path = parts.collect::<Vec<_>>().join("/");
            match path.as_str() {
                "funding-rounds/{slug}" | "reviews/{slug}" => path.replace("slug", "id"),
                _ => path,
            }
        })
        .collect();
    let missing: Vec<&&str> = paths.iter().filter(|path| !shot.contains(**path)).collect();
    assert!(missing.is_empty(), "add a request for {missing:?}");
}
