//! A server that is killed under load repeatedly: everything it confirmed is stored, and so are its counts.

use std::io::Read;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use auth::account::{Email, KeyId};
use auth::session::SessionToken;
use auth::{ApiKey, SqliteStore, Store};
use data::Date;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::browser::shown_key;
use crate::support::harness::{Dice, agent_without_redirects, wants_all};
use crate::support::program::{Process, command, run};

/// Data folders tested at the same time: most of the time is waiting.
const LANES: u64 = 4;

/// All sign-ups come from one address.
const UNTHROTTLED: [&str; 4] = ["--sign-ups-per-hour", "1000000", "--pages-per-minute", "1000000"];

/// The age up to which a response may lose its count, unless the machine is overloaded.
const LOST: Duration = Duration::from_secs(1);

fn today() -> Date {
    Date::from_unix(platform::clock::now())
}

/// One data folder, and what the server confirmed about it.
struct Lane {
    data: TempDir,
    dice: Dice,
    accounts: Vec<String>,
    keys: Vec<ApiKey>,
    revoked: Vec<ApiKey>,
    sessions: Vec<SessionToken>,
    /// The key of the load.
    key: ApiKey,
    /// What the store counted after the last kill.
    counted: u64,
    first_day: Date,
}

/// The requests and responses of a round.
#[derive(Default)]
struct Load {
    sent: u64,
    answered: Vec<Instant>,
    /// The longest time that anybody waited for the store, as the server does to write what it counted.
    store_wait: Duration,
}

impl Load {
    /// The longest time without a response, up to `end`.
    fn longest_pause(&self, end: Instant) -> Duration {
        let mut answered = self.answered.clone();
        answered.push(end);
        answered.sort_unstable();
        answered.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }
}

impl Lane {
    fn new(number: u64) -> Self {
        let data = tempfile::tempdir().unwrap();
        let account = ["account", "create", "--email", "load@example.com", "--tier", "enterprise"];
        run(data.path(), &account, "").ok();
        let key = run(data.path(), &["key", "create", "--email", "load@example.com", "--name", "load"], "").ok();
        let key: ApiKey = key.trim().parse().unwrap();
        let (accounts, keys) = (vec!["load@example.com".to_owned()], vec![key.clone()]);
        let (dice, first_day) = (Dice(number), today());
        Self { data, dice, accounts, keys, revoked: Vec::new(), sessions: Vec::new(), key, counted: 0, first_day }
    }

    /// Kills a server under load after a while; meanwhile runs commands, of which some are killed too.
    fn round(&mut self, number: u64) {
        let mut server = Process::start(self.data.path(), &UNTHROTTLED);
        let client = server.client(self.key.reveal());
        // Every fourth round, including the first, is long enough for counts to be written.
        let life = Duration::from_millis(if number.is_multiple_of(4) { 1_100 } else { 50 } + self.dice.upto(500));
        let load = Mutex::new(Load::default());
        let signed_up = Mutex::new(Vec::new());
        let server_base = server.base.clone();
        let (begun, ended) = (Instant::now(), AtomicBool::new(false));
        let killed = std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !ended.load(Ordering::Relaxed) {
                        load.lock().unwrap().sent += 1;
                        let url = format!("{}/api/v3/vcs?limit=1", client.base);
                        let asked = client.agent.get(&url).header("authorization", bearer(&self.key)).call();
                        let Ok(reply) = asked else { break };
                        assert_eq!(reply.status(), 200);
                        load.lock().unwrap().answered.push(Instant::now());
                        std::thread::sleep(Duration::from_millis(1));
                    }
                });
            }
            scope.spawn(|| {
                let person = |place| sign_up(&server_base, &format!("visitor{number}.{place}@example.com"), &signed_up);
                let _ = (0..).take_while(|_| !ended.load(Ordering::Relaxed)).try_for_each(person);
            });
            scope.spawn(|| {
                let store = Connection::open(self.data.path().join("venturedex.sqlite")).unwrap();
                store.busy_timeout(Duration::from_secs(60)).unwrap();
                while !ended.load(Ordering::Relaxed) {
                    let begun = Instant::now();
                    store.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
                    let mut load = load.lock().unwrap();
                    load.store_wait = load.store_wait.max(begun.elapsed());
                    drop(load);
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            for step in 0..4 {
                operate(self.data.path(), &mut self.dice, number * 4 + step, &mut self.accounts, &mut self.keys);
            }
            if number % 3 == 1 && self.keys.len() > 1 {
                let key = self.keys.remove(1);
                run(self.data.path(), &["key", "revoke", key.reveal()], "").ok();
                self.revoked.push(key);
            }
            // The long rounds also wait for a sign-up, however busy the machine is.
            let is_over = || {
                let signed_up = !number.is_multiple_of(4) || !signed_up.lock().unwrap().is_empty();
                signed_up && begun.elapsed() >= life || begun.elapsed() > Duration::from_secs(60)
            };
            while !is_over() {
                std::thread::sleep(Duration::from_millis(10));
            }
            let killed = Instant::now();
            server.kill();
            ended.store(true, Ordering::Relaxed);
            killed
        });
        for (email, session, key) in signed_up.into_inner().unwrap() {
            self.accounts.push(email);
            self.sessions.push(session);
            self.keys.extend(key);
        }
        self.check(&load.into_inner().unwrap(), killed);
    }

    /// Compares the store with what was confirmed.
    fn check(&mut self, load: &Load, killed: Instant) {
        let database = Connection::open(self.data.path().join("venturedex.sqlite")).unwrap();
        let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
        let strays: i64 =
            database.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
        assert_eq!(strays, 0);
        drop(database);

        let store = SqliteStore::open(self.data.path()).unwrap();
        for email in &self.accounts {
            let email: Email = email.parse().unwrap();
            assert!(store.account(&email).is_ok(), "the account of {email} is lost");
        }
        for session in &self.sessions {
            assert!(store.session(&session.digest(), today().unix()).unwrap().is_some(), "a session is lost");
        }
        let states = store.changes(0).unwrap().keys;
        let state = |key: &ApiKey| states.iter().find(|state| state.digest == key.digest());
        assert!(self.keys.iter().all(|key| state(key).is_some_and(|state| !state.revoked)), "a key is lost");
        assert!(self.revoked.iter().all(|key| state(key).is_some_and(|state| state.revoked)), "a revocation is lost");

        let KeyId(key) = state(&self.key).unwrap().id;
        let account = store.account(&"load@example.com".parse().unwrap()).unwrap().id;
        let usage = store.usage_of(account, self.first_day, today()).unwrap();
        let counted: u64 = usage.iter().filter(|usage| usage.key.0 == key).map(|usage| u64::from(usage.requests)).sum();
        // On a busy machine the server waits for the processor as its clients do, and for the store as others do.
        let lost = LOST + load.longest_pause(killed) + 2 * load.store_wait;
        let old = load.answered.iter().filter(|answered| killed.saturating_duration_since(**answered) > lost).count();
        let (least, most) = (self.counted + old as u64, self.counted + load.sent);
        assert!((least..=most).contains(&counted), "{counted} are counted, and not {least} to {most}");
        self.counted = counted;
    }
}

