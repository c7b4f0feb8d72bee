//! What releases bring to saved searches and lists, and what is sent of it: compared with the lists of both releases, and over
//! servers that are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use form_urlencoded::Serializer;
use hmac::{Hmac, KeyInit, Mac};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use sha2::Sha256;

use auth::account::AccountId;
use auth::mail::MailTransport;
use auth::quota::Tier;
use auth::watch::{AlertId, NewWatch, WATCHED, Watch, WatchChange, WatchId};
use auth::{SqliteStore, Store};
use catalog::Resource;
use data::Table;
use service::alerts::{AlertSecrets, AlertSender, evaluate};

use crate::account::mail::Sink;
use crate::api::changes::{FIRST, SECOND, key_of, two_releases, two_releases_of, walk};
use crate::support::harness::{Client, Dice, NOON, Server, copy_as, rounds};
use crate::support::installation::{Installation, small};

fn account(store: &dyn Store, name: &str) -> AccountId {
    let email = format!("{name}@example.com").parse().unwrap();
    store.create_account(&email, Tier::Enterprise, None, NOON).unwrap().id
}

/// Saves a search or, without a query, a list, up to the first release.
fn save(store: &dyn Store, account: AccountId, table: Table, query: Option<&str>, records: &[String]) -> Watch {
    let name = "saved".parse().unwrap();
    let watch = NewWatch { name: &name, table, query, records, served: FIRST.parse().unwrap() };
    store.add_watch(account, watch, NOON).unwrap()
}

/// The entries of the only alert of a search or list; none without an alert.
fn entries(store: &dyn Store, watch: WatchId) -> Vec<Value> {
    let alerts = store.alerts(watch, None, 10).unwrap();
    assert!(alerts.len() < 2);
    let Some(alert) = alerts.first() else { return Vec::new() };
    assert_eq!((alert.since.to_string(), alert.version.to_string()), (FIRST.to_owned(), SECOND.to_owned()));
    let entries: Vec<Value> = serde_json::from_str(&alert.entries).unwrap();
    assert!(!entries.is_empty() && alert.total as usize == entries.len());
    entries
}

fn run_evaluation(server: &Server) -> usize {
    let state = &server.state;
    evaluate(state.auth.store(), &state.releases, NOON, &|| false).unwrap()
}

/// Queries with the values of a record: by each simple field that is a filter, by two of them, and by name.
fn queries(table: Table, record: &Value, dice: &mut Dice) -> Vec<String> {
    let parameters = Resource::of_table(table).parameters();
    let mut pairs: Vec<(String, String)> = Vec::new();
    for parameter in parameters {
        let value = match &record[parameter.name] {
            Value::String(text) => text.clone(),
            Value::Array(values) => match values.first() {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Object(object)) => object["slug"].as_str().unwrap_or_default().to_owned(),
                _ => continue,
            },
            Value::Object(object) if object.contains_key("slug") => object["slug"].as_str().unwrap().to_owned(),
            _ => continue,
        };
        pairs.push((parameter.name.to_owned(), value));
    }
    let mut queries: Vec<Vec<(String, String)>> = pairs.iter().map(|pair| vec![pair.clone()]).collect();
    if pairs.len() > 1 {
        let pick = |dice: &mut Dice| pairs[dice.upto(pairs.len() as u64) as usize].clone();
        queries.push(vec![pick(dice), pick(dice)]);
        let (name, value) = pick(dice);
        queries.push(vec![(format!("not_{name}"), value)]);
    }
    if let (Some(name), true) = (record["name"].as_str(), Resource::of_table(table).is_searchable()) {
        queries.push(vec![("q".to_owned(), name.to_owned())]);
    }
    let text = |pairs: Vec<(String, String)>| Serializer::new(String::new()).extend_pairs(pairs).finish();
    queries.into_iter().map(text).collect()
}

/// The keys of a list in a release; `None` if the query is an error there.
fn keys(client: &Client, path: &str, query: &str, version: &str) -> Option<Vec<String>> {
    let list = format!("{path}?{query}&limit=100&snapshot={version}");
    let status = client.get(&format!("/api/v3/{list}")).status;
    assert!(status == 200 || status == 400, "{list}: {status}");
    (status == 200).then(|| walk(client, &list).iter().map(key_of).collect())
}

