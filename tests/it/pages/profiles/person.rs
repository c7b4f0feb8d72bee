//! Person pages.

use std::collections::BTreeSet;

use auth::quota::Tier;
use serde_json::Value;

use crate::pages::charts::{all, text};
use crate::pages::profiles::total;
use crate::pages::rendered;
use crate::support::harness::{Server, catalog_of, copy_with_few_reviews};
use crate::support::html::{Markup, parse, text_of};

#[test]
fn roles_of_a_person_have_the_figures_of_their_organizations() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut founders = 0;
    for person in all(&client, "people").iter().step_by(17) {
        let slug = text(&person["slug"]);
        let page = parse(&rendered(&server, &format!("/people/{slug}")));
        let roles = page.section("roles").unwrap().all("div.card");
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
                let text = text_of(role.first(&format!("a[href='{href}']")));
                let shown = if *count == 0 { "no".to_owned() } else { count.to_string() };
                assert_eq!(text.split(' ').next().unwrap(), shown, "{slug}: {href}");
                assert_eq!(total(&client, &href), count.as_u64().unwrap(), "{href}");
            }
        }
        if let Some(co_founders) = page.section("co-founders") {
            let of = text(&person["organization"]["slug"]);
            let list = client.get(&format!("/api/v3/people?organization={of}&role=founder&limit=100"));
            let mut slugs = list.slugs();
            slugs.retain(|other| *other != slug);
            let shown: BTreeSet<String> = co_founders.links().iter().map(|href| href.replace("/people/", "")).collect();
            assert_eq!(shown, slugs.into_iter().collect(), "{slug}");
            founders += 1;
        }
    }
    assert!(founders > 5, "{founders}");
}

#[test]
fn another_record_that_may_be_of_the_same_person_says_why() {
    let folder = copy_with_few_reviews("2026-11-27.1");
    let path = folder.path().join("people.csv");
    let more = "ada-one,Ada Q. Example,Partner,firm,alder-capital,\n\
                ada-two,Ada Q. Example,Board member,startup,ashport,\n\
                ada-three,Ada Q. Example,CTO,startup,ben-har,\n";
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + more).unwrap();
    let page = parse(&rendered(&Server::of(catalog_of(folder.path())), "/people/ada-one"));
    let roles = page.section("roles").unwrap();
    assert_eq!(roles.all("div.card").len(), 2);
    assert_eq!(roles.texts("a[href='/people/ada-two']"), ["Board member"]);
    assert_eq!(text_of(roles.first("span.chip")), "probably the same person");
    let reason = text_of(roles.first("span.chip + span"));
    assert!(reason.ends_with(" invested in Ashport"), "{reason}");
    let namesakes = page.section("namesakes").unwrap().links();
    assert!(namesakes.contains(&"/people/ada-three") && !namesakes.contains(&"/people/ada-two"), "{namesakes:?}");
}