/// Signs up and creates a key in the pages, and records both; `None` once the server is killed.
fn sign_up(base: &str, email: &str, told: &Mutex<Vec<(String, SessionToken, Option<ApiKey>)>>) -> Option<()> {
    let agent = agent_without_redirects();
    let post = |path: &str, cookie: &str, form: &[(&str, &str)]| {
        let request = agent.post(format!("{base}{path}")).header("origin", base).header("cookie", cookie);
        request.send_form(form.iter().copied()).ok()
    };
    let reply = post("/signup", "", &[("email", email), ("password", "seven quiet herons")])?;
    assert_eq!(reply.status(), 303);
    let cookie = reply.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let session = cookie.split_once('=').unwrap().1.parse().unwrap();
    told.lock().unwrap().push((email.to_owned(), session, None));
    let mut reply = post("/account/keys", &cookie, &[("name", "mine")])?;
    assert_eq!(reply.status(), 201);
    let page = reply.body_mut().read_to_string().ok()?;
    told.lock().unwrap().last_mut()?.2 = Some(shown_key(&page).parse().unwrap());
    Some(())
}

fn bearer(key: &ApiKey) -> String {
    format!("Bearer {}", key.reveal())
}

/// Creates an account or a key by a command that may be killed; its output is a confirmation.
fn operate(data: &Path, dice: &mut Dice, step: u64, accounts: &mut Vec<String>, keys: &mut Vec<ApiKey>) {
    let email = format!("user{step}@example.com");
    let words: &[&str] = if dice.upto(2) == 0 {
        &["account", "create", "--email", &email, "--json"]
    } else {
        &["key", "create", "--email", "load@example.com", "--name", "more"]
    };
    let mut child = command(data, words).spawn().unwrap();
    // Half of them finish.
    std::thread::sleep(Duration::from_millis(dice.upto(30)));
    if dice.upto(2) == 0 {
        let _ = child.kill();
    }
    let mut told = String::new();
    child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    child.wait().unwrap();
    if !told.ends_with('\n') {
        return;
    }
    match told.trim().parse() {
        Ok(key) => keys.push(key),
        Err(_) => accounts.push(email),
    }
}

#[test]
fn a_kill_under_load_loses_nothing_confirmed_and_at_most_a_second_of_counts() {
    let rounds = if wants_all() { 200 } else { 5 };
    if !wants_all() {
        eprintln!("a server is killed {rounds} times; VENTUREDEX_TEST_ALL=1 does it 200 times");
    }
    std::thread::scope(|scope| {
        for lane in 0..LANES.min(rounds) {
            scope.spawn(move || {
                let mut state = Lane::new(lane);
                for number in 0..(rounds + LANES - 1 - lane) / LANES {
                    state.round(number);
                }
                assert!(state.counted > 0, "nothing was counted");
                assert!(!state.sessions.is_empty(), "nobody signed up");
                // The remaining keys are admitted, the revoked ones are rejected.
                let server = Process::start(state.data.path(), &[]);
                let ask = |key: &ApiKey| server.client(key.reveal()).get("/api/v3/usage").status;
                assert!(state.keys.iter().all(|key| ask(key) == 200));
                assert!(state.revoked.iter().all(|key| ask(key) == 401));
            });
        }
    });
}
