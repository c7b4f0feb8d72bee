//! Archives whose checksums are right and whose columns are not: each is refused when it is opened, or answers every request
//! without a panic.

use std::sync::{Arc, OnceLock};

use catalog::{Catalog, TextIndexes};
use data::archive::AlignedBytes;
use data::{Checksums, NoProgress, RecordStore, Snapshot, Table, compile};
use http::HeaderValue;
use release::Checksum;
use search::{IndexFiles, IndexPart, TextIndex};
use xxhash_rust::xxh3::xxh3_64;

use super::dataset::small;
use super::requests::{ask, service};

const FRAME: usize = 64;
/// A name of 40 bytes, then start, length and SHA-256.
const ENTRY: usize = 88;

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes")) as usize
}

/// The places of the entries in the table of contents.
fn entries(archive: &[u8]) -> impl Iterator<Item = usize> + use<> {
    let tail = archive.len() - FRAME;
    let contents = number(archive, tail + 16);
    (contents..tail).step_by(ENTRY)
}

/// The name of an entry.
fn name(archive: &[u8], entry: usize) -> &[u8] {
    archive[entry..entry + 40].split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The entry whose name has the hash `number`, or the next greater one: a script means the same sections when others are added.
fn nearest(archive: &[u8], entries: &[usize], number: u16) -> usize {
    let distance = |entry: &&usize| (xxh3_64(name(archive, **entry)) as u16).wrapping_sub(number);
    *entries.iter().min_by_key(distance).expect("an archive has sections")
}

/// Whether a section is only vouched for by its checksum: to check the JSON of records, the slugs that it refers to and the
/// dictionary would be to parse all of it each time a release is opened.
fn is_opaque(archive: &[u8], entry: usize) -> bool {
    let name = name(archive, entry);
    let parts: [&[u8]; 5] = [b"/starts", b"/slug", b"/slug#", b"/by_slug", b"dictionary"];
    parts.iter().any(|part| name.ends_with(part))
}

/// Changes numbers in sections, 8 bytes of `script` for each: the hash of the section's name (2), the place in it (2), the width and what to do
/// (1), the number (3). Then the checksums are set to those of the result.
fn edited(archive: &[u8], script: &[u8]) -> Vec<u8> {
    let mut changed = archive.to_vec();
    let sections: Vec<usize> =
        entries(archive).filter(|entry| number(archive, entry + 48) > 0 && !is_opaque(archive, *entry)).collect();
    for edit in script.chunks_exact(8).take(32) {
        let short = |at: usize| u16::from_le_bytes([edit[at], edit[at + 1]]);
        let entry = nearest(archive, &sections, short(0));
        let (start, length) = (number(archive, entry + 40), number(archive, entry + 48));
        let width = [1, 2, 4, 8][usize::from(edit[4]) % 4].min(length);
        let place = start + usize::from(short(2)) % (length / width) * width;
        let value = u32::from_le_bytes([edit[5], edit[6], edit[7], 0]);
        let field = &mut changed[place..place + width];
        let mut old = [0; 8];
        old[..width].copy_from_slice(field);
        let old = u64::from_le_bytes(old);
        let new = match edit[4] / 4 % 4 {
            0 => u64::from(value),
            1 => old.wrapping_add(u64::from(value)),
            2 => old.wrapping_sub(u64::from(value)),
            _ => u64::MAX - u64::from(value),
        };
        field.copy_from_slice(&new.to_le_bytes()[..width]);
    }
    seal(&mut changed);
    changed
}

/// Sets all checksums.
fn seal(archive: &mut [u8]) {
    let tail = archive.len() - FRAME;
    for entry in entries(archive) {
        let (start, length) = (number(archive, entry + 40), number(archive, entry + 48));
        let checksum = Checksum::of(&archive[start..start + length]).0;
        archive[entry + 56..entry + 88].copy_from_slice(&checksum);
    }
    let checksum = xxh3_64(&archive[number(archive, tail + 16)..tail]);
    archive[tail + 24..tail + 32].copy_from_slice(&checksum.to_le_bytes());
}

fn open(bytes: &[u8]) -> Option<Snapshot> {
    let records = RecordStore::Memory(Arc::new(original().1.as_slice()));
    Snapshot::open(Arc::new(AlignedBytes::copy(bytes)), records, Checksums::Verify).ok()
}

/// The archive of a small dataset, and its records.
fn original() -> &'static (Vec<u8>, Vec<u8>) {
    static ORIGINAL: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    ORIGINAL.get_or_init(|| {
        let (mut bytes, mut records) = (Vec::new(), Vec::new());
        let compiled = compile(&small(), &NoProgress).unwrap_or_else(|report| panic!("{:?}", report.problems));
        compiled.write(&mut bytes, &mut records, &NoProgress).expect("a snapshot");
        let mut sealed = bytes.clone();
        seal(&mut sealed);
        assert!(sealed == bytes, "the checksums are where this file expects them");
        (bytes, records)
    })
}

