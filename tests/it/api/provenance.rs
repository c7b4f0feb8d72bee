//! Where values are from: sources with their licenses, statements about records, and records that were merged.

use std::fs;
use std::path::Path;

use auth::quota::Tier;
use data::{NoProgress, check};
use mcp::Tool;
use release::ReleaseStore;
use serde_json::{Value, json};
use tempfile::TempDir;
use venturedex::cli::indexer::IndexerExit;

use crate::mcp::tools::TestTools;
use crate::support::harness::{Client, Server, agent_without_redirects, catalog_of, code};

const FILES: [(&str, &str); 8] = [
    ("snapshot.toml", "version = \"2026-11-20\"\n"),
    (
        "firms.csv",
        "slug,name,aliases,country,check_min_usd\nalder,Alder Capital,Alder|AC,DE,100000\nbirch,Birch Fund,,,\n",
    ),
    ("startups.csv", "slug,name,website\ntidewick,Tidewick,https://tidewick.example\n"),
    ("funding_rounds.csv", "id,startup,stage,amount_usd,investors\nr1,tidewick,seed,500000,alder|birch\n"),
    ("people.csv", "slug,name,organization_kind,organization\nada,Ada Birchden,firm,alder\n"),
    ("identifiers.csv", "kind,slug,scheme,value\nfirm,alder,cik,320193\n"),
    (
        "sources.csv",
        "id,title,license,url,priority,imported_on\nregister,A register,CC0-1.0,https://register.example,20,2026-11-19\n\
         crm,Our CRM,LicenseRef-Internal,,,\n",
    ),
    (
        "provenance.csv",
        "kind,slug,field,value,original,source,source_key,first_seen,last_seen\n\
         firm,alder,name,Alder Capital,ALDER CAPITAL LLC,register,320193,2026-01-02,2026-11-19\n\
         firm,alder,name,Alder,,crm,7,,\n\
         firm,alder,aliases,AC,,crm,7,,\n\
         firm,alder,country,DE,Germany,crm,7,,\n\
         firm,alder,check_min_usd,100000,,crm,7,,\n\
         firm,alder,id:cik,320193,,register,320193,,\n\
         round,r1,investors,alder,,crm,9,,\n\
         round,r1,startup,tidewick,,crm,9,,\n\
         person,ada,organization,birch,,crm,3,,\n",
    ),
];

