use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;

use super::*;
use crate::sources::{Extent, NewStatement, Update};
use data::{NoProgress, Table};

type StatementLine = (&'static str, &'static str, String);

/// Imports statements into a source.
fn import(folder: &Path, id: &str, priority: u32, on: &str, lines: &[(&str, &str, &str)]) {
    let source = Source {
        id: id.to_owned(),
        title: id.to_owned(),
        license: "CC0-1.0".to_owned(),
        url: String::new(),
        priority,
        imported_on: on.parse().unwrap(),
        imports: 0,
        last_complete: 0,
    };
    let mut sorted = lines.to_vec();
    sorted.sort_unstable();
    let mut update = Update::begin(folder, source, Extent::Complete).unwrap();
    for (entity, field, value) in sorted {
        update.add(NewStatement { entity, field, value, original: "", source_key: "k" }).unwrap();
    }
    update.finish(true).unwrap();
}

fn view(folder: &Path, clusters: &Clusters) -> BTreeMap<String, String> {
    view_without(folder, clusters, "").1
}

/// Writes the view with these lines of `suppressed.csv`.
fn view_without(folder: &Path, clusters: &Clusters, lines: &str) -> (ViewSummary, BTreeMap<String, String>) {
    let to = tempfile::tempdir().unwrap();
    let sources = Source::list(folder).unwrap();
    fs::write(folder.join("suppressed.csv"), format!("entity,on,why\n{lines}")).unwrap();
    let suppressed = Suppressed::read(folder).unwrap().with_clusters(clusters);
    let summary = write(folder, &sources, clusters, &suppressed, to.path(), Detail::Provenance, &NoProgress).unwrap();
    let entries = fs::read_dir(to.path()).unwrap().map(|entry| entry.unwrap().path());
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    let files = entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), text(&path))).collect();
    (summary, files)
}

/// Lines of a file without the header.
fn lines<'a>(files: &'a BTreeMap<String, String>, file: &str) -> Vec<&'a str> {
    files.get(file).map_or_else(Vec::new, |text| text.lines().skip(1).collect())
}

fn together(members: &[(&str, &str)]) -> Clusters {
    let mut clusters = Clusters::default();
    members.iter().for_each(|(source, entity)| clusters.add(source, entity.parse().unwrap(), 7));
    clusters
}

#[test]
fn the_best_statement_counts_and_lists_are_unions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let a = [
        ("firm:1", "name", "Alder"),
        ("firm:1", "city", "Oslo"),
        ("firm:1", "stages", "seed"),
        ("firm:1", "aliases", "Alder Capital"),
    ];
    import(path, "a", 10, "2026-01-02", &a);
    let b = [
        ("firm:x", "name", "Alder Capital"),
        ("firm:x", "country", "NO"),
        ("firm:x", "stages", "growth"),
        ("firm:x", "stages", "seed"),
    ];
    import(path, "b", 90, "2026-01-01", &b);
    let files = view(path, &together(&[("a", "firm:1"), ("b", "firm:x")]));
    // The name comes from the source with the higher priority, the other one becomes an alias. The first slug stays.
    assert_eq!(lines(&files, "firms.csv"), ["alder-capital,Alder Capital,Alder,,,,NO,Oslo,,growth|seed,,,,"]);
    assert_eq!(lines(&files, "redirects.csv"), ["firm,alder,alder-capital"]);
    let provenance = lines(&files, "provenance.csv");
    assert!(provenance.contains(&"firm,alder-capital,name,Alder,,a,k,2026-01-02,2026-01-02"), "{provenance:?}");
    assert!(provenance.contains(&"firm,alder-capital,aliases,Alder,,a,k,2026-01-02,2026-01-02"), "{provenance:?}");
    // Without the cluster, each has its former slug again.
    let files = view(path, &Clusters::default());
    let slugs: Vec<&str> = lines(&files, "firms.csv").iter().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!((slugs, files.get("redirects.csv")), (vec!["alder", "alder-capital"], None));
}

