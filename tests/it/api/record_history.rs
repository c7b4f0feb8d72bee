//! `first_seen` and `changed_in`: what a reader of every release would have noted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use auth::quota::Tier;
use data::SnapshotVersion;
use release::ReleaseStore;
use serde_json::{Value, json};

use crate::api::changes::{Copy, PATHS, copy_of, edit, key_of, walk};
use crate::support::harness::{Dice, Server, copy_as, copy_with_few_reviews};
use crate::support::installation::Installation;

const VERSIONS: [&str; 4] = ["2026-11-20.1", "2026-11-20.2", "2026-11-27.1", "2026-12-04.1"];

/// `first_seen` and `changed_in` of each record; `None` is unknown.
type Notes = BTreeMap<(String, String), [Option<String>; 2]>;

/// The records that were merged, with those that they were merged into.
fn merged(dataset: &Path) -> Vec<(String, String)> {
    let mut reader = csv::Reader::from_path(dataset.join("redirects.csv")).unwrap();
    let rows = reader.records().map(Result::unwrap);
    rows.filter(|row| &row[0] == "firm").map(|row| (row[1].to_owned(), row[2].to_owned())).collect()
}

/// What a reader notes who knows the records of the release before, what was noted of these, and when those that are gone
/// appeared.
fn note(
    before: &Copy,
    known: &Notes,
    gone: &mut BTreeMap<(String, String), Option<String>>,
    after: &Copy,
    version: &str,
    merged: &[(String, String)],
) -> Notes {
    let mut notes = Notes::new();
    for (key, [first, _]) in known.iter().filter(|(key, _)| !after.contains_key(*key)) {
        // Nobody keeps track of people.
        if ["vcs", "startups", "funding-rounds"].contains(&key.0.as_str()) {
            gone.insert(key.clone(), first.clone());
        }
    }
    for (key, record) in after {
        let own = Some(version.to_owned());
        notes.insert(
            key.clone(),
            match before.get(key) {
                None => [gone.get(key).cloned().unwrap_or_else(|| own.clone()), own],
                Some(old) if old == record => known[key].clone(),
                Some(_) => [known[key][0].clone(), own],
            },
        );
    }
    for (slug, target) in merged {
        let of_firm = |slug: &str| ("vcs".to_owned(), slug.to_owned());
        if let (Some([first, _]), Some(note)) = (known.get(&of_firm(slug)), notes.get_mut(&of_firm(target))) {
            // Unknown is before everything that is known; versions of these days compare as texts.
            note[0] = note[0].clone().min(first.clone());
        }
    }
    notes
}

fn notes_of(client: &crate::support::harness::Client, version: &str) -> Notes {
    let mut notes = Notes::new();
    for path in PATHS {
        let key = if matches!(path, "funding-rounds" | "reviews") { "id" } else { "slug" };
        let query = format!("{path}?fields={key},firstSeen,changed_in&limit=1000&snapshot={version}");
        for record in walk(client, &query) {
            let value = |name: &str| record[name].as_str().map(str::to_owned);
            assert!(record.as_object().unwrap().len() == 3, "{record}");
            notes.insert((path.to_owned(), key_of(&record)), [value("first_seen"), value("changed_in")]);
        }
    }
    notes
}