#[test]
fn a_search_brings_what_the_later_list_has_and_the_earlier_had_not() {
    let mut news = BTreeMap::new();
    for seed in 1..=rounds(8, 1) as u64 {
        let (server, client) = two_releases_of(seed);
        let mut dice = Dice(seed);
        let store = server.state.auth.store();
        let account = account(store, "ada");
        let merges = walk(&client, &format!("changes?from={FIRST}&op=merge&limit=100"));
        let (mut saved, mut whole) = (Vec::new(), BTreeMap::new());
        for table in WATCHED {
            let path = Resource::of_table(table).path();
            let records = walk(&client, &format!("{path}?fields=*&limit=100&snapshot={SECOND}"));
            whole.insert(path, keys(&client, path, "", FIRST).unwrap().into_iter().collect::<BTreeSet<_>>());
            let mut all: BTreeSet<String> = BTreeSet::from([String::new()]);
            for _ in 0..rounds(6, 3) {
                let record = &records[dice.upto(records.len() as u64) as usize];
                all.extend(queries(table, record, &mut dice));
            }
            saved.extend(all.into_iter().map(|query| {
                let watch = save(store, account, table, Some(&query), &[]);
                (table, path, query, watch.id)
            }));
        }
        let alerts = run_evaluation(&server);
        assert_eq!(run_evaluation(&server), 0, "a release is evaluated once");
        let mut found_alerts = 0;
        for (table, path, query, watch) in saved {
            let after = keys(&client, path, &query, SECOND);
            let found = entries(store, watch);
            found_alerts += usize::from(!found.is_empty());
            let problem = store.watch(watch).unwrap().problem;
            assert_eq!(problem.is_some(), after.is_none(), "{path}?{query}: {problem:?}");
            let Some(after) = after else { continue };
            let mut before: BTreeSet<String> =
                keys(&client, path, &query, FIRST).unwrap_or_default().into_iter().collect();
            // A record that took the place of another is not new.
            for merge in merges.iter().filter(|merge| merge["table"] == path) {
                let (key, into) = (merge["key"].as_str().unwrap(), merge["merged_into"].as_str().unwrap());
                if before.contains(key) && !whole[path].contains(into) {
                    before.insert(into.to_owned());
                }
            }
            let expected: Vec<&String> = after.iter().filter(|key| !before.contains(*key)).collect();
            let found: Vec<String> = found
                .iter()
                .map(|entry| {
                    assert_eq!((entry["reason"].as_str(), &entry["fields"]), (Some("match"), &serde_json::json!([])));
                    let page = client.get(entry["page"].as_str().unwrap());
                    assert_eq!(page.status, 200, "{entry}");
                    entry["key"].as_str().unwrap().to_owned()
                })
                .collect();
            match query.contains("q=") {
                // The list is in the order of relevance.
                true => {
                    assert_eq!(found.iter().collect::<BTreeSet<_>>(), expected.into_iter().collect(), "{path}?{query}")
                }
                false => assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{path}?{query}"),
            }
            *news.entry(table.name()).or_insert(0) += found.len();
        }
        assert_eq!(alerts, found_alerts);
    }
    assert!(WATCHED.iter().all(|table| news[table.name()] > 0), "{news:?}");
}