#[test]
fn what_the_last_import_lacks_does_not_count_and_slugs_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let a = [
        ("firm:1", "name", "Alder"),
        ("firm:1", "aliases", "Old"),
        ("firm:1", "city", "Oslo"),
        ("firm:2", "name", "Birch"),
        ("firm:4", "name", "Elder"),
    ];
    import(path, "a", 10, "2026-01-01", &a);
    // A correction on the same day. The first name made the slug, although the other one sorts before it.
    let corrected = [
        ("firm:1", "name", "Acer"),
        ("firm:3", "name", "Alder"),
        ("firm:4", "name", "Elder"),
        ("person:1", "name", "Ana"),
        ("person:1", "organization", "firm:2"),
    ];
    import(path, "a", 10, "2026-01-01", &corrected);
    let (summary, files) = view_without(path, &Clusters::default(), "");
    let expected = ["alder,Acer,,,,,,,,,,,,", "alder-2,Alder,,,,,,,,,,,,", "elder,Elder,,,,,,,,,,,,"];
    assert_eq!(lines(&files, "firms.csv"), expected);
    assert_eq!((summary.gone, summary.dangling, summary.incomplete), (1, 1, 1));
    let provenance = lines(&files, "provenance.csv");
    assert!(provenance.contains(&"firm,alder,city,Oslo,,a,k,2026-01-01,2026-01-01"), "{provenance:?}");
    assert!(provenance.iter().all(|line| !line.contains("birch")), "{provenance:?}");

    // Another source still has the lost entity, which keeps its slug.
    import(path, "b", 90, "2026-02-01", &[("firm:x", "name", "Birch Capital")]);
    let files = view(path, &together(&[("a", "firm:2"), ("b", "firm:x")]));
    assert_eq!(lines(&files, "firms.csv")[2], "birch,Birch Capital,,,,,,,,,,,,");
    assert_eq!(lines(&files, "redirects.csv"), ["firm,birch-capital,birch"]);
}

#[test]
fn a_former_name_is_an_alias_unless_it_was_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let named = |on: &str, names: [&str; 4]| {
        let keys = ["firm:1", "firm:2", "firm:3", "firm:4"];
        let lines: Vec<_> = keys.into_iter().zip(names).map(|(key, name)| (key, "name", name)).collect();
        import(path, "a", 50, on, &lines);
    };
    named("2026-01-01", ["Alder Labs", "Birch Venturs", "Cedar", "12"]);
    // On the same day it is a correction.
    named("2026-01-01", ["Alder Labs", "Birch Venturs", "Cedar", "Dorn"]);
    named("2026-01-08", ["Alder Robotics", "Birch Ventures", "Cedar", "Dorn"]);
    let files = view(path, &Clusters::default());
    let firms: Vec<String> =
        lines(&files, "firms.csv").iter().map(|line| line.split(',').take(3).collect::<Vec<_>>().join(",")).collect();
    let expected =
        ["12,Dorn,", "alder-labs,Alder Robotics,Alder Labs", "birch-venturs,Birch Ventures,", "cedar,Cedar,"];
    assert_eq!(firms, expected);
}

