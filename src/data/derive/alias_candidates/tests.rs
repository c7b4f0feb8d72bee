use super::*;
use crate::import::rows::DatasetStartup;

fn record(slug: &str, name: &str, website: Option<&str>) -> DatasetStartup {
    let website = website.map(str::to_owned);
    DatasetStartup { slug: slug.into(), name: name.into(), website, ..DatasetStartup::default() }
}

/// The proposals for a startup, as `alias: source`.
fn proposals(slug: &str, name: &str, website: Option<&str>) -> Vec<String> {
    let records = [record(slug, name, website), record("taken-name", "Taken Name", None)];
    let found = merge_proposals(Table::Startups, &records, |_| 1, Vec::new());
    let of_slug = found.into_iter().filter(|(candidate, ..)| candidate.slug == slug);
    of_slug.map(|(found, ..)| format!("{} {}: {}", found.sureness, found.alias, found.source)).collect()
}

#[test]
fn candidates_have_a_reason_and_a_sureness() {
    for (slug, name, website, expected) in [
        ("alder-bay-fund", "Alder Bay Fund (ABF)", None, "sure ABF: abbreviation in brackets"),
        ("mode-media", "Mode Media (fka Glam Media)", None, "sure Glam Media: former or other name in brackets"),
        ("brim", "Brim (Formerly Known As Olo Works)", None, "sure Olo Works: former or other name in brackets"),
        ("olo-works", "Olo Works (Tidewick)", None, "possible Tidewick: text in brackets"),
        ("social-garden", "SoGar", None, "sure Social Garden: full name in the slug"),
        ("nwl", "North West Labs", None, "sure NWL: abbreviation in the slug"),
        ("tidewick", "Brimstone", None, "probable Tidewick: the slug has another name"),
        ("north-west-labs", "North West Labs", Some("https://nwl.example/"), "sure NWL: abbreviation in the website"),
        ("brim", "Brim", Some("http://www.tidewick.co.uk"), "possible Tidewick: the website has another name"),
        (
            "brim",
            "Brim",
            Some("http://taken-name.example"),
            "possible Taken Name: the website has another name; also a name of taken-name",
        ),
    ] {
        assert_eq!(proposals(slug, name, website), [expected], "{slug} {name} {website:?}");
    }
}

#[test]
fn spellings_and_states_are_no_candidates() {
    for (slug, name, website) in [
        ("alder-bay", "Alder Bay", Some("https://www.alderbay.example")),
        ("alder-bay-2", "Alder Bay", Some("https://getalderbay.example")),
        ("alder-bay", "AlderBay, Inc.", Some("https://alder.example")),
        ("alder", "Alder (acquired by Birch)", None),
        ("alder", "Alder (CLOSED)", None),
        ("alder", "Alder (Germany)", None),
        ("alder", "Alder ()", None),
        ("alder", "Alder (", None),
        ("10-20", "10-20", None),
    ] {
        let found = proposals(slug, name, website);
        assert!(found.is_empty(), "{slug} {name} {website:?}: {found:?}");
    }
}

#[test]
fn a_host_of_several_records_is_nobodys_name() {
    let website = Some("https://apps.platform.example/a");
    let records = [record("alder", "Alder", website), record("birch", "Birch", website)];
    assert!(merge_proposals(Table::Startups, &records, |_| 1, Vec::new()).is_empty());
}
