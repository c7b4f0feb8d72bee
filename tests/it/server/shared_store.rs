//! Several servers on one PostgreSQL database, as an operator runs them.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use auth::PostgresStore;
use serde_json::Value;
use tempfile::TempDir;

use crate::commands::backup::text;
use crate::support::browser::shown_key;
use crate::support::harness::{agent, agent_without_redirects, files_below, rounds};
use crate::support::postgres_server::{Database, PASSWORD, own_server};
use crate::support::program::{Process, command, run};

/// A database, the settings that lead to it, and folders of servers.
struct Shared {
    database: Database,
    folder: TempDir,
    url: String,
    /// The role with a password, if the server was started here.
    has_password: bool,
}

impl Shared {
    fn new() -> Option<Self> {
        let database = Database::create()?;
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("password"), format!("{PASSWORD}\n")).unwrap();
        let url = match own_server() {
            None => database.url.clone(),
            Some(server) => {
                database.run("GRANT ALL ON SCHEMA public TO secured");
                let certificate = server.folder.join("cert.pem");
                // Encrypted, if openssl has made a certificate.
                match certificate.exists() {
                    true => format!(
                        "postgres://secured@localhost:{}/{}?sslmode=verify-full&sslrootcert={}",
                        server.port,
                        database.name(),
                        text(&certificate)
                    ),
                    false => format!("postgres://secured@127.0.0.1:{}/{}", server.port, database.name()),
                }
            }
        };
        Some(Self { database, folder, url, has_password: own_server().is_some() })
    }

    /// The URL without parameters, as it is shown.
    fn place(&self) -> &str {
        self.url.split('?').next().unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Flags of all commands.
    fn flags(&self) -> Vec<String> {
        let password = ["--store-password-file".to_owned(), text(&self.path("password")).to_owned()];
        let flags = ["--store".to_owned(), self.url.clone()];
        flags.into_iter().chain(password.into_iter().filter(|_| self.has_password)).collect()
    }

    fn words<'a>(flags: &'a [String], words: &[&'a str]) -> Vec<&'a str> {
        flags.iter().map(String::as_str).chain(words.iter().copied()).collect()
    }

    fn run(&self, words: &[&str]) -> crate::support::program::Ended {
        run(&self.path("operator"), &Self::words(&self.flags(), words), "")
    }

    /// A server with a data folder and a log of its own.
    fn serve(&self, name: &str) -> Process {
        self.serve_with(name, &[])
    }

    fn serve_with(&self, name: &str, more: &[&str]) -> Process {
        let data = self.path(name);
        fs::create_dir_all(&data).unwrap();
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        let words = [&["--log", "debug", "--sign-ups-per-hour", "100"], more].concat();
        Process::start_with(&data, &Self::words(&self.flags(), &words), log)
    }

    /// Whether something that must stay secret is in a file of the servers and commands.
    fn leaks(&self, secret: &str) -> Vec<PathBuf> {
        let mut files = files_below(self.folder.path());
        files.retain(|path| {
            let has_secret = |bytes: Vec<u8>| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            *path != self.path("password") && has_secret(fs::read(path).unwrap())
        });
        files
    }
}

#[track_caller]
fn soon(what: &str, is_done: impl FnMut() -> bool) {
    within(Duration::from_secs(10), what, is_done);
}

#[track_caller]
fn within(time: Duration, what: &str, mut is_done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_done() {
        assert!(started.elapsed() < time, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn two_servers_share_accounts_keys_sessions_and_usage() {
    let Some(shared) = Shared::new() else { return };
    let [mut first, second] = ["first", "second"].map(|name| shared.serve(name));
    // An account of a command, with a key that both servers accept.
    shared.run(&["account", "create", "--email", "ada@example.com", "--tier", "pro"]).ok();
    let key = shared.run(&["key", "create", "--email", "ada@example.com", "--name", "a"]).ok();
    let key = key.trim();
    let clients = [first.client(key), second.client(key)];
    for client in &clients {
        assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
        // Calls of the store within requests of the API.
        assert_eq!(client.get("/api/v3/saved").status, 200);
        assert_eq!(client.get("/api/v3/alerts").status, 200);
    }
    // Who signs up at one server is signed in at the other, and its key is accepted by both.
    let post = |base: &str, path: &str, cookie: &str, form: &[(&str, &str)]| {
        let request =
            agent_without_redirects().post(format!("{base}{path}")).header("origin", base).header("cookie", cookie);
        request.send_form(form.iter().copied()).unwrap()
    };
    let reply = post(&first.base, "/signup", "", &[("email", "bob@example.com"), ("password", "seven quiet herons")]);
    assert_eq!(reply.status(), 303);
    let cookie = reply.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let mut reply = post(&second.base, "/account/keys", &cookie, &[("name", "mine")]);
    assert_eq!(reply.status(), 201);
    let of_bob = shown_key(&reply.body_mut().read_to_string().unwrap());
    assert_eq!(first.client(&of_bob).get("/api/v3/vcs?limit=1").status, 200);

    // Usage is counted for both: each learns of the other's when it writes its own.
    let in_database = |requests: u64| {
        soon("the database has the usage of both", || {
            let sql = "SELECT sum(requests) FROM usage JOIN keys ON keys.id = usage.key JOIN accounts \
                       ON accounts.id = keys.account WHERE email = 'ada@example.com'";
            shared.database.rows(sql)[0].parse() == Ok(requests)
        });
    };
    let mut requests = 6;
    in_database(requests);
    for client in clients.iter().cycle().take(4) {
        requests += 1;
        assert_eq!(client.get(&format!("/api/v3/vcs?limit={requests}")).status, 200);
        in_database(requests);
        soon("a server that has written knows the usage of both", || client.used() == requests);
    }
    let keys = shared.run(&["key", "list", "--email", "ada@example.com", "--json"]).ok();
    assert_eq!(serde_json::from_str::<Value>(&keys).unwrap()["keys"][0]["used_today"], requests);

    // A revocation by a command reaches both.
    shared.run(&["key", "revoke", key]).ok();
    for client in &clients {
        within(Duration::from_secs(2), "the key is rejected", || client.get("/api/v3/vcs?limit=1").status == 401);
    }
    // One ends, the other goes on.
    assert_eq!(first.terminate(), Some(0));
    assert_eq!(second.client(&of_bob).get("/api/v3/vcs?limit=1").status, 200);
    for name in ["first", "second", "operator"] {
        assert!(!shared.path(name).join("venturedex.sqlite").exists(), "{name}");
    }
    assert_eq!(shared.leaks(PASSWORD), Vec::<PathBuf>::new());
    assert!(!fs::read_to_string(shared.path("log")).unwrap().contains("ERROR"));
}

#[test]
fn two_servers_together_admit_the_quota_of_a_key() {
    let Some(shared) = Shared::new() else { return };
    let servers = ["first", "second"].map(|name| shared.serve(name));
    shared.run(&["account", "create", "--email", "ada@example.com"]).ok();
    let key = shared.run(&["key", "create", "--email", "ada@example.com", "--name", "a"]).ok();
    let clients = [servers[0].client(key.trim()), servers[1].client(key.trim())];
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let client = |number: usize| {
            let clients = &clients;
            scope.spawn(move || {
                let path = |request| format!("/api/v3/vcs?limit={}", request % 9 + 1);
                (0..40).map(|request| clients[(number + request) % 2].get(&path(request)).status).collect::<Vec<_>>()
            })
        };
        let clients: Vec<_> = (0..8).map(client).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 100);
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 220);
    for client in &clients {
        let refused = client.get("/api/v3/vcs");
        assert_eq!((refused.status, refused.header("x-ratelimit-remaining")), (429, "0"));
    }
    soon("the usage is stored", || shared.database.rows("SELECT sum(requests) FROM usage") == ["100"]);
    assert_eq!(shared.database.rows("SELECT taken FROM leases"), ["100"]);
}

#[test]
fn kills_under_load_lose_no_unit_of_a_key_and_admit_none_twice() {
    const NAMES: [&str; 3] = ["first", "second", "third"];
    let (kills, quota) = (rounds(4, 1), rounds(5_000, 1_000) as u32);
    let Some(shared) = Shared::new() else { return };
    let tiers = format!("pro=requests:{quota}");
    let serve = |name: &str| shared.serve_with(name, &["--tiers", &tiers]);
    let mut servers = NAMES.map(serve);
    shared.run(&["account", "create", "--email", "ada@example.com", "--tier", "pro"]).ok();
    let key = shared.run(&["key", "create", "--email", "ada@example.com", "--name", "a"]).ok();
    let header = format!("Bearer {}", key.trim());
    let bases = Mutex::new(servers.each_ref().map(|server| server.base.clone()));
    // Requests that a killed server may have admitted without an answer.
    let (answered, unanswered) = (AtomicU32::new(0), AtomicU32::new(0));
    // Milliseconds without an admitted request after which the clients end; long enough for the last lease to come back.
    let (started, last_answer) = (Instant::now(), AtomicU32::new(0));
    // Milliseconds that a request took at most.
    let slowest = AtomicU32::new(0);
    let now = || started.elapsed().as_millis() as u32;
    std::thread::scope(|scope| {
        for client in 0..8 {
            let (bases, answered, unanswered, last_answer, slowest, header) =
                (&bases, &answered, &unanswered, &last_answer, &slowest, &header);
            scope.spawn(move || {
                let agent = agent();
                for number in client.. {
                    let base = bases.lock().unwrap()[number % NAMES.len()].clone();
                    let begun = Instant::now();
                    let sent = agent.get(format!("{base}/api/v3/vcs?limit=1")).header("authorization", header).call();
                    slowest.fetch_max(begun.elapsed().as_millis() as u32, Ordering::Relaxed);
                    match sent.map(|reply| reply.status().as_u16()) {
                        Ok(200) => {
                            answered.fetch_add(1, Ordering::Relaxed);
                            last_answer.fetch_max(now(), Ordering::Relaxed);
                        }
                        Ok(429) if now() - last_answer.load(Ordering::Relaxed) > 20_000 => return,
                        // None is left, or the database is slow.
                        Ok(429 | 503) => std::thread::sleep(Duration::from_millis(20)),
                        // Nobody listens there: it was admitted by nobody.
                        Err(ureq::Error::ConnectionFailed) => {}
                        Err(ureq::Error::Io(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {}
                        Ok(status) => panic!("status {status}"),
                        Err(_) => drop(unanswered.fetch_add(1, Ordering::Relaxed)),
                    }
                }
            });
        }
        for kill in 0..kills {
            within(Duration::from_secs(60), "the clients are served", || {
                answered.load(Ordering::Relaxed) >= quota / 6 * (kill as u32 + 1)
            });
            let index = kill % NAMES.len();
            servers[index].kill();
            servers[index] = serve(NAMES[index]);
            bases.lock().unwrap()[index].clone_from(&servers[index].base);
        }
    });
    let (answered, unanswered) = (answered.into_inner(), unanswered.into_inner());
    assert!(unanswered as usize <= 8 * kills + 8, "{answered} and {unanswered}");
    assert!(answered + unanswered >= quota, "{answered} and {unanswered}: units are lost");
    // A database that does not answer within 250 ms counts as away, and servers admit a tenth of the quota without it.
    if slowest.into_inner() < 200 {
        assert!(answered <= quota, "{answered} are admitted");
        assert_eq!(shared.database.rows("SELECT taken FROM leases"), [quota.to_string()]);
    } else {
        eprintln!("{answered} are admitted; the machine is too busy to say that none of them is without the database");
    }
}

#[test]
fn a_server_whose_database_is_away_serves_known_keys_and_rejects_none() {
    let Some(shared) = Shared::new() else { return };
    let server = shared.serve("first");
    shared.run(&["account", "create", "--email", "ada@example.com", "--tier", "pro"]).ok();
    let key = shared.run(&["key", "create", "--email", "ada@example.com", "--name", "a"]).ok();
    let later = shared.run(&["key", "create", "--email", "ada@example.com", "--name", "b"]).ok();
    let known = server.client(key.trim());
    assert_eq!(known.get("/api/v3/vcs?limit=1").status, 200);
    shared.database.accept_connections(false);
    for _ in 0..20 {
        assert_eq!(known.get("/api/v3/vcs?limit=1").status, 200);
    }
    let invented = auth::ApiKey::from_seed(&[5; 32]);
    soon("the server knows that it is away", || {
        let reply = server.client(invented.reveal()).get("/api/v3/vcs?limit=1");
        (reply.status, reply.json()["code"].as_str()) == (503, Some("not_ready"))
    });
    // One that is in memory, and was never used: nothing is known of its quota.
    let unused = server.client(later.trim()).get("/api/v3/vcs?limit=1");
    assert_eq!((unused.status, unused.json()["code"].as_str()), (503, Some("not_ready")));
    assert!(!unused.header("retry-after").is_empty());
    let readiness = known.get("/readyz");
    assert!(readiness.status == 200 && readiness.text.contains("degraded"), "{}", readiness.text);
    shared.database.accept_connections(true);
    soon("the key is accepted again", || server.client(later.trim()).get("/api/v3/vcs?limit=1").status == 200);
    soon("the invented one is rejected", || server.client(invented.reveal()).get("/api/v3/vcs").status == 401);
    soon("what was admitted is counted", || {
        shared.database.rows("SELECT sum(requests) FROM usage")[0].parse::<u64>().is_ok_and(|sum| sum >= 22)
    });
}

#[test]
fn commands_on_data_folders_say_what_postgresql_needs_instead() {
    let Some(shared) = Shared::new() else { return };
    let refused = |words: &[&str]| {
        let ended = shared.run(words);
        assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{words:?}");
        serde_json::from_str::<Value>(&ended.err).unwrap()["error"].clone()
    };
    let backup = refused(&["backup", "--json", text(&shared.path("backup"))]);
    assert_eq!(backup["code"], "store_is_postgres");
    let detail = backup["detail"].as_str().unwrap();
    assert!(
        detail.contains("nothing was backed up")
            && detail.contains(&format!("pg_dump --format=custom --file=venturedex.dump {}", shared.place()))
    );
    assert!(!shared.path("backup").exists());
    let restore = refused(&["restore", "--json", text(&shared.path("backup"))]);
    assert!(restore["detail"].as_str().unwrap().contains("pg_restore"), "{restore}");

    let doctor = |words: &[&str]| -> (Option<i32>, Value) {
        let flags = shared.flags();
        let words = [&["doctor", "--json", "--listen", "127.0.0.1:0"], words].concat();
        let mut command = command(&shared.path("operator"), &Shared::words(&flags, &words));
        let output = command.current_dir(shared.folder.path()).output().unwrap();
        (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
    };
    let status = |report: &Value, check: &str| {
        let found = report["findings"].as_array().unwrap().iter().find(|finding| finding["check"] == check).cloned();
        found
            .map(|finding| format!("{} {}", finding["status"].as_str().unwrap(), finding["detail"].as_str().unwrap()))
            .unwrap_or_default()
    };
    let (_, empty) = doctor(&[]);
    assert!(status(&empty, "store.tables").starts_with("warning the database is empty"), "{empty:#}");
    shared.run(&["account", "create", "--email", "ada@example.com"]).ok();
    let (_, used) = doctor(&[]);
    for (check, part) in [
        ("store.reachable", "ok postgres://"),
        ("store.encryption", if shared.url.contains("verify-full") { "ok TLS" } else { "ok none" }),
        ("store.round_trip", "ok "),
        ("store.connections", "ok 4 of at most "),
        ("store.tables", &format!("ok 1 account and 0 keys, schema version {}", PostgresStore::VERSION)),
    ] {
        assert!(status(&used, check).starts_with(part), "{check}: {used:#}");
    }
    assert_eq!(status(&used, "data.database"), "");
    let (_, tight) = doctor(&["--store-connections", "1000"]);
    assert!(status(&tight, "store.connections").starts_with("warning "), "{tight:#}");
}

#[test]
fn a_store_is_copied_once_and_served_from_then_on() {
    let Some(shared) = Shared::new() else { return };
    let old = shared.path("old");
    run(&old, &["account", "create", "--email", "ada@example.com"], "").ok();
    let key = run(&old, &["key", "create", "--email", "ada@example.com", "--name", "a"], "").ok();
    let copy = ["store", "copy", "--from", text(&old)];
    let copied = shared.run(&copy);
    assert!(copied.err.contains("compared both row by row"), "{}", copied.err);
    let rows: Vec<Vec<&str>> = copied.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.contains(&vec!["accounts", "1"]) && rows.contains(&vec!["keys", "1"]), "{}", copied.out);
    let server = shared.serve("new");
    assert_eq!(server.client(key.trim()).get("/api/v3/vcs?limit=1").status, 200);
    let again = shared.run(&[&copy[..], &["--json"]].concat());
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("\"data_unusable\"") && again.err.contains("the store is not empty"), "{}", again.err);
    let nowhere = run(&old, &copy, "");
    assert!(nowhere.err.contains("name the database to copy to with --store"), "{}", nowhere.err);
}

#[test]
fn a_server_whose_store_cannot_be_reached_says_so_without_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("postgres://ada:{PASSWORD}@127.0.0.1:1/accounts");
    let place = "--store postgres://ada@127.0.0.1:1/accounts: ";
    for words in [&["serve", "--listen", "127.0.0.1:0"][..], &["account", "list"]] {
        let mut command = command(folder.path(), words);
        // Also from the environment, which help would show.
        let ended = command.env("VENTUREDEX_STORE", &url).current_dir(folder.path()).output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{err}");
        assert!(err.contains(&format!("error: {place}")) && err.contains("check that PostgreSQL runs"), "{err}");
        assert!(!err.contains(PASSWORD), "{err}");
    }
    let help =
        command(folder.path(), &["--help"]).env("VENTUREDEX_STORE", &url).stdout(Stdio::piped()).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("--store-password-file") && !help.contains(PASSWORD), "{help}");
}