#[test]
fn a_view_of_some_licenses_has_the_records_and_slugs_of_all_sources() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(path, "a", 50, "2026-01-01", &[("firm:1", "name", "Alder Hill"), ("firm:2", "name", "Brook")]);
    import(path, "b", 50, "2026-01-01", &[("firm:x", "name", "Alder Hill GmbH"), ("firm:y", "name", "Brook")]);
    let source_file = path.join("b").join("source.toml");
    let text = fs::read_to_string(&source_file).unwrap().replace("CC0-1.0", "CC-BY-4.0");
    fs::write(source_file, text).unwrap();
    let clusters = together(&[("a", "firm:1"), ("b", "firm:x")]);
    let sources = Source::list(path).unwrap();
    let slugs = |detail: Detail<'_>| -> Vec<String> {
        let to = tempfile::tempdir().unwrap();
        write(path, &sources, &clusters, &Suppressed::default(), to.path(), detail, &NoProgress).unwrap();
        let firms = fs::read_to_string(to.path().join("firms.csv")).unwrap();
        firms.lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(slugs(Detail::Tables), ["alder-hill Alder Hill", "brook Brook", "brook-2 Brook"]);
    let licenses = ["CC-BY-4.0".to_owned()];
    let licensed = Detail::Licensed(Licensed { licenses: &licenses, served: None });
    assert_eq!(slugs(licensed), ["alder-hill Alder Hill GmbH", "brook-2 Brook"]);
}

#[test]
fn with_a_filter_served_addresses_lead_on_or_are_gone_and_no_text_of_other_sources_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let own = [
        ("firm:1", "name", "Alder"),
        ("firm:2", "name", "Birch"),
        ("person:1", "name", "Ana"),
        ("person:1", "organization", "firm:1"),
    ];
    import(path, "a", 10, "2026-01-02", &own);
    import(path, "b", 5, "2026-01-03", &[("firm:x", "name", "Zyntrix"), ("firm:y", "name", "Dorn")]);
    let source_file = path.join("b").join("source.toml");
    let text = fs::read_to_string(&source_file).unwrap().replace("CC0-1.0", "LicenseRef-Own");
    fs::write(source_file, text).unwrap();
    publish(path, &Clusters::default());
    let clusters = together(&[("a", "firm:1"), ("b", "firm:x")]);
    let files = publish(path, &clusters);
    assert_eq!(firms(&files), ["alder Alder", "birch Birch", "dorn Dorn"]);
    let sources = Source::list(path).unwrap();
    let write = |detail: Detail<'_>, suppressed: &Suppressed| {
        let to = tempfile::tempdir().unwrap();
        super::write(path, &sources, &clusters, suppressed, to.path(), detail, &NoProgress).unwrap();
        let names = ["firms.csv", "people.csv", "redirects.csv", "gone.csv", "provenance.csv"];
        let text: String = names.iter().filter_map(|name| fs::read_to_string(to.path().join(name)).ok()).collect();
        (text, data::compile(to.path(), &NoProgress).unwrap().snapshot().unwrap())
    };
    let (_, full) = write(Detail::Provenance, &Suppressed::default());
    let licenses = ["CC0-1.0".to_owned()];
    let filtered =
        |served, suppressed: &Suppressed| write(Detail::Licensed(Licensed { licenses: &licenses, served }), suppressed);
    let (text, kept) = filtered(Some(&full), &Suppressed::default());
    assert!(!text.to_lowercase().contains("zyntrix") && !text.to_lowercase().contains("dorn"), "{text}");
    let alder = kept.find(Table::Firms, "alder");
    assert!(alder.is_some() && kept.merged_into(Table::Firms, "zyntrix") == alder);
    assert_eq!((kept.gone(Table::Firms, "dorn"), kept.gone(Table::Startups, "dorn")), (Some(""), None));
    assert_eq!(kept.gone(Table::Firms, &data::import::gone::hashed_slug(Table::Firms, "dorn")), None);
    assert_eq!((kept.gone(Table::Firms, "zyntrix"), kept.gone(Table::Firms, "cedar")), (None, None));
    // The next such release still has them, and one for readers that never saw them has not.
    let (_, next) = filtered(Some(&kept), &Suppressed::default());
    assert!(next.has_address(Table::Firms, "dorn") && next.has_address(Table::Firms, "zyntrix"));
    let (_, first) = filtered(None, &Suppressed::default());
    assert!(!first.has_address(Table::Firms, "dorn") && !first.has_address(Table::Firms, "zyntrix"));
    // What is suppressed was never there.
    fs::write(path.join("suppressed.csv"), "entity,on,why\nb/firm:y,,\n").unwrap();
    let (_, hidden) = filtered(Some(&kept), &Suppressed::read(path).unwrap().with_clusters(&clusters));
    assert!(!hidden.has_address(Table::Firms, "dorn") && hidden.has_address(Table::Firms, "zyntrix"));
}

