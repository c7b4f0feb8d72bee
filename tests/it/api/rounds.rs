//! An amount far above those of its stage is shown as suspect, and left out of sums, orders and bounds.

use std::fs;

use auth::quota::Tier;
use mcp::Tool;
use serde_json::json;

use crate::mcp::tools::TestTools;
use crate::support::harness::{Server, catalog_of};

#[test]
fn an_amount_far_above_its_stage_is_suspect_and_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let rounds: String = (0..200_u64)
        .map(|round| {
            let amount = if round == 7 { 3_000_000_000 } else { 1_000_000 + round };
            format!("r{round},s{},seed,{amount},2024-01-01,alder\n", round % 10)
        })
        .collect();
    let startups: String = (0..10).map(|startup| format!("s{startup},Startup {startup}\n")).collect();
    for (file, text) in [
        ("snapshot.toml", "version = \"2026-11-20\"\n".to_owned()),
        ("firms.csv", "slug,name\nalder,Alder\n".to_owned()),
        ("startups.csv", format!("slug,name\n{startups}")),
        ("funding_rounds.csv", format!("id,startup,stage,amount_usd,announced_on,investors\n{rounds}")),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    let server = Server::of(catalog_of(folder.path()));
    let client = server.client(Tier::Pro);
    let get = |path: &str| client.get(&format!("/api/v3/{path}")).json();

    let round = get("funding-rounds/r7");
    assert_eq!((&round["data"]["suspect"], &round["data"]["amount_usd"]), (&json!(true), &json!(3_000_000_000_u64)));
    assert_eq!(get("funding-rounds/r8")["data"]["suspect"], false);
    let credible: u64 = (0..200).filter(|round| *round != 7).map(|round| 1_000_000 + round).sum();
    assert_eq!(get("stats")["data"]["total_raised_usd"], credible);
    let of_startup: u64 =
        (0..20).map(|nth| 7 + nth * 10).filter(|round| *round != 7).map(|round| 1_000_000 + round).sum();
    assert_eq!(get("startups/s7")["data"]["total_raised_usd"], of_startup);
    // The largest are first, and what is not credible is last.
    assert_eq!(get("funding-rounds?sort=-amount_usd&limit=1")["data"][0]["id"], "r199");
    let last =
        get("funding-rounds?sort=-amount_usd&limit=100")["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    assert_eq!(get(&format!("funding-rounds?limit=100&cursor={last}"))["data"][99]["id"], "r7");
    assert_eq!(get("funding-rounds?min_amount_usd=5000000")["pagination"]["total"], 0);
    let result =
        TestTools::of(catalog_of(folder.path())).call(Tool::GetFundingRounds, &json!({ "limit": 50 })).unwrap();
    assert_eq!(result["amounts"]["sum_usd"], credible);
    assert_eq!(result["amounts"]["unknown"], 1);

    let listed = get("funding-rounds?suspect=true");
    assert_eq!(listed["data"].as_array().unwrap().iter().map(|round| &round["id"]).collect::<Vec<_>>(), ["r7"]);
    assert_eq!(get("funding-rounds?suspect=false")["pagination"]["total"], 199);

    // Where amounts count, it is named.
    let note = "a suspect amount is left out of sums, bounds and orders: $3,000,000,000 (`r7`)";
    assert!(result["notes"].to_string().contains(note), "{result}");
    let warned = |path: &str| get(path)["meta"]["warnings"].to_string().contains(note);
    for path in [
        "funding-rounds?sort=-amount_usd",
        "funding-rounds?min_amount_usd=5000000",
        "funding-rounds?amounts=true&startup=s7",
        "funding-rounds/aggregate?group_by=stage",
    ] {
        assert!(warned(path), "{path}");
    }
    for path in ["funding-rounds", "funding-rounds?sort=-amount_usd&startup=s8", "funding-rounds?sort=announced_on"] {
        assert!(!warned(path), "{path}");
    }

    let note = "a suspect amount is left out of `total_raised_usd`: $3,000,000,000 (`r7`)";
    let warned = |path: &str| get(path)["meta"]["warnings"].to_string().contains(note);
    for path in ["startups?min_raised_usd=30000000", "startups?sort=-total_raised_usd"] {
        assert!(warned(path), "{path}");
    }
    for path in ["startups", "startups?sort=-total_raised_usd&country=DE", "startups?sort=name"] {
        assert!(!warned(path), "{path}");
    }

    let page = server.client(Tier::Free).get("/startups/s7").text;
    assert!(page.contains("<span class=\"chip\">suspect</span>"), "{page}");
    let page = server.client(Tier::Free).get("/data").text;
    assert!(page.contains("The amount of 1 round is suspect"), "{page}");
}
