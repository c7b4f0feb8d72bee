//! Roles of one person: records under one name, and why they are related.

use std::collections::BTreeMap;
use std::fs;

use auth::quota::Tier;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::harness::{Server, catalog_of, copy_as};

/// The small dataset with more people, of whom some have one name.
pub fn with_namesakes() -> TempDir {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small");
    let copy = copy_as(&folder, "2026-11-20.1");
    let place = copy.path().join("people.csv");
    let more = "zoe-one,Zoë Ortiz,Partner,firm,birch-lane,\n\
                zoe-two,Zoe ORTIZ,Chair,firm,birch-lane,DE\n\
                zoe-three,Zoe Ortiz,Director,startup,quillbank,\n\
                zoe-four,Zoe Ortiz,Angel,firm,zoe-angels,FR\n\
                zoe-five,Zoe Ortiz,,startup,mossworks,\n\
                zoe-other,Zoe Ortega,Analyst,firm,birch-lane,DE\n";
    fs::write(&place, fs::read_to_string(&place).unwrap() + more).unwrap();
    let place = copy.path().join("startups.csv");
    let more = "lone,Lone,,,,DE,Berlin,,,,\n";
    fs::write(&place, fs::read_to_string(&place).unwrap() + more).unwrap();
    let place = copy.path().join("people.csv");
    let more = "zoe-six,Zoe Ortiz,CTO,startup,lone,\n";
    fs::write(&place, fs::read_to_string(&place).unwrap() + more).unwrap();
    copy
}

#[test]
fn roles_under_one_name_are_related_with_a_reason() {
    let folder = with_namesakes();
    let server = Server::of(catalog_of(folder.path()));
    let client = server.client(Tier::Enterprise);
    let related = |slug: &str, list: &str| -> BTreeMap<String, (String, String)> {
        let reply = client.get(&format!("/api/v3/people/{slug}")).json();
        let list = &reply["included"][list];
        assert_eq!(list["total"], list["data"].as_array().unwrap().len());
        let text = |role: &Value, name: &str| role[name].as_str().unwrap().to_owned();
        let rows = list["data"].as_array().unwrap().iter();
        rows.map(|role| (text(role, "slug"), (text(role, "reason"), text(role, "detail")))).collect()
    };
    let of = |entries: &[(&str, &str, &str)]| -> BTreeMap<String, (String, String)> {
        entries.iter().map(|(slug, reason, detail)| ((*slug).into(), ((*reason).into(), (*detail).into()))).collect()
    };
    // Birch Lane invested in Quillbank, and in Kettlepay together with Zoë Angels; it has nothing to do with Mossworks.
    assert_eq!(
        related("zoe-one", "other_roles"),
        of(&[
            ("zoe-two", "organization", "both at Birch Lane Capital"),
            ("zoe-three", "round", "Birch Lane Capital invested in Quillbank"),
            ("zoe-four", "round", "Birch Lane Capital and Zoë Angels joined a round of KettlePay"),
        ])
    );
    assert_eq!(related("zoe-one", "probable_same"), of(&[("zoe-six", "place", "both in Berlin, DE")]));
    assert_eq!(related("zoe-five", "other_roles"), of(&[("zoe-four", "round", "Zoë Angels invested in Mossworks")]));
    assert_eq!(related("zoe-five", "probable_same"), of(&[]));
    assert_eq!(related("zoe-other", "other_roles"), of(&[]));
    // The relation has no direction.
    let all = ["zoe-one", "zoe-two", "zoe-three", "zoe-four", "zoe-five", "zoe-six", "zoe-other"];
    for list in ["other_roles", "probable_same"] {
        for (one, two) in all.iter().flat_map(|one| all.iter().map(move |two| (*one, *two))) {
            let reason = |from: &str, to: &str| related(from, list).get(to).map(|(reason, _)| reason.clone());
            assert_eq!(reason(one, two), reason(two, one), "{one} {two}");
        }
    }
    let title = client.get("/api/v3/people/zoe-four?include=other_roles").json();
    assert_eq!(title["included"].as_object().unwrap().len(), 1);
    assert_eq!(client.get("/api/v3/people/zoe-four?fields=name").json().get("included"), None);
}