#[test]
fn what_is_suppressed_is_in_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let a = [
        ("firm:1", "name", "Alder"),
        ("firm:2", "name", "Birch"),
        ("person:1", "name", "Ana"),
        ("person:1", "organization", "firm:2"),
        ("person:2", "name", "Ben"),
        ("person:2", "organization", "firm:1"),
        ("round:1", "investors", "firm:1"),
        ("round:1", "investors", "firm:2"),
        ("round:1", "stage", "seed"),
        ("round:1", "startup", "startup:1"),
        ("startup:1", "name", "Cedar"),
    ];
    import(path, "a", 10, "2026-01-01", &a);
    import(path, "b", 90, "2026-01-02", &[("firm:x", "id:cik", "320193"), ("firm:x", "name", "Alder Capital")]);
    let clusters = together(&[("a", "firm:1"), ("b", "firm:x")]);
    let whole = view(path, &clusters);
    assert!(whole["redirects.csv"].contains("alder-capital") && whole["identifiers.csv"].contains("320193"));
    // Any of its entities suppresses the whole record and the people who belong to it.
    for line in ["a/firm:1,,", "b/firm:x,,"] {
        let (summary, files) = view_without(path, &clusters, line);
        assert_eq!((summary.suppressed, summary.dangling, summary.incomplete), (2, 0, 0), "{line}");
        for (file, text) in &files {
            assert!(!text.to_lowercase().contains("alder") && !text.contains("Ben"), "{file}: {text}");
        }
        assert_eq!(lines(&files, "funding_rounds.csv"), ["1,cedar,seed,,,,birch"]);
        assert_eq!((files.get("redirects.csv"), files.get("identifiers.csv")), (None, None));
    }
    let (summary, files) = view_without(path, &clusters, "a/startup:1,2026-11-27,\"a, b\"\na/person:1,,");
    assert_eq!((summary.suppressed, files.get("funding_rounds.csv"), files.get("startups.csv")), (3, None, None));
    assert_eq!(lines(&files, "people.csv").len(), 1);
    // A later import does not undo the suppression, and the other record keeps its slug.
    import(path, "a", 10, "2026-01-03", &[("firm:1", "name", "Alder"), ("firm:7", "name", "Alder")]);
    let (_, files) = view_without(path, &clusters, "a/firm:1,,");
    assert_eq!(lines(&files, "firms.csv"), ["alder-2,Alder,,,,,,,,,,,,"]);
}

