//! Bulk files: in whole and in part, cut and resumed, with and without a key; what changes on disk is never sent.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use auth::quota::Tier;
use catalog::BulkFile;
use release::{Checksum, Manifest, ReleaseStore, Starting, manifest};
use service::BulkAccess;
use tempfile::TempDir;

use crate::support::harness::{
    Client, Dice, Server, agent_without_redirects, catalog_of, code, resident, runs, wants_rounds,
};
use crate::support::installation::{Installation, overwrite, small};
use crate::support::program::Process;

const NAME: &str = "people.ndjson.gz";
const CHUNK: u64 = BulkFile::CHUNK;
const LENGTH: u64 = 9 * CHUNK + 1_234;

/// A server whose release has a bulk file of random bytes.
struct Downloads {
    server: Server,
    folder: TempDir,
    bytes: Vec<u8>,
    path: String,
}

impl Downloads {
    fn new(access: BulkAccess) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut dice = Dice(3);
        let bytes: Vec<u8> = (0..LENGTH).map(|_| dice.upto(256) as u8).collect();
        let at = |name: &str| folder.path().join(name);
        fs::write(at(NAME), &bytes).unwrap();
        fs::write(at("views.sql"), "").unwrap();
        let files = [NAME, "views.sql"].map(|name| BulkFile::open(&at(name), name).unwrap());
        let server = Server::offering(catalog_of(&small()).with_bulk_files(files.into()), access);
        let path = format!("/data/{}/{NAME}", server.state.releases.current().version());
        Self { server, folder, bytes, path }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    fn etag(&self) -> String {
        format!("\"{}\"", Checksum::of(&self.bytes))
    }
}

/// Status, headers and bytes of a response.
fn fetch(client: &Client, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, http::HeaderMap, Vec<u8>) {
    let mut request = http::Request::builder().method(method).uri(format!("{}{path}", client.base));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if let Some(key) = &client.key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let mut response = agent_without_redirects().run(request.body(()).unwrap()).unwrap();
    let bytes = response.body_mut().with_config().limit(u64::MAX).read_to_vec().unwrap();
    (response.status().as_u16(), response.headers().clone(), bytes)
}