#[test]
fn a_list_brings_what_became_of_its_records() {
    let (server, client) = two_releases();
    let store = server.state.auth.store();
    let account = account(store, "ada");
    for table in WATCHED {
        let path = Resource::of_table(table).path();
        let mut own: BTreeSet<String> =
            [FIRST, SECOND].iter().flat_map(|version| keys(&client, path, "", version).unwrap()).collect();
        own.insert("no-such-record".to_owned());
        let listed: Vec<String> = own.iter().cloned().collect();
        let watch = save(store, account, table, None, &listed).id;
        run_evaluation(&server);
        let found = entries(store, watch);
        let mut expected = walk(&client, &format!("changes?from={FIRST}&table={path}&limit=100"));
        expected.sort_by_key(|change| change["key"].as_str().unwrap().to_owned());
        assert!(!expected.is_empty());
        assert_eq!(found.len(), expected.len());
        for (entry, change) in found.iter().zip(&expected) {
            assert_eq!(entry["key"], change["key"]);
            assert_eq!(entry["reason"], change["op"], "{entry}");
            assert_eq!((&entry["fields"], &entry["merged_into"]), (&change["fields"], &change["merged_into"]));
            assert_eq!(entry["page"].is_null(), change["op"] == "remove");
            if let (Some(name), true) = (change["record"]["name"].as_str(), table != Table::Rounds) {
                assert_eq!(entry["name"], name);
            }
            if let Some(into) = change["merged_into"].as_str() {
                own.remove(change["key"].as_str().unwrap());
                own.insert(into.to_owned());
            }
        }
        assert_eq!(store.listed(watch).unwrap(), own.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn an_earlier_release_and_the_bundled_one_bring_nothing() {
    let (server, _) = two_releases();
    let store = server.state.auth.store();
    let account = account(store, "ada");
    let watch = save(store, account, Table::People, Some(""), &[]).id;
    assert_eq!(run_evaluation(&server), 1);
    let (first, second) = (server.state.releases.all()[1].clone(), server.state.releases.current());
    server.state.releases.replace(first);
    assert_eq!(run_evaluation(&server), 0);
    server.state.releases.replace(second);
    assert_eq!(run_evaluation(&server), 0);
    // Which has one alert at most.
    assert!(!entries(store, watch).is_empty());
    let bundled = Server::bundled();
    let store = bundled.state.auth.store();
    save(store, self::account(store, "ada"), Table::People, Some(""), &[]);
    assert_eq!(run_evaluation(&bundled), 0);
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// A message to a webhook.
struct Received {
    path: String,
    headers: BTreeMap<String, String>,
    body: Value,
    raw: Vec<u8>,
}

/// A receiver of webhooks: keeps every message, and responds with what `status` says of its number.
struct Receiver {
    port: u16,
    messages: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    fn start(status: fn(usize) -> u16) -> Self {
        let chain = CertificateDer::pem_file_iter(fixture("receiver.pem")).unwrap().map(Result::unwrap).collect();
        let key = PrivateKeyDer::from_pem_file(fixture("receiver-key.pem")).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let messages: Arc<Mutex<Vec<Received>>> = Arc::default();
        let kept = Arc::clone(&messages);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (config, kept) = (Arc::clone(&config), Arc::clone(&kept));
                std::thread::spawn(move || -> std::io::Result<()> {
                    let connection = ServerConnection::new(config).unwrap();
                    let mut stream = BufReader::new(StreamOwned::new(connection, stream?));
                    let mut line = String::new();
                    stream.read_line(&mut line)?;
                    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
                    let mut headers = BTreeMap::new();
                    loop {
                        line.clear();
                        stream.read_line(&mut line)?;
                        let Some((name, value)) = line.trim().split_once(':') else { break };
                        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
                    }
                    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
                    let mut raw = vec![0; length];
                    stream.read_exact(&mut raw)?;
                    let body = serde_json::from_slice(&raw).unwrap();
                    let status = {
                        let mut kept = kept.lock().unwrap();
                        kept.push(Received { path, headers, body, raw });
                        status(kept.len())
                    };
                    let stream = stream.get_mut();
                    write!(stream, "HTTP/1.1 {status} \r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
                    stream.flush()
                });
            }
        });
        Self { port, messages }
    }

    fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}/{path}", self.port)
    }
}

/// The signature of a message, as Standard Webhooks defines it.
fn signature(secret: &str, message: &Received) -> String {
    let secret = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&secret).unwrap();
    let (id, time) = (&message.headers["webhook-id"], &message.headers["webhook-timestamp"]);
    mac.update(format!("{id}.{time}.").as_bytes());
    mac.update(&message.raw);
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

/// The settings under which a server may send to a [`Receiver`].
const WEBHOOKS: [&str; 4] = ["--webhooks", "on", "--webhook-networks", "127.0.0.0/8"];