#[test]
fn what_is_incomplete_or_refers_to_nothing_is_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let a = [
        ("firm:1", "name", "aggregate"),
        ("firm:2", "city", "Oslo"),
        ("startup:1", "name", "★"),
        ("round:1", "startup", "startup:1"),
        ("round:1", "stage", "seed"),
        ("round:1", "investors", "firm:1"),
        ("round:1", "investors", "firm:2"),
        ("round:1", "investors", "firm:9"),
        ("round:2", "startup", "startup:9"),
        ("round:2", "stage", "seed"),
        ("round:3", "startup", "startup:1"),
        ("person:1", "name", "Ana"),
    ];
    import(folder.path(), "a", 10, "2026-01-01", &a);
    let sources = Source::list(folder.path()).unwrap();
    let to = tempfile::tempdir().unwrap();
    let (clusters, suppressed) = (Clusters::default(), Suppressed::default());
    let summary =
        write(folder.path(), &sources, &clusters, &suppressed, to.path(), Detail::Tables, &NoProgress).unwrap();
    assert_eq!(summary.records, [("firm", 1), ("round", 2), ("startup", 1)]);
    assert_eq!((summary.incomplete, summary.dangling), (3, 3));
    let files = view(folder.path(), &Clusters::default());
    // A path of the API is not used as a slug. The key replaces a name without letters.
    // The stage of a round may be unknown.
    assert_eq!(lines(&files, "funding_rounds.csv"), ["1,1,seed,,,,aggregate-2", "3,1,,,,,"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Removing a source and building again equals never having had it. The order of imports changes nothing.
    #[test]
    fn a_removed_source_leaves_nothing_behind(
        statements in proptest::collection::vec((0..4_usize, 0..3_usize, 0..4_usize, 0..4_usize, 1..4_u32), 1..40),
        removed in 0..4_usize,
    ) {
        const IDS: [&str; 4] = ["a", "b", "c", "d"];
        const ENTITIES: [&str; 4] = ["firm:1", "firm:2", "sector:x", "startup:1"];
        let line = |entity: usize, field: usize, value: usize| -> StatementLine {
            let field = ["name", "aliases", "city"][field];
            let field = if ENTITIES[entity].starts_with("sector") { "name" } else { field };
            (ENTITIES[entity], field, ["Alder", "Birch", "alder", "Ünder"][value].to_owned())
        };
        let build = |order: &[usize], skipped: Option<usize>| {
            let folder = tempfile::tempdir().unwrap();
            for source in order.iter().filter(|source| Some(**source) != skipped) {
                for day in 1..4_u32 {
                    let of_day = statements.iter().filter(|statement| statement.0 == *source && statement.4 == day);
                    let lines: Vec<StatementLine> =
                        of_day.map(|statement| line(statement.2, statement.1, statement.3)).collect();
                    let lines: Vec<_> = lines.iter().map(|(entity, field, value)| (*entity, *field, &**value)).collect();
                    if !lines.is_empty() {
                        import(folder.path(), IDS[*source], *source as u32 % 2, &format!("2026-01-0{day}"), &lines);
                    }
                }
            }
            folder
        };
        let clusters = together(&[("a", "firm:1"), ("b", "firm:1"), ("b", "firm:2"), ("c", "firm:2")]);
        let with = build(&[0, 1, 2, 3], None);
        let _ = fs::remove_dir_all(with.path().join(IDS[removed]));
        let never = build(&[3, 2, 1, 0], Some(removed));
        if !Source::list(never.path()).unwrap().is_empty() {
            prop_assert_eq!(view(with.path(), &clusters), view(never.path(), &clusters));
        }
    }
}

#[test]
fn reviews_next_to_the_sources_name_firms_by_slug_key_or_name() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        ("firm:k1", "name", "Alder Capital"),
        ("firm:k2", "name", "Birch"),
        ("firm:k3", "name", "Birch"),
        ("review:r9", "firm", "firm:k1"),
        ("review:r9", "rating", "5"),
        ("review:r9", "status", "approved"),
        ("review:r9", "created_on", "2026-01-10"),
    ];
    import(folder.path(), "list", 50, "2026-11-20", &lines);
    let reviews = "id,firm,rating,status,created_on,role,contact_month,proof,author,author_since,reply,replied_on,disputed_on,\
                   cleared\n\
                   r1,alder-capital,4,approved,2026-01-10,founder,2025-12,email,0011223344556677,2025-11,Thanks,2026-01-11,\
                   2026-02-01,true\n\
                   r2,ALDER Capital,3,approved,2026-02,,,,,,,,,\n\
                   r3,k2,2,approved,2026-02,,,,,,,,,\nr4,Birch,1,approved,2026-02,,,,,,,,,\n\
                   r5,Cedar,1,approved,2026-02,,,,,,,,,\n";
    fs::write(folder.path().join("reviews.csv"), reviews).unwrap();
    let (summary, files) = view_without(folder.path(), &Clusters::default(), "");
    assert_eq!(
        lines_of(&files),
        [
            "r1,alder-capital,,4,,,,,,,approved,2026-01-10,founder,2025-12,email,0011223344556677,2025-11,Thanks,2026-01-11,\
             2026-02-01,true",
            "r2,alder-capital,,3,,,,,,,approved,2026-02,,,,,,,,,",
            "r3,birch,,2,,,,,,,approved,2026-02,,,,,,,,,",
            "r9,alder-capital,,5,,,,,,,approved,2026-01-10,,,,,,,,,",
        ]
    );
    let left_out = [
        "reviews.csv:5: \"Birch\" names several firms; write the slug of one",
        "reviews.csv:6: \"Cedar\" is no firm of the sources",
    ];
    assert_eq!(summary.reviews, left_out);
}