#[test]
fn records_have_the_releases_in_which_they_appeared_and_changed() {
    let installation = Installation::new();
    let mut dice = Dice(23);
    let datasets = VERSIONS.map(|version| {
        let dataset = copy_with_few_reviews(version);
        edit(dataset.path(), &mut dice);
        installation.indexer(&["build", "--force", "--dataset", dataset.path().to_str().unwrap()]);
        dataset
    });
    let releases = ReleaseStore::at(installation.index());
    let catalog = |version: &str| releases.open(version.parse::<SnapshotVersion>().unwrap()).unwrap().catalog;
    let server = Server::of(catalog(VERSIONS[0]));
    VERSIONS[1..].iter().for_each(|version| server.state.releases.replace(Arc::new(catalog(version))));
    let client = server.client(Tier::Enterprise);

    let mut before = copy_of(&client, VERSIONS[0]);
    let mut expected: Notes = before.keys().map(|key| (key.clone(), [None, None])).collect();
    assert_eq!(notes_of(&client, VERSIONS[0]), expected, "nothing is known of the first release");
    let (mut ages, mut gone) = (0, BTreeMap::new());
    for (version, dataset) in VERSIONS.iter().zip(&datasets).skip(1) {
        let after = copy_of(&client, version);
        expected = note(&before, &expected, &mut gone, &after, version, &merged(dataset.path()));
        let found = notes_of(&client, version);
        for (key, note) in &expected {
            assert_eq!(&found[key], note, "{key:?} in {version}");
        }
        assert_eq!(found.len(), expected.len());
        before = after;
        let count = |at: usize| expected.values().filter(|note| note[at].as_deref() == Some(*version)).count();
        assert!(count(0) > 20 && count(1) > count(0), "{} and {}", count(0), count(1));
        ages = expected.values().map(|note| note[1].clone()).collect::<std::collections::BTreeSet<_>>().len();
    }
    assert_eq!(ages, VERSIONS.len(), "some records never changed, and some last changed in each later release");

    // A single record has the same, the former versions have neither, and a startup's rounds have theirs.
    let slug = client.get("/api/v3/startups?limit=1").slugs().remove(0);
    let record = client.get(&format!("/api/v3/startups/{slug}")).json()["data"].clone();
    let noted = &expected[&("startups".to_owned(), slug)];
    assert_eq!([&record["first_seen"], &record["changed_in"]], [&json!(noted[0]), &json!(noted[1])]);
    for round in record["rounds"].as_array().unwrap() {
        let noted = &expected[&("funding-rounds".to_owned(), key_of(round))];
        assert_eq!([&round["first_seen"], &round["changed_in"]], [&json!(noted[0]), &json!(noted[1])]);
    }
    // So has the sitemap: the day of the last change, if it is known.
    let sitemap = server.anonymous().get("/sitemap.xml").text;
    let mut days = 0;
    for ((path, slug), [_, changed]) in expected.iter().filter(|((path, _), _)| *path == "startups") {
        let day = changed.as_ref().map(|release| release.split_once('.').unwrap().0);
        let day = day.map_or_else(String::new, |day| format!("<lastmod>{day}</lastmod>"));
        assert!(sitemap.contains(&format!("/{path}/{slug}</loc>{day}</url>")), "{slug} {day}");
        days += usize::from(!day.is_empty());
    }
    assert!(days > 50, "{days}");
    let firm = client.get("/api/v2/vcs?limit=1").slugs().remove(0);
    let former = client.get(&format!("/api/v2/vcs/{firm}")).json();
    assert!(former["data"].get("first_seen").is_none() && former["data"].get("changed_in").is_none());
    let rows = client.get(&format!("/api/v3/vcs/{firm}/co-investors?fields=slug,changedIn&limit=5")).json();
    for row in rows["data"].as_array().unwrap() {
        let noted = &expected[&("vcs".to_owned(), row["slug"].as_str().unwrap().to_owned())];
        assert_eq!(row["changed_in"], Value::from(noted[1].clone()));
    }
}

#[test]
fn the_history_of_a_release_is_the_same_in_each_build_and_outlives_what_it_was_compared_with() {
    let installations = [Installation::new(), Installation::new()];
    let histories = installations.each_ref().map(|installation| {
        VERSIONS[..3].iter().for_each(|version| installation.publish(version));
        fs::read(installation.index().join(VERSIONS[2]).join("history.bin")).unwrap()
    });
    assert_eq!(histories[0], histories[1]);
    let [installation, _] = &installations;
    assert!(!installation.index().join(VERSIONS[0]).join("history.bin").exists());

    // Written again with bulk files, after the releases before it are gone.
    installation.indexer(&["prune", "--keep", "1"]);
    let dataset = copy_as(&crate::support::installation::small(), VERSIONS[2]);
    let startups = dataset.path().join("startups.csv");
    let text = fs::read_to_string(&startups).unwrap();
    let renamed = format!("mossworks,Mossworks {},", VERSIONS[2]);
    fs::write(startups, text.replace("mossworks,Mossworks,", &renamed)).unwrap();
    installation.indexer(&["build", "--bulk", "--dataset", dataset.path().to_str().unwrap()]);
    let folder = installation.index().join(VERSIONS[2]);
    assert!(folder.join("bulk").is_dir());
    assert_eq!(fs::read(folder.join("history.bin")).unwrap(), histories[0]);

    // A changed file is found out as one of the release.
    let mut bytes = histories[0].clone();
    *bytes.last_mut().unwrap() ^= 1;
    let path = folder.join("history.bin");
    fs::remove_file(&path).unwrap();
    fs::write(&path, bytes).unwrap();
    let opened = ReleaseStore::at(installation.index()).open(VERSIONS[2].parse().unwrap());
    let error = opened.err().expect("a damaged file").to_string();
    assert!(error.contains("history.bin has the checksum"), "{error}");
}