#[test]
fn killed_servers_deliver_each_match_once() {
    let installation = Installation::new();
    let data = installation.data();
    publish(&installation, FIRST, 0);
    // Every tenth message is refused at first.
    let receiver = Receiver::start(|number| if number % 10 == 3 { 503 } else { 200 });
    let store = SqliteStore::open(&data).unwrap();
    let watches = &*store;
    let accounts: Vec<AccountId> = (0..10).map(|number| account(&store, &format!("owner{number}"))).collect();
    let mut secrets = BTreeMap::new();
    let derived = AlertSecrets::new(&store.cursor_secret([7; 32]).unwrap());
    for owner in &accounts {
        let webhook = watches.add_webhook(*owner, &receiver.url(&format!("of/{}", owner.0)), NOON).unwrap();
        secrets.insert(format!("/of/{}", owner.0), derived.webhook_secret(&webhook).reveal());
        for number in 0..20 {
            let watch = match number % 2 {
                0 => save(watches, *owner, Table::Startups, None, &["mossworks".to_owned()]),
                _ => save(watches, *owner, Table::Startups, Some("stage=seed"), &[]),
            };
            let notify = WatchChange::Notify { emails: false, webhook: Some(webhook.id) };
            watches.change_watch(*owner, watch.id, notify).unwrap();
        }
    }
    let versions: Vec<String> = (1..=4).map(|number| format!("2026-11-2{number}.1")).collect();
    let mut dice = Dice(42);
    let open = || {
        let database = rusqlite::Connection::open(data.join("venturedex.sqlite")).unwrap();
        let due: u32 =
            database.query_row("SELECT count(*) FROM outbox WHERE due_at IS NOT NULL", [], |row| row.get(0)).unwrap();
        let behind: u32 = database
            .query_row("SELECT count(*) FROM watches WHERE evaluated <> ?", [versions.last().unwrap()], |row| {
                row.get(0)
            })
            .unwrap();
        // Retries are due at once: nobody waits for minutes here.
        database.execute("UPDATE outbox SET due_at = 0 WHERE due_at > 0 AND NOT claimed", []).unwrap();
        due + behind
    };
    let certificate = fixture("receiver.pem");
    let environment = [("SSL_CERT_FILE", certificate.to_str().unwrap())];
    let began = Instant::now();
    let mut kills: usize = 0;
    let mut published = versions.iter().zip(1..=versions.len());
    loop {
        if let Some((version, number)) = published.next() {
            publish(&installation, version, number);
        }
        let mut server = installation.serve_in(&environment, &WEBHOOKS);
        if kills < rounds(40, 5) {
            std::thread::sleep(Duration::from_millis(dice.upto(900)));
        } else {
            server.wait(|| open() == 0);
        }
        server.child.kill().unwrap();
        server.child.wait().unwrap();
        kills += 1;
        if kills >= versions.len() && open() == 0 {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(600), "{} are open", open());
    }
    let messages = receiver.messages.lock().unwrap();
    // A message that is repeated has the same id, and everything else is there once.
    let mut by_id: BTreeMap<&str, &Received> = BTreeMap::new();
    for message in messages.iter() {
        let id = message.headers["webhook-id"].as_str();
        assert_eq!(message.headers["webhook-signature"], signature(&secrets[&message.path], message));
        let first = by_id.entry(id).or_insert(message);
        assert_eq!((&first.path, &first.body["data"]), (&message.path, &message.body["data"]));
    }
    let mut delivered: BTreeMap<(String, u64, String), u32> = BTreeMap::new();
    for message in by_id.values() {
        let data = &message.body["data"];
        for record in data["records"].as_array().unwrap() {
            let key = format!("{} {}", data["snapshot"].as_str().unwrap(), record["key"].as_str().unwrap());
            *delivered.entry((message.path.clone(), data["saved"].as_u64().unwrap(), key)).or_default() += 1;
        }
    }
    let mut expected = BTreeMap::new();
    for owner in &accounts {
        for alert in watches.alerts_after(*owner, None, AlertId(0), 1_000).unwrap() {
            for entry in serde_json::from_str::<Vec<Value>>(&alert.entries).unwrap() {
                let key = format!("{} {}", alert.version, entry["key"].as_str().unwrap());
                expected.insert((format!("/of/{}", owner.0), alert.watch.0.unsigned_abs(), key), 1);
            }
        }
    }
    assert_eq!(delivered, expected);
    // Each list has an alert of the last release at least, and each search matches each new startup, however the kills fell.
    let count = |text: &str| expected.keys().filter(|(_, _, key)| key.contains(text)).count();
    assert!(count("mossworks") >= 10 * 10);
    for (_, number) in versions.iter().zip(1..) {
        assert_eq!(count(&format!(" new-{number}")), 10 * 10);
    }
}