/// Lines of the reviews of a view.
fn lines_of(files: &BTreeMap<String, String>) -> Vec<&str> {
    lines(files, "reviews.csv")
}

/// Builds the view and adds to the ledger, as a published release does.
fn publish(folder: &Path, clusters: &Clusters) -> BTreeMap<String, String> {
    let (summary, files) = view_without(folder, clusters, "");
    summary.new_lines.append(folder, "2026-01-01".parse().unwrap()).unwrap();
    let again = view_without(folder, clusters, "");
    assert_eq!((again.0.new_lines.len(), &again.1), (0, &files), "a second build adds nothing");
    files
}

/// Slugs of firms with their names.
fn firms(files: &BTreeMap<String, String>) -> Vec<String> {
    let line = |line: &&str| line.split(',').take(2).collect::<Vec<_>>().join(" ");
    lines(files, "firms.csv").iter().map(line).collect()
}

#[test]
fn a_removed_source_takes_no_address_with_it_and_its_slugs_go_to_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(path, "a", 10, "2026-01-01", &[("firm:1", "name", "Alder"), ("firm:2", "name", "Birch")]);
    import(path, "b", 90, "2026-01-02", &[("firm:x", "name", "Alder Capital"), ("firm:y", "name", "Cedar")]);
    let joined = together(&[("a", "firm:1"), ("b", "firm:x")]);
    let files = publish(path, &joined);
    assert_eq!(firms(&files), ["alder Alder Capital", "birch Birch", "cedar Cedar"]);
    assert_eq!(lines(&files, "redirects.csv"), ["firm,alder-capital,alder"]);
    let ledger = fs::read_to_string(path.join("ledger.csv")).unwrap();
    for line in
        ["firm,alder,a/firm:1,,,2026-01-01", "firm,alder-capital,,alder,,2026-01-01", "firm,birch,,,Birch,2026-01-01"]
    {
        assert!(ledger.contains(line), "{ledger}");
    }

    // Without the source that the slug is from, and with a new firm of a name that was there before.
    let kept = fs::read_to_string(path.join("a/statements.csv")).unwrap();
    let toml = fs::read_to_string(path.join("a/source.toml")).unwrap();
    fs::remove_dir_all(path.join("a")).unwrap();
    import(path, "c", 10, "2025-01-01", &[("firm:7", "name", "Birch")]);
    let files = publish(path, &Clusters::default());
    assert_eq!(firms(&files), ["alder Alder Capital", "birch-2 Birch", "cedar Cedar"]);
    assert_eq!(lines(&files, "redirects.csv"), ["firm,alder-capital,alder"]);
    assert_eq!(lines(&files, "gone.csv"), ["firm,birch,Birch"]);
    // A suppressed record was never there.
    let (_, hidden) = view_without(path, &Clusters::default(), "a/firm:2,,\nc/firm:7,,\n");
    assert_eq!((lines(&hidden, "gone.csv"), firms(&hidden).len()), (vec![], 2));

    // It comes back.
    fs::create_dir(path.join("a")).unwrap();
    fs::write(path.join("a/statements.csv"), kept).unwrap();
    fs::write(path.join("a/source.toml"), toml).unwrap();
    let files = publish(path, &joined);
    assert_eq!(firms(&files), ["alder Alder Capital", "birch Birch", "birch-2 Birch", "cedar Cedar"]);
    assert_eq!(files.get("gone.csv"), None);
}