#[test]
fn a_file_is_sent_as_it_is_and_cached_forever() {
    let downloads = Downloads::new(BulkAccess::Open);
    let client = downloads.server.anonymous();
    let (status, headers, bytes) = fetch(&client, "GET", &downloads.path, &[("accept-encoding", "gzip")]);
    assert!(status == 200 && bytes == downloads.bytes);
    for (name, expected) in [
        ("etag", downloads.etag().as_str()),
        ("content-length", &LENGTH.to_string()),
        ("content-type", "application/gzip"),
        ("content-disposition", "attachment; filename=\"people.ndjson.gz\""),
        ("accept-ranges", "bytes"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("access-control-allow-origin", "*"),
        ("x-snapshot", "2026-11-20.1"),
    ] {
        assert_eq!(headers[name], expected, "{name}");
    }
    assert!(!headers.contains_key("content-encoding") && !headers.contains_key("x-ratelimit-limit"));
    let (status, of_head, bytes) = fetch(&client, "HEAD", &downloads.path, &[("range", "bytes=0-4")]);
    assert_eq!((status, bytes.len()), (200, 0));
    for name in ["etag", "content-length", "content-type", "accept-ranges", "cache-control"] {
        assert_eq!(of_head[name], headers[name], "{name}");
    }
    for known in [downloads.etag(), "*".to_owned(), format!("W/{}", downloads.etag())] {
        assert_eq!(fetch(&client, "GET", &downloads.path, &[("if-none-match", &known)]).0, 304);
    }
    assert_eq!(fetch(&client, "GET", &downloads.path, &[("if-match", "\"other\"")]).0, 412);
    assert_eq!(fetch(&client, "GET", &downloads.path, &[("if-match", &downloads.etag())]).0, 200);
    let (status, headers, _) = fetch(&client, "GET", &format!("/data/latest/{NAME}"), &[]);
    assert_eq!((status, headers["location"].to_str().unwrap()), (302, &*downloads.path));
    assert_eq!(headers["cache-control"], "no-cache");
    let empty = fetch(&client, "GET", &downloads.path.replace(NAME, "views.sql"), &[]);
    assert_eq!((empty.0, empty.2.len()), (200, 0));
    assert_eq!(fetch(&client, "OPTIONS", &downloads.path, &[]).0, 204);
}

#[test]
fn any_part_of_a_file_is_the_same_part_of_the_whole() {
    let downloads = Downloads::new(BulkAccess::Open);
    let client = downloads.server.anonymous();
    let whole = &downloads.bytes;
    let mut dice = Dice(11);
    for round in 0..60 {
        // Around the ends of chunks, or anywhere.
        let near = |dice: &mut Dice| (dice.upto(10) * CHUNK + dice.upto(5)).saturating_sub(2).min(LENGTH - 1);
        let any = |dice: &mut Dice| dice.upto(LENGTH);
        let pick = if round % 2 == 0 { near } else { any };
        let (a, b) = (pick(&mut dice), pick(&mut dice));
        let (first, last) = (a.min(b), a.max(b));
        let (range, expected) = match dice.upto(3) {
            0 => (format!("bytes={first}-"), first..LENGTH),
            1 => (format!("bytes=-{}", first + 1), LENGTH - first - 1..LENGTH),
            _ => (format!("bytes={first}-{last}"), first..last + 1),
        };
        let (status, headers, bytes) = fetch(&client, "GET", &downloads.path, &[("range", &range)]);
        assert_eq!(status, 206, "{range}");
        assert!(bytes == whole[expected.start as usize..expected.end as usize], "{range}");
        assert_eq!(headers["content-range"], format!("bytes {}-{}/{LENGTH}", expected.start, expected.end - 1));
        assert_eq!(headers["content-length"], (expected.end - expected.start).to_string());
    }
    let (status, headers, _) = fetch(&client, "GET", &downloads.path, &[("range", &format!("bytes={LENGTH}-"))]);
    assert_eq!((status, headers["content-range"].to_str().unwrap()), (416, &*format!("bytes */{LENGTH}")));
    for (condition, status) in
        [(downloads.etag(), 206), (format!("W/{}", downloads.etag()), 200), ("\"other\"".into(), 200)]
    {
        let headers = [("range", "bytes=5-"), ("if-range", &*condition)];
        assert_eq!(fetch(&client, "GET", &downloads.path, &headers).0, status, "{condition}");
    }
    assert_eq!(fetch(&client, "GET", &downloads.path, &[("range", "bytes=0-1,5-6")]).0, 200);
}

#[test]
fn a_download_that_was_cut_is_resumed_by_curl() {
    if !runs("curl", &["--version"]) {
        return;
    }
    let downloads = Downloads::new(BulkAccess::Open);
    let half = downloads.folder.path().join("half");
    for cut in [0, 1, CHUNK, CHUNK + 77, LENGTH - 1] {
        fs::write(&half, &downloads.bytes[..cut as usize]).unwrap();
        let url = format!("http://{}/data/latest/{NAME}", downloads.server.address);
        let status = std::process::Command::new("curl").args(["-sSfL", "-C", "-", "-o"]).arg(&half).arg(url).status();
        assert!(status.unwrap().success() && fs::read(&half).unwrap() == downloads.bytes, "cut at {cut}");
    }
}

/// Everything that a server sends before it closes the connection, without the head.
fn raw(downloads: &Downloads) -> (String, Vec<u8>) {
    let mut socket = TcpStream::connect(downloads.server.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", downloads.path, downloads.server.address);
    socket.write_all(head.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    let _ = socket.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    (String::from_utf8(bytes[..end].to_vec()).unwrap(), bytes.split_off(end))
}

#[test]
fn what_changes_on_disk_is_never_sent() {
    let changes: [fn(&Path); 4] = [
        |path| {
            let mut file = File::options().write(true).open(path).unwrap();
            file.seek(SeekFrom::Start(3 * CHUNK + 5)).unwrap();
            file.write_all(b"x").unwrap();
        },
        |path| File::options().write(true).open(path).unwrap().set_len(4 * CHUNK - 1).unwrap(),
        |path| File::options().write(true).open(path).unwrap().set_len(0).unwrap(),
        |path| File::options().write(true).open(path).unwrap().write_all(&[0; LENGTH as usize]).unwrap(),
    ];
    for (number, change) in changes.iter().enumerate() {
        let downloads = Downloads::new(BulkAccess::Open);
        change(&downloads.file());
        let (head, sent) = raw(&downloads);
        assert!(head.starts_with("HTTP/1.1 200") && head.to_lowercase().contains(&format!("content-length: {LENGTH}")));
        assert!((sent.len() as u64) < LENGTH, "change {number} is noticed");
        assert!(downloads.bytes.starts_with(&sent), "change {number}: only verified bytes are sent");
        assert_eq!(downloads.server.state.telemetry.aborted.get(), 1);
    }
    // What is removed or replaced by another file is still open.
    let downloads = Downloads::new(BulkAccess::Open);
    fs::remove_file(downloads.file()).unwrap();
    fs::write(downloads.file(), b"another").unwrap();
    let (_, _, bytes) = fetch(&downloads.server.anonymous(), "GET", &downloads.path, &[]);
    assert!(bytes == downloads.bytes && downloads.server.state.telemetry.aborted.get() == 0);
}

#[test]
fn an_operator_may_require_a_key_or_offer_nothing() {
    let downloads = Downloads::new(BulkAccess::Key);
    let path = downloads.path.as_str();
    let refused = downloads.server.anonymous().get(path);
    assert_eq!(code(&refused), (401, "missing_api_key".to_owned()));
    assert_eq!((refused.header("www-authenticate"), refused.header("x-ratelimit-limit")), ("Bearer", "0"));
    let client = downloads.server.client(Tier::Free);
    let (status, headers, _) = fetch(&client, "GET", path, &[]);
    assert_eq!((status, headers["x-ratelimit-remaining"].to_str().unwrap()), (200, "99"));
    assert_eq!(headers["cache-control"], "private, max-age=31536000, immutable");
    assert_eq!(fetch(&client, "GET", path, &[("if-none-match", &downloads.etag())]).1["x-ratelimit-remaining"], "99");
    assert_eq!(fetch(&client, "GET", path, &[("range", "bytes=-1")]).1["x-ratelimit-remaining"], "98");
    for _ in 0..98 {
        assert_eq!(fetch(&client, "HEAD", path, &[]).0, 200);
    }
    let refused = client.get(path);
    assert_eq!(code(&refused), (429, "quota_exceeded".to_owned()));
    assert!(!refused.header("retry-after").is_empty());
    assert_eq!(fetch(&client, "GET", path, &[("if-none-match", &downloads.etag())]).0, 304);

    let downloads = Downloads::new(BulkAccess::Off);
    let refused = downloads.server.client(Tier::Enterprise).get(&downloads.path);
    assert_eq!(code(&refused), (404, "unknown_route".to_owned()));
}

#[test]
fn a_path_without_a_file_says_what_there_is() {
    let downloads = Downloads::new(BulkAccess::Open);
    let client = downloads.server.anonymous();
    for (path, said) in [
        ("/data/2020-01-01.1/people.ndjson.gz", "held are 2026-11-20.1"),
        ("/data/2026-11-20/people.ndjson.gz", "held are 2026-11-20.1"),
        ("/data/2026-11-20.1/people.csv", "it has people.ndjson.gz, views.sql"),
        ("/data/2026-11-20.1/../tables.bin", "it has people"),
        ("/data/2026-11-20.1/%2e%2e%2ftables.bin", "it has people"),
        ("/data/2026-11-20.1/", "it has people"),
        ("/data/latest/tables.bin", "it has people"),
        ("/data/latest", "it has people"),
    ] {
        let reply = client.get(path);
        assert_eq!(code(&reply).0, 404, "{path}: {}", reply.text);
        assert!(reply.json()["detail"].as_str().unwrap().contains(said), "{path}: {}", reply.text);
    }
    assert_eq!(client.send("DELETE", &downloads.path, &[]).status, 405);
    let without = Server::bundled();
    let reply = without.anonymous().get("/data/latest/vcs.parquet");
    assert!(reply.status == 404 && reply.text.contains("indexer build --bulk"), "{}", reply.text);
    // The page about the data lists the files.
    let page = client.get("/data").text;
    assert!(
        page.contains(&format!("href=\"{}\"", downloads.path)) && page.contains(&downloads.etag()[1..65]),
        "{page}"
    );
}

/// Adds a bulk file to a published release and its manifest.
fn add_bulk_file(release: &Path, name: &str, length: u64) {
    let folder = release.join("bulk");
    fs::create_dir_all(&folder).unwrap();
    let file = File::create(folder.join(name)).unwrap();
    file.set_len(length).unwrap();
    let (bytes, sha256) = Checksum::of_file(&folder.join(name)).unwrap();
    let path = release.join("manifest.json");
    let mut manifest: Manifest = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    manifest.files.push(manifest::File::new(format!("bulk/{name}"), bytes, sha256));
    let json = |manifest: &Manifest| serde_json::to_string_pretty(manifest).unwrap() + "\n";
    manifest.sha256 = None;
    manifest.sha256 = Some(Checksum::of(json(&manifest).as_bytes()));
    overwrite(&path, json(&manifest).as_bytes());
}

#[test]
fn a_large_file_takes_no_memory() {
    let bench = Installation::new();
    bench.publish("2026-11-20.1");
    let length: u64 = if wants_rounds() { 2 << 30 } else { 96 << 20 };
    let release = bench.index().join("2026-11-20.1");
    add_bulk_file(&release, "large.parquet", length);
    let data = tempfile::tempdir().unwrap();
    let index = bench.index();
    let server = Process::start(data.path(), &["--bulk", "open", "--index", index.to_str().unwrap()]);
    let client = Client { base: server.base.clone(), key: None, agent: agent_without_redirects() };
    let read = || {
        let response = client.agent.get(format!("{}/data/2026-11-20.1/large.parquet", client.base)).call().unwrap();
        let (mut body, mut total, mut part) = (response.into_body().into_reader(), 0, vec![0; 1 << 16]);
        loop {
            match body.read(&mut part).unwrap() {
                0 => break total,
                read => total += read as u64,
            }
        }
    };
    // What each thread allocates once.
    fetch(&client, "GET", "/data/2026-11-20.1/large.parquet", &[("range", "bytes=0-3000000")]);
    let before = resident(server.id());
    assert_eq!(read(), length);
    let Some((before, after)) = before.zip(resident(server.id())) else {
        return eprintln!("skipped: this system does not say what memory a process uses");
    };
    let growth = after.saturating_sub(before) / 1024;
    println!("{} MiB sent, memory grew by {growth} MiB", length >> 20);
    assert!(growth <= 10, "{growth} MiB for a file of {} MiB", length >> 20);
    drop(server);

    // A release with a bulk file that was changed is refused at the start.
    let file = release.join("bulk/large.parquet");
    fs::remove_file(&file).unwrap();
    let mut changed = File::create(&file).unwrap();
    changed.write_all(b"x").unwrap();
    changed.set_len(length).unwrap();
    let start = |store: ReleaseStore| Starting::new(store, 0, |_| {}).start().map(|_| ());
    assert!(start(ReleaseStore::at(&index)).is_ok(), "who does not offer it does not read it");
    let mut offering = ReleaseStore::at(&index);
    offering.has_bulk_files = true;
    let error = start(offering).unwrap_err().to_string();
    assert!(error.contains("bulk/large.parquet has the checksum"), "{error}");
}
