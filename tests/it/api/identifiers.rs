//! Identifiers of records: read from `identifiers.csv`, shown in records and on pages, filtered by, and never guessed.

use std::fs;

use auth::quota::Tier;
use data::{DiagnosticReport, NoProgress, check};
use tempfile::TempDir;

use crate::support::harness::{Server, catalog_of, code};

const FIRMS: &str = "slug,name\nalder,Alder Capital\nbirch,Birch Fund\ncedar,Cedar Bank\ndunlin,Dunlin Club\n";
const STARTUPS: &str = "slug,name\ntidewick,Tidewick\n";
const PEOPLE: &str = "slug,name,organization_kind,organization\nada,Ada Birchden,firm,alder\n";

fn dataset(identifiers: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [
        ("snapshot.toml", "version = \"2026-11-20\"\n"),
        ("firms.csv", FIRMS),
        ("startups.csv", STARTUPS),
        ("people.csv", PEOPLE),
        ("identifiers.csv", &format!("kind,slug,scheme,value\n{identifiers}")),
    ] {
        fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn problems(identifiers: &str) -> (Vec<String>, Vec<String>) {
    let report: DiagnosticReport = check(dataset(identifiers).path(), &NoProgress);
    (report.errors().map(ToString::to_string).collect(), report.warnings().map(ToString::to_string).collect())
}

#[test]
fn records_show_their_identifiers_and_are_found_by_them() {
    let lines = "firm,alder,LEI,529900t8bm49aursdo55\nfirm,alder,domain,https://www.alder.example/team\nfirm,birch,our-crm,B7\n\
                 startup,tidewick,cik,0000320193\nperson,ada,wikidata,http://www.wikidata.org/entity/Q312\n";
    let server = Server::of(catalog_of(dataset(lines).path()));
    let client = server.client(Tier::Pro);
    let alder = client.get("/api/v3/vcs/alder").json();
    let expected = serde_json::json!([
        {
            "scheme": "lei",
            "value": "529900T8BM49AURSDO55",
            "strength": "strong",
            "url": "https://search.gleif.org/#/record/529900T8BM49AURSDO55"
        },
        { "scheme": "domain", "value": "alder.example", "strength": "medium", "url": "https://alder.example" },
    ]);
    assert_eq!(alder["data"]["identifiers"], expected);
    let birch = client.get("/api/v3/vcs/birch?fields=identifiers").json();
    assert_eq!(birch["data"]["identifiers"][0]["strength"], "weak");
    assert_eq!(client.get("/api/v3/vcs/cedar").json()["data"]["identifiers"], serde_json::json!([]));

    for (path, found) in [
        ("vcs?id=lei:529900T8BM49AURSDO55", "alder"),
        ("vcs?id=LEI:529900t8bm49aursdo55", "alder"),
        ("vcs?id=domain:www.alder.example", "alder"),
        ("vcs?id=our-crm:B7", "birch"),
        ("startups?id=cik:0000320193", "tidewick"),
        ("people?id=wikidata:Q312", "ada"),
    ] {
        let reply = client.get(&format!("/api/v3/{path}")).json();
        assert_eq!(reply["pagination"]["total"], 1, "{path}: {reply}");
        assert_eq!(reply["data"][0]["slug"], found, "{path}");
    }
    let both = client.get("/api/v3/vcs?id=our-crm:B7,domain:alder.example&sort=name").json();
    assert_eq!(both["pagination"]["total"], 2);
    assert_eq!(client.get("/api/v3/vcs?known=id").json()["pagination"]["total"], 2);

    let page = server.client(Tier::Free).get("/vcs/alder").text;
    assert!(page.contains("Legal Entity Identifier") && page.contains("record/529900T8BM49AURSDO55"), "{page}");
    assert!(!server.client(Tier::Free).get("/vcs/cedar").text.contains("id=\"identifiers\""));
}

#[test]
fn a_text_that_is_no_identifier_says_how_to_write_it_and_a_mistyped_one_names_the_nearest() {
    let server = Server::of(catalog_of(dataset("firm,alder,lei,529900T8BM49AURSDO55\nfirm,birch,cik,320193\n").path()));
    let client = server.client(Tier::Pro);
    for (value, detail) in [
        ("529900T8BM49AURSDO55", "has no scheme; write it as `lei:"),
        ("lei:529900T8BM49AURSDO54", "check digits, such as `529900T8BM49AURSDO55`"),
        ("cik:none", "is not a number of 1 to 10 digits, such as `320193`"),
        ("crd:105958", "is not an identifier of this snapshot; use one such as `"),
    ] {
        let reply = client.get(&format!("/api/v3/vcs?id={value}"));
        assert_eq!(code(&reply), (400, "unknown_value".to_owned()), "{value}");
        let error = &reply.json()["errors"][0];
        assert!(error["detail"].as_str().unwrap().contains(detail), "{value}: {error}");
    }
    let reply = client.get("/api/v3/vcs?id=cik:320194").json();
    assert_eq!(reply["errors"][0]["did_you_mean"], "cik:320193");
}

#[test]
fn wrong_identifiers_are_errors_and_doubtful_ones_warnings() {
    let (errors, warnings) =
        problems("firm,alder,lei,5299\nfirm,aldr,cik,1\nfund,alder,cik,1\nfirm,alder,c k,1\nfirm,alder,cik,\n");
    assert_eq!(
        errors,
        [
            "identifiers.csv:2: value: \"5299\" is not an LEI: 20 letters and digits, the last two of which are check digits, \
             such as `529900T8BM49AURSDO55`",
            "identifiers.csv:3: slug: no firm has the slug \"aldr\"; did you mean `alder`?",
            "identifiers.csv:4: kind: \"fund\" is not one of firm, startup, person",
            "identifiers.csv:5: scheme: \"c k\" is not the name of a scheme: letters a-z, digits and `-`",
            "identifiers.csv:6: value: is empty; every row needs a value",
        ]
    );
    assert_eq!(warnings, [""; 0]);
    let (errors, warnings) = problems(
        "firm,alder,cik,1\nfirm,alder,cik,0001\nfirm,birch,cik,1\nfirm,birch,domain,a.example\nfirm,cedar,domain,a.example\n",
    );
    assert_eq!(errors, [""; 0]);
    assert_eq!(
        warnings,
        [
            "identifiers.csv:3: value: \"1\" is already in line 2; remove one",
            "identifiers.csv:4: value: \"1\" identifies one record only, and is also in line 2; merge the records or remove one",
        ]
    );
}

#[test]
fn a_value_of_more_than_three_unlike_names_is_a_placeholder() {
    let firms = ["alder", "birch", "cedar", "dunlin"];
    let lines =
        |firms: &[&str]| -> String { firms.iter().map(|firm| format!("firm,{firm},uei,ZQGGHJH74DW7\n")).collect() };
    let (errors, warnings) = problems(&lines(&firms));
    assert_eq!(errors, [""; 0]);
    assert_eq!(
        warnings,
        [
            "identifiers.csv:2: value: \"ZQGGHJH74DW7\" is carried by 4 records of unlike names: it is taken for a placeholder \
          and left out; remove it"
        ]
    );
    let server = Server::of(catalog_of(dataset(&lines(&firms)).path()));
    let client = server.client(Tier::Pro);
    assert_eq!(client.get("/api/v3/vcs/alder").json()["data"]["identifiers"], serde_json::json!([]));
    let server = Server::of(catalog_of(dataset(&lines(&firms[..3])).path()));
    assert_eq!(server.client(Tier::Pro).get("/api/v3/vcs?id=uei:ZQGGHJH74DW7").json()["pagination"]["total"], 3);
}