fn dataset(changes: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in FILES.iter().chain(changes) {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn errors(changes: &[(&str, &str)]) -> Vec<String> {
    check(dataset(changes).path(), &NoProgress).errors().map(ToString::to_string).collect()
}

/// Field, value, source and use of each statement.
fn statements(reply: &Value) -> Vec<String> {
    let data = reply["included"]["provenance"]["data"].as_array().unwrap();
    assert_eq!(reply["included"]["provenance"]["total"], data.len());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    data.iter().map(|item| ["field", "value", "source", "used"].map(|name| text(&item[name])).join(" ")).collect()
}

#[test]
fn a_record_tells_which_source_says_what() {
    let server = Server::of(catalog_of(dataset(&[]).path()));
    let client = server.client(Tier::Pro);
    let alder = client.get("/api/v3/vcs/alder?include=sources,provenance").json();
    assert_eq!(
        statements(&alder),
        [
            "name Alder Capital register true",
            "name Alder crm false",
            "aliases AC crm true",
            "country DE crm true",
            "check_min_usd 100000 crm true",
            "id:cik 320193 register true",
        ]
    );
    assert_eq!(
        alder["included"]["provenance"]["data"][0],
        json!({
            "field": "name", "value": "Alder Capital", "used": true, "original": "ALDER CAPITAL LLC", "source": "register",
            "source_key": "320193", "license": "CC0-1.0", "first_seen": "2026-01-02", "last_seen": "2026-11-19",
        })
    );
    let register = json!({
        "id": "register", "title": "A register", "license": "CC0-1.0", "url": "https://register.example", "priority": 20,
        "imported_on": "2026-11-19",
    });
    let crm = json!({
        "id": "crm", "title": "Our CRM", "license": "LicenseRef-Internal", "url": null, "priority": null, "imported_on": null,
    });
    assert_eq!(alder["included"]["sources"], json!({ "total": 2, "data": [register, crm] }));
    for (path, expected) in [
        ("vcs/birch", vec![]),
        ("funding-rounds/r1", vec!["investors alder crm true", "startup tidewick crm true"]),
        ("people/ada", vec!["organization birch crm false"]),
        ("startups/tidewick", vec![]),
    ] {
        assert_eq!(statements(&client.get(&format!("/api/v3/{path}?include=provenance")).json()), expected, "{path}");
    }
    assert!(client.get("/api/v3/vcs/alder").json().get("included").is_none());
    assert_eq!(client.get("/api/v3/stats").json()["data"]["sources"], json!([register, crm]));
    let page = server.client(Tier::Free).get("/vcs/alder").text;
    assert!(page.contains("LicenseRef-Internal") && page.contains("not used"), "{page}");
    assert!(!server.client(Tier::Free).get("/vcs/birch").text.contains("Where each value is from"));
}

#[test]
fn the_manifest_names_sources_and_licenses() {
    let (folder, index) = (dataset(&[]), tempfile::tempdir().unwrap());
    let arguments =
        ["indexer", "build", "--dataset", folder.path().to_str().unwrap(), "--index", index.path().to_str().unwrap()];
    let now = time::OffsetDateTime::UNIX_EPOCH;
    assert_eq!(venturedex::cli::indexer::run(arguments.map(Into::into), now), IndexerExit::Success);
    let manifest: Value =
        serde_json::from_slice(&fs::read(index.path().join("2026-11-20.1/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["sources"][1]["license"], "LicenseRef-Internal");
    assert!(ReleaseStore::at(Path::new(index.path())).open("2026-11-20.1".parse().unwrap()).is_ok());
}

#[test]
fn a_merged_slug_answers_301_and_tools_and_filters_follow_it_with_a_note() {
    let redirects =
        [("redirects.csv", "kind,slug,target\nfirm,alder-old,alder\nstartup,tide,tidewick\nround,R-0,r1\n")];
    let server = Server::of(catalog_of(dataset(&redirects).path()));
    let client = Client { agent: agent_without_redirects(), ..server.client(Tier::Pro) };
    for (path, target) in [
        ("/api/v3/vcs/alder-old?fields=slug", "/api/v3/vcs/alder?fields=slug"),
        ("/api/v1/vcs/alder-old", "/api/v1/vcs/alder"),
        ("/api/v3/vcs/Alder-Old/portfolio", "/api/v3/vcs/alder/portfolio"),
        ("/api/v3/startups/tide", "/api/v3/startups/tidewick"),
        ("/api/v3/funding-rounds/R-0", "/api/v3/funding-rounds/r1"),
        ("/vcs/alder-old", "/vcs/alder"),
        ("/vcs/alder-old/reviews?page=1", "/vcs/alder/reviews?page=1"),
        ("/startups/tide", "/startups/tidewick"),
    ] {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.header("location")), (301, target), "{path}: {}", reply.text);
    }
    let moved = client.get("/api/v3/vcs/alder-old");
    assert_eq!(code(&moved), (301, "moved".to_owned()));
    assert_eq!(moved.json()["did_you_mean"], json!(["alder"]));
    for query in ["vcs?slug=alder-old", "startups?investor=alder-old", "people?organization=alder-old"] {
        let reply = client.get(&format!("/api/v3/{query}")).json();
        assert_eq!(reply["pagination"]["total"], 1, "{query}: {reply}");
        let note = reply["meta"]["warnings"][0]["detail"].as_str().unwrap_or_default();
        assert_eq!(note, "`alder-old` was merged into `alder`; use this slug", "{query}: {reply}");
    }
    let profile = TestTools::of(catalog_of(dataset(&redirects).path()))
        .call(Tool::GetVcProfile, &json!({ "slug": "alder-old" }))
        .unwrap();
    assert_eq!(profile["profile"]["slug"], "alder");
    assert_eq!(profile["notes"], json!(["`alder-old` was merged into `alder`; use this slug"]));
}

#[test]
fn a_record_that_is_gone_answers_410_with_its_last_name() {
    let gone = [("gone.csv", "kind,slug,name\nfirm,elder,Elder & Sons\nperson,ann,\nstartup,eldest,Eldest\n")];
    let server = Server::of(catalog_of(dataset(&gone).path()));
    let client = server.client(Tier::Pro);
    for (path, status, text) in [
        ("/api/v3/vcs/elder", 410, "the firm `elder`, Elder & Sons, is no longer in the data"),
        ("/api/v3/vcs/Elder/portfolio", 410, "Elder & Sons"),
        ("/api/v3/people/ann", 410, "the person `ann` is no longer in the data"),
        ("/api/v1/vcs/elder", 404, "the firm `elder`, Elder & Sons, is no longer in the data"),
        ("/vcs/elder", 410, "Elder &#38; Sons, is no longer in the data"),
        ("/startups/eldest", 410, "Eldest"),
        ("/api/v3/vcs/elde", 404, "no firm has the slug `elde`"),
    ] {
        let reply = client.get(path);
        assert_eq!(reply.status, status, "{path}: {}", reply.text);
        assert!(reply.text.contains(text), "{path}: {}", reply.text);
    }
    assert_eq!(code(&client.get("/api/v3/vcs/elder")), (410, "gone".to_owned()));
    let errors = errors(&[("gone.csv", "kind,slug,name\nfirm,birch,Birch\nfirm,x,\nfirm,x,\nround,r1,\n")]);
    let places: Vec<&str> = errors.iter().map(|error| error.split(": ").next().unwrap()).collect();
    assert_eq!(places, ["gone.csv:2", "gone.csv:4", "gone.csv:5"], "{errors:?}");
}

#[test]
fn files_about_records_are_checked() {
    let errors = errors(&[
        (
            "redirects.csv",
            "kind,slug,target\nfirm,birch,alder\nfirm,old,nobody\nfirm,o,alder\nfirm,o,birch\nreview,r0,r1\n",
        ),
        ("sources.csv", "id,title,license,priority,imported_on\nregister,A,CC0-1.0,high,2026\ncrm,B,,,\n"),
        (
            "provenance.csv",
            "kind,slug,field,value,source\nfirm,alder,name,Alder,registry\nround,r9,stage,seed,register\nfund,alder,name,A,crm\n",
        ),
    ]);
    assert_eq!(
        errors,
        [
            "redirects.csv:2: slug: \"birch\" is the slug of a firm; remove the line or the record",
            "redirects.csv:3: target: no firm has the slug \"nobody\"",
            "redirects.csv:5: slug: \"o\" is already redirected in line 4",
            "redirects.csv:6: kind: \"review\" is not one of firm, startup, round, person",
            "sources.csv:2: priority: \"high\" is not a whole number from 0",
            "sources.csv:2: imported_on: \"2026\" is not a date of the form YYYY-MM-DD, such as 2026-06-30",
            "sources.csv:3: license: is empty; every row needs a value",
            "provenance.csv:2: source: no source has the slug \"registry\"",
            "provenance.csv:3: slug: no funding round has the slug \"r9\"; did you mean `r1`?",
            "provenance.csv:4: kind: \"fund\" is not one of firm, startup, round, person",
        ]
    );
}