/// Requests that read every column.
const REQUESTS: [&str; 22] = [
    "/api/v3/vcs?limit=100&amounts=true",
    "/api/v3/vcs?sort=-health_score",
    "/api/v3/vcs?sector=fintech&stage=seed&country=DE",
    "/api/v3/vcs/facets",
    "/api/v3/startups?sort=-founded_year",
    "/api/v3/startups?q=moss",
    "/api/v3/startups/facets",
    "/api/v3/startups/aggregate?group_by=sector",
    "/api/v3/funding-rounds?sort=-amount_usd&amounts=true",
    "/api/v3/funding-rounds/aggregate?group_by=year",
    "/api/v3/funding-rounds/aggregate?group_by=investor",
    "/api/v3/people?sort=name",
    "/api/v3/people/facets",
    "/api/v3/reviews?sort=-rating",
    "/api/v3/reviews/aggregate?group_by=firm",
    "/api/v3/sectors",
    "/api/v3/leaderboard",
    "/api/v3/leaderboard?metric=responsiveness",
    "/api/v3/stats",
    "/api/v3/match?raise_usd=1000000&sector=fintech",
    "/",
    "/sectors",
];

const PROFILE: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_platform_stats"}}"#;

/// Edits of an archive, see [`edited`].
pub fn archive(script: &[u8]) {
    let changed = edited(&original().0, script);
    let Some(snapshot) = open(&changed) else { return };
    let Ok(texts) = TextIndexes::in_memory(&snapshot) else { return };
    let whole = open(&original().0).expect("a valid archive");
    let releases = &service().state.releases;
    let catalog = Arc::new(Catalog::new(snapshot, texts));
    releases.replace(Arc::clone(&catalog));
    for request in REQUESTS {
        ask("GET", request, &[], &[]);
    }
    for (table, path) in [
        (Table::Firms, "vcs"),
        (Table::Startups, "startups"),
        (Table::People, "people"),
        (Table::Rounds, "funding-rounds"),
    ] {
        for row in 0..whole.rows(table) {
            let slug = whole.slug(table, row);
            ask("GET", &format!("/api/v3/{path}/{slug}?include=all"), &[], &[]);
            ask("GET", &format!("/{path}/{slug}"), &[], &[]);
            ask("GET", &format!("/api/v3/{path}/{slug}"), &[], &[]);
        }
    }
    ask("POST", "/api/mcp", &[("content-type", HeaderValue::from_static("application/json"))], PROFILE);
}

/// Edits of the side tables of a text index, see [`edited`].
pub fn text_index(script: &[u8]) {
    const TABLES: &str = "names.tables";
    static INDEX: OnceLock<(Snapshot, IndexFiles)> = OnceLock::new();
    let (snapshot, files) = INDEX.get_or_init(|| {
        let snapshot = open(&original().0).expect("a valid archive");
        let create = |part| TextIndex::create(&snapshot.names(Table::Startups), part).expect("an index");
        let files = [IndexPart::Names, IndexPart::Descriptions].into_iter().flat_map(create).collect();
        (snapshot, files)
    });
    let names = snapshot.names(Table::Startups);
    let mut files = files.clone();
    files.insert(TABLES.to_owned(), edited(&files[TABLES], script));
    let Ok(index) = TextIndex::open(files, &names) else { return };
    let own = (0..snapshot.rows(Table::Startups)).map(|row| snapshot.name(Table::Startups, row));
    for query in own.chain(["m", "mos", "moswork", "a b c", "ä", "mossworks inc", "the"]) {
        let rows: Vec<u32> = index.search(&names, query).hits.iter().map(|hit| hit.row).collect();
        assert!(rows.iter().all(|row| *row < snapshot.rows(Table::Startups)), "{query}: {rows:?}");
        index.complete(&names, query, 5);
        index.match_classes(&names, query, &rows);
        index.rows_with_words(query);
        rows.iter().for_each(|row| drop(index.explain(&names, query, *row)));
    }
}