/// Publishes the small dataset with another name of its startup `mossworks` and `new` more startups.
fn publish(installation: &Installation, version: &str, new: usize) {
    let dataset = copy_as(&small(), version);
    let path = dataset.path().join("startups.csv");
    let mut text =
        fs::read_to_string(&path).unwrap().replace("mossworks,Mossworks,", &format!("mossworks,Mossworks {new},"));
    let line = text.lines().nth(1).unwrap().to_owned();
    let (_, rest) = line.split_once(',').unwrap();
    let (_, rest) = rest.split_once(',').unwrap();
    text.extend((1..=new).map(|number| format!("new-{number},Newcomer {number},{rest}\n")));
    fs::write(path, text).unwrap();
    installation.indexer(&["build", "--dataset", dataset.path().to_str().unwrap()]);
}

#[test]
fn one_email_has_all_alerts_of_an_account() {
    let (server, client) = two_releases();
    let auth = &server.state.auth;
    let store = auth.store();
    let (ada, bob) = (account(store, "ada"), account(store, "bob"));
    store.verify_account(ada, NOON).unwrap();
    for owner in [ada, bob] {
        for table in [Table::People, Table::Startups, Table::Startups] {
            let watch = save(store, owner, table, Some(""), &[]);
            store.change_watch(owner, watch.id, WatchChange::Notify { emails: true, webhook: None }).unwrap();
        }
    }
    assert_eq!(run_evaluation(&server), 6);
    let sink = Sink::start(&["451 try again"]);
    let transport = |sink: &Sink| {
        let url = format!("smtp://{}", sink.address).parse().unwrap();
        Some(MailTransport::new(&url, None, crate::account::mail::sender("alerts@example.com")))
    };
    let sender =
        |mail, clock: fn() -> i64| AlertSender::new(Arc::clone(&server.state.alerts), mail, client.base.clone(), clock);
    let send = |sender: AlertSender| sender.send_due(store, &|| false).unwrap();
    assert_eq!(send(sender(transport(&sink), || NOON)), 0);
    let outcome = |owner| store.alerts_after(owner, None, AlertId(0), 1).unwrap()[0].outcome.clone().unwrap();
    assert!(outcome(ada).contains("451"), "{}", outcome(ada));
    assert!(outcome(bob).contains("your address is not verified"), "{}", outcome(bob));
    assert_eq!(send(sender(transport(&sink), || NOON + 4)), 0, "not yet");
    assert_eq!(send(sender(transport(&sink), || NOON + 5)), 1);
    assert_eq!(outcome(ada), "e-mail: sent");
    let mail = sink.mails.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(mail.to, "<ada@example.com>");
    let text = mail.text.replace("\r\n", "\n");
    assert!(text.contains("Subject: VentureDex: news in 3 saved searches and lists\n"), "{text}");
    for alert in store.alerts_after(ada, None, AlertId(0), 10).unwrap() {
        let entries: Vec<Value> = serde_json::from_str(&alert.entries).unwrap();
        for entry in entries.iter().take(10) {
            let (name, page) = (entry["name"].as_str().unwrap(), entry["page"].as_str().unwrap());
            assert!(text.contains(&format!("\n  {name}\n    {}{page}\n", client.base)), "{name}: {text}");
        }
        assert!(text.contains(&format!("\nsaved: {} new matches with the release {SECOND}\n", alert.total)), "{text}");
    }
    assert_eq!(send(sender(transport(&sink), || NOON + 1_000_000)), 0);
    assert!(sink.mails.try_recv().is_err());
}
