//! Person pages.

use std::collections::BTreeSet;

use auth::quota::Tier;
use serde_json::Value;

use crate::charts::{all, text};
use crate::harness::{Server, bundled_folder, catalog_of, copy_as};
use crate::pages::{between, rendered};
use crate::profiles::{links, section, total};

#[test]
fn roles_of_a_person_have_the_figures_of_their_organizations() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut founders = 0;
    for person in all(&client, "people").iter().step_by(17) {
        let slug = text(&person["slug"]);
        let page = rendered(&server, &format!("/people/{slug}"));
        let roles: Vec<&str> = section(&page, "roles").split("<div class=\"card\">").skip(1).collect();
        let record = client.get(&format!("/api/v3/people/{slug}?include=other_roles,probable_same")).json();
        let others = ["other_roles", "probable_same"]
            .map(|name| record["included"][name]["data"].as_array().cloned().unwrap_or_default());
        assert_eq!(roles.len(), 1 + others.iter().map(Vec::len).sum::<usize>(), "{slug}: {record}");
        let organizations = std::iter::once(&person["organization"]);
        let organizations = organizations.chain(others.iter().flatten().map(|role| &role["organization"]));
        for (role, organization) in roles.iter().zip(organizations) {
            let of = text(&organization["slug"]);
            let is_firm = organization["kind"] == "firm";
            let list = if is_firm { "vcs" } else { "startups" };
            let data = client.get(&format!("/api/v3/{list}/{of}")).json()["data"].clone();
            let expected: Vec<(String, &Value)> = match is_firm {
                true => vec![
                    (format!("/startups?investor={of}"), &data["portfolio_count"]),
                    (format!("/rounds?investor={of}"), &data["investment_count"]),
                ],
                false => vec![(format!("/rounds?startup={of}"), &data["round_count"])],
            };
            for (href, count) in expected {
                let text = between(role, &format!("<a href=\"{href}\">"), "</a>");
                assert_eq!(text.split(' ').next().unwrap(), count.to_string(), "{slug}: {href}");
                assert_eq!(total(&client, &href), count.as_u64().unwrap(), "{href}");
            }
        }
        let co_founders = section(&page, "co-founders");
        if !co_founders.is_empty() {
            let of = text(&person["organization"]["slug"]);
            let list = client.get(&format!("/api/v3/people?organization={of}&role=founder&limit=100"));
            let mut slugs = list.slugs();
            slugs.retain(|other| *other != slug);
            let shown: BTreeSet<String> = links(co_founders).iter().map(|href| href.replace("/people/", "")).collect();
            assert_eq!(shown, slugs.into_iter().collect(), "{slug}");
            founders += 1;
        }
    }
    assert!(founders > 5, "{founders}");
}

#[test]
fn another_record_that_may_be_of_the_same_person_says_why() {
    let folder = copy_as(&bundled_folder(), "2026-11-27.1");
    let path = folder.path().join("people.csv");
    let more = "ada-one,Ada Q. Example,Partner,firm,alder-capital,\n\
                ada-two,Ada Q. Example,Board member,startup,ashport,\n\
                ada-three,Ada Q. Example,CTO,startup,ben-har,\n";
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + more).unwrap();
    let page = rendered(&Server::of(catalog_of(folder.path())), "/people/ada-one");
    let roles = section(&page, "roles");
    assert_eq!(roles.matches("<div class=\"card\">").count(), 2);
    assert!(roles.contains("<a href=\"/people/ada-two\">Board member</a>"), "{roles}");
    let reason = between(roles, "<span class=\"chip\">", "</p>");
    assert!(reason.starts_with("probably the same person") && reason.contains(" invested in Ashport<"), "{reason}");
    let namesakes = section(&page, "namesakes");
    assert!(
        namesakes.contains("<a href=\"/people/ada-three\">") && !namesakes.contains("/people/ada-two"),
        "{namesakes}"
    );
}