#[test]
fn merged_records_lead_on_for_ever_and_a_split_gives_each_its_slug_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(path, "a", 10, "2026-01-01", &[("firm:1", "name", "Alder")]);
    import(path, "b", 90, "2026-01-02", &[("firm:x", "name", "Birch")]);
    import(path, "c", 90, "2026-01-03", &[("firm:z", "name", "Cedar")]);
    publish(path, &Clusters::default());
    let files = publish(path, &together(&[("b", "firm:x"), ("c", "firm:z")]));
    assert_eq!(lines(&files, "redirects.csv"), ["firm,cedar,birch"]);
    let files = publish(path, &together(&[("a", "firm:1"), ("b", "firm:x"), ("c", "firm:z")]));
    assert_eq!(lines(&files, "redirects.csv"), ["firm,birch,alder", "firm,cedar,alder"]);
    // The last entity of a chain of redirects.
    fs::remove_dir_all(path.join("a")).unwrap();
    fs::remove_dir_all(path.join("b")).unwrap();
    let files = publish(path, &Clusters::default());
    assert_eq!(firms(&files), ["alder Cedar"]);
    assert_eq!(lines(&files, "redirects.csv"), ["firm,birch,alder", "firm,cedar,alder"]);
    // A veto parts it from the entity that has the slug.
    import(path, "a", 10, "2026-01-04", &[("firm:1", "name", "Alder")]);
    let files = publish(path, &Clusters::default());
    assert_eq!(firms(&files), ["alder Alder", "cedar Cedar"]);
    assert_eq!(lines(&files, "redirects.csv"), ["firm,birch,alder"]);
}

#[test]
fn two_ledgers_that_were_merged_give_a_slug_to_one_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    import(path, "a", 10, "2026-01-01", &[("firm:1", "name", "Alder"), ("person:1", "name", "Ana")]);
    import(path, "b", 90, "2026-01-02", &[("firm:x", "name", "Alder")]);
    let lines = "firm,alder,a/firm:1,,,2026-01-01\nfirm,alder,b/firm:x,,,2026-01-01\nfirm,birch,,alder,,2026-01-01\n\
                 firm,alder,,birch,,2026-01-01\n";
    fs::write(path.join("ledger.csv"), format!("kind,slug,entity,into,name,on\n{lines}")).unwrap();
    let files = publish(path, &Clusters::default());
    let slugs: Vec<String> = firms(&files).iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert!(slugs.len() == 2 && slugs[0] != slugs[1], "{slugs:?}");
    fs::write(path.join("ledger.csv"), "kind,slug,entity,into,name,on\nreview,x,,,,2026-01-01\nfirm,x,y,,,\n").unwrap();
    let sources = Source::list(path).unwrap();
    let error = write(path, &sources, &Clusters::default(), &Suppressed::default(), path, Detail::Tables, &NoProgress);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("ledger.csv:2") && error.contains("ledger.csv:3"), "{error}");
}

/// A step of the life of six entities in three sources.
#[derive(Clone, Debug)]
enum Step {
    /// Source, entities that it has, and whether their names end in another word.
    Import(usize, u8, bool),
    Remove(usize),
    /// Cluster of each entity.
    Cluster([u8; 6]),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..3_usize, 0..4_u8, any::<bool>()).prop_map(|(source, has, is_renamed)| Step::Import(source, has, is_renamed)),
        1 => (0..3_usize).prop_map(Step::Remove),
        2 => proptest::array::uniform6(0..6_u8).prop_map(Step::Cluster),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// An address that was published leads to a record with an entity that had it or that its record had, and never to
    /// one that has none of them, as long as such a record exists.
    #[test]
    fn no_slug_changes_hands(steps in proptest::collection::vec(step(), 1..9)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let names = ["Alder", "Birch", "Alder", "Cedar", "Birch", "Alder"];
        let mut clusters = [0, 1, 2, 3, 4, 5];
        let mut present = [false; 6];
        // Entities whose record ever had the slug.
        let mut owners: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (day, step) in steps.iter().enumerate() {
            match step {
                Step::Import(source, has, is_renamed) => {
                    let of_source = [source * 2, source * 2 + 1];
                    let has: Vec<usize> = of_source.into_iter().filter(|entity| has & (1 << (entity % 2)) != 0).collect();
                    of_source.iter().for_each(|entity| present[*entity] = has.contains(entity));
                    let ids: Vec<String> = has.iter().map(|entity| format!("firm:{entity}")).collect();
                    let name = |entity: &usize| format!("{}{}", names[*entity], if *is_renamed { " Capital" } else { "" });
                    let named: Vec<String> = has.iter().map(name).collect();
                    let rows: Vec<(&str, &str, &str)> =
                        ids.iter().zip(&named).map(|(id, name)| (id.as_str(), "name", name.as_str())).collect();
                    import(path, ["a", "b", "c"][*source], 10, &format!("2026-01-{:02}", 20 - day), &rows);
                }
                Step::Remove(source) => {
                    let _ = fs::remove_dir_all(path.join(["a", "b", "c"][*source]));
                    present[source * 2] = false;
                    present[source * 2 + 1] = false;
                }
                Step::Cluster(numbers) => clusters = *numbers,
            }
            let mut joined = Clusters::default();
            for (entity, cluster) in clusters.iter().enumerate() {
                joined.add(["a", "b", "c"][entity / 2], format!("firm:{entity}").parse().unwrap(), u32::from(*cluster));
            }
            let files = publish(path, &joined);
            let mut addresses: BTreeMap<String, String> =
                firms(&files).iter().map(|line| line.split(' ').next().unwrap().to_owned()).map(|slug| (slug.clone(), slug)).collect();
            for line in lines(&files, "redirects.csv") {
                let parts: Vec<&str> = line.split(',').collect();
                prop_assert!(addresses.insert(parts[1].to_owned(), parts[2].to_owned()).is_none(), "{}", line);
            }
            // Entities of each record, by its provenance.
            let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            let sources = Source::list(path).unwrap();
            for slug in addresses.values() {
                let entities = entities_of(path, &sources, &joined, EntityKind::Firm, slug).unwrap();
                let entities = entities.iter().map(|(_, entity)| entity.key.parse().unwrap());
                members.insert(slug.clone(), entities.collect());
            }
            for (slug, known) in &owners {
                // A split may leave it with an entity that is gone.
                let is_split = steps[..=day].iter().filter(|step| matches!(step, Step::Cluster(_))).count() > 1;
                let is_there = !is_split && known.iter().any(|entity| present[*entity]);
                match addresses.get(slug) {
                    Some(target) => {
                        prop_assert!(members[target].iter().any(|entity| known.contains(entity)), "{slug} went to {target}");
                    }
                    None => prop_assert!(!is_there, "{slug} is dead"),
                }
                // An address that leads nowhere is known to be gone.
                let gone = format!("firm,{slug},");
                let is_gone = lines(&files, "gone.csv").iter().any(|line| line.starts_with(&gone));
                prop_assert_eq!(is_gone, !addresses.contains_key(slug), "{}", slug);
            }
            for (slug, target) in &addresses {
                let known = owners.entry(slug.clone()).or_default();
                known.extend(members[target].iter().filter(|entity| !known.contains(entity)).copied().collect::<Vec<_>>());
            }
        }
    }
}
