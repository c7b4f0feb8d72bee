//! A server whose disk fills up: it goes on serving, refuses what it cannot store, keeps what it confirmed, and works again
//! as soon as there is space, without a restart and after one on the full disk.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use auth::{ApiKey, SqliteStore, Store};
use data::Date;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::browser::shown_key;
use crate::support::harness::{Client, Reply, agent, agent_without_redirects, rounds, runs};
use crate::support::program::{Ended, Process, command, small_index};

const PASSWORD: &str = "seven quiet herons";
const PAGE: usize = 4096;
/// The longest wait for what takes a second at most, for machines under load.
const PATIENCE: Duration = Duration::from_secs(120);

/// A small disk of its own, which only commands of this type see at its path.
struct Disk {
    folder: TempDir,
    /// Holds the namespace in which the disk is mounted, until its standard input is closed.
    holder: Child,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = "mount -t tmpfs -o size=4m,mode=700 tmpfs \"$1\" && echo mounted && exec cat";
        let mut holder = Command::new("unshare");
        holder.args(["-rm", "sh", "-c", script, "sh"]).arg(folder.path());
        let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "mounted\n");
        Self { folder, holder }
    }

    /// A command of the program on the data folder of this disk.
    fn command(&self, words: &[&str]) -> Command {
        let program = command(&self.folder.path().join("data"), words);
        let mut inside = Command::new("nsenter");
        inside.args(["--user", "--mount", "--preserve-credentials", "--target", &self.holder.id().to_string()]);
        inside.arg(program.get_program()).args(program.get_args());
        for (name, _) in program.get_envs() {
            inside.env_remove(name);
        }
        // Not in the project, which may have the default index.
        inside.current_dir(self.folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        inside
    }

    fn run(&self, words: &[&str]) -> Ended {
        self.command(words).stdin(Stdio::null()).output().unwrap().into()
    }

    /// Where this process sees the disk.
    fn path(&self) -> PathBuf {
        let path = self.folder.path().strip_prefix("/").unwrap();
        Path::new("/proc").join(self.holder.id().to_string()).join("root").join(path)
    }

    fn free_pages(&self) -> u64 {
        rustix::fs::statvfs(self.path()).unwrap().f_bavail
    }

    /// Leaves so many pages.
    fn fill(&self, pages: u64) {
        let mut filler = OpenOptions::new().create(true).append(true).open(self.path().join("filler")).unwrap();
        for _ in pages..self.free_pages() {
            // The server writes, too.
            let _ = filler.write(&[1; PAGE]);
        }
    }

    fn free(&self) {
        fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

/// A server on a disk, and what it confirmed.
struct Service {
    disk: Disk,
    server: Option<Process>,
    index: Arc<TempDir>,
    log: TempDir,
    starts: u32,
    key: ApiKey,
    /// The session of an account without a limit of keys.
    cookie: String,
    keys: Vec<ApiKey>,
    sessions: Vec<String>,
    emails: Vec<String>,
    /// Requests of the key that were answered.
    counted: u64,
}

impl Service {
    fn new() -> Self {
        let (disk, index) = (Disk::new(), small_index());
        // A server creates the store.
        let words = ["--listen", "127.0.0.1:0", "--index", index.path().to_str().unwrap()];
        Process::spawn(&mut disk.command(&words), Stdio::null()).terminate();
        let mut create = disk.command(&[
            "account",
            "create",
            "--email",
            "ops@example.com",
            "--tier",
            "enterprise",
            "--password-stdin",
        ]);
        let mut create = create.stdin(Stdio::piped()).spawn().unwrap();
        create.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
        Ended::from(create.wait_with_output().unwrap()).ok();
        let key = disk.run(&["key", "create", "--email", "ops@example.com", "--name", "load"]).ok();
        let key: ApiKey = key.trim().parse().unwrap();
        let mut service = Self {
            disk,
            server: None,
            index,
            log: tempfile::tempdir().unwrap(),
            starts: 0,
            keys: vec![key.clone()],
            key,
            cookie: String::new(),
            sessions: Vec::new(),
            emails: vec!["ops@example.com".to_owned()],
            counted: 0,
        };
        service.start();
        let reply = service.post("/signin", &[("email", "ops@example.com"), ("password", PASSWORD)]);
        assert_eq!(reply.status, 303, "{}", reply.text);
        service.cookie = cookie_of(&reply);
        service.sessions.push(service.cookie.clone());
        service
    }

    fn words(&self) -> Vec<String> {
        let logs = ["--access-log", "access.log", "--audit-log", "audit.log", "--log-format", "json"];
        let logs = logs.map(|word| match word.strip_suffix(".log") {
            Some(_) => self.disk.folder.path().join(word).to_str().unwrap().to_owned(),
            None => word.to_owned(),
        });
        let words = ["--listen", "127.0.0.1:0", "--sign-ups-per-hour", "1000000", "--pages-per-minute", "1000000"];
        let index = ["--index", self.index.path().to_str().unwrap()];
        words.into_iter().chain(index).map(str::to_owned).chain(logs).collect()
    }

    fn command(&self) -> Command {
        self.disk.command(&self.words().iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn start(&mut self) {
        self.starts += 1;
        let log = File::create(self.log_file()).unwrap();
        self.server = Some(Process::spawn(&mut self.command(), log));
    }

    fn log_file(&self) -> PathBuf {
        self.log.path().join(self.starts.to_string())
    }

    fn logged(&self, text: &str) -> usize {
        fs::read_to_string(self.log_file()).unwrap().lines().filter(|line| line.contains(text)).count()
    }

    fn server(&mut self) -> &mut Process {
        self.server.as_mut().unwrap()
    }

    fn client(&mut self) -> Client {
        let key = Some(self.key.reveal().to_owned());
        Client { base: self.server().base.clone(), key, agent: agent() }
    }

    /// Sends a form with the cookie.
    fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Reply {
        let base = self.server().base.clone();
        let request = agent_without_redirects().post(format!("{base}{path}"));
        let request = request.header("origin", &base).header("cookie", &self.cookie);
        let mut response = request.send_form(form.iter().copied()).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        Reply { status: response.status().as_u16(), headers: response.headers().clone(), text }
    }

    /// What only reads is answered whatever the disk.
    fn read(&mut self) {
        let client = self.client();
        let list = client.get("/api/v3/vcs?limit=1");
        assert_eq!(list.status, 200, "{}", list.text);
        self.counted += 1;
        for page in ["/", "/vcs", "/signup", "/healthz", "/readyz"] {
            assert_eq!(client.get(page).status, 200, "{page}");
        }
        let anonymous = Client { key: None, ..client };
        let call =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_vcs","arguments":{"limit":1}}}"#;
        // The daily limit of this address is used up after a while.
        assert!([200, 429].contains(&anonymous.post("/api/mcp", call).status));
    }

    /// Whether a key was created; otherwise it was refused.
    fn create_key(&mut self) -> bool {
        let reply = self.post("/account/keys", &[("name", "more")]);
        if reply.status != 201 {
            assert_refused(&reply);
            return false;
        }
        self.keys.push(shown_key(&reply.text).parse().unwrap());
        true
    }

    fn sign_up(&mut self) -> bool {
        let email = format!("visitor{}@example.com", self.emails.len());
        let cookie = std::mem::take(&mut self.cookie);
        let reply = self.post("/signup", &[("email", &email), ("password", PASSWORD)]);
        self.cookie = cookie;
        if reply.status != 303 {
            assert_refused(&reply);
            return false;
        }
        self.sessions.push(cookie_of(&reply));
        self.emails.push(email);
        true
    }

    /// `ready` or `degraded`.
    fn status(&mut self) -> String {
        let json = self.client().get("/readyz").json();
        let reason = json["reason"].as_str().unwrap_or_default();
        assert!(["", "the disk of the account database is full"].contains(&reason), "{reason}");
        json["status"].as_str().unwrap().to_owned()
    }

    /// Does `work` until `is_done`.
    fn work_until(&mut self, what: &str, mut is_done: impl FnMut(&mut Self) -> bool) {
        let begun = Instant::now();
        while !is_done(self) {
            assert!(begun.elapsed() < PATIENCE, "{what}: {}", fs::read_to_string(self.log_file()).unwrap());
        }
    }

    /// Fills the disk but for so many pages, and works until it is full.
    fn work_until_full(&mut self, pages: u64) {
        self.disk.fill(pages);
        self.work_until("the disk is full", |service| {
            service.read();
            !service.create_key() && service.status() == "degraded"
        });
        assert!(!self.sign_up());
        let refused = self.post("/signin", &[("email", "ops@example.com"), ("password", PASSWORD)]);
        assert_refused(&refused);
        let command = self.disk.run(&["key", "create", "--email", "ops@example.com", "--name", "command"]);
        assert_eq!(command.code, Some(1), "{command:?}");
        assert!(command.err.contains("the disk of the data folder is full; free some space"), "{command:?}");
        let backup = self.disk.folder.path().join("backup");
        let backup = self.disk.run(&["backup", backup.to_str().unwrap()]);
        assert!(backup.code != Some(0) && backup.err.starts_with("error: "), "{backup:?}");
    }

    /// Everything works again soon after there is space.
    fn free(&mut self) {
        self.disk.free();
        self.work_until("the server is ready", |service| service.status() == "ready");
        assert!(self.create_key() && self.sign_up());
        self.read();
    }

    /// What was confirmed is known to the server.
    fn check_served(&mut self) {
        let client = self.client();
        for key in self.keys.clone() {
            let reply = Client { key: Some(key.reveal().to_owned()), ..client.clone() }.get("/api/v3/usage");
            assert_eq!(reply.status, 200, "a key is lost: {}", reply.text);
        }
        for session in self.sessions.clone() {
            let base = &client.base;
            let page = agent_without_redirects().get(format!("{base}/account")).header("cookie", session).call();
            assert_eq!(page.unwrap().status(), 200, "a session is lost");
        }
    }

    /// What was confirmed is in the database, and at least `counted` requests and at most those that were answered.
    fn check_stored(&self, counted: u64) {
        // SQLite follows the link from `/proc` to a path that is not on this disk.
        let copy = tempfile::tempdir().unwrap();
        let data = copy.path();
        fs::copy(self.disk.path().join("data/venturedex.sqlite"), data.join("venturedex.sqlite")).unwrap();
        let database = Connection::open(data.join("venturedex.sqlite")).unwrap();
        let whole: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, "ok");
        drop(database);
        let store = SqliteStore::open(data).unwrap();
        let found = self.emails.iter().filter(|email| store.account(&email.parse().unwrap()).is_ok()).count();
        assert_eq!(found, self.emails.len());
        let states = store.changes(0).unwrap().keys;
        let id = |key: &ApiKey| states.iter().find(|state| state.digest == key.digest()).expect("the key is stored").id;
        assert!(self.keys.iter().all(|key| id(key).0 > 0));
        let account = store.account(&"ops@example.com".parse().unwrap()).unwrap().id;
        let today = Date::from_unix(platform::clock::now());
        let usage = store.usage_of(account, Date::from_days(today.days() - 1), today).unwrap();
        let key = id(&self.key);
        let stored: u64 = usage.iter().filter(|usage| usage.key == key).map(|usage| u64::from(usage.requests)).sum();
        assert!((counted..=self.counted).contains(&stored), "{stored} are counted, not {counted} to {}", self.counted);
    }

    /// The logs consist of whole lines, and nothing else was left on the disk.
    fn check_files(&self) {
        for log in ["access.log", "audit.log"] {
            let mut text = String::new();
            File::open(self.disk.path().join(log)).unwrap().read_to_string(&mut text).unwrap();
            assert!(text.ends_with('\n'), "{log}");
            for line in text.lines() {
                let line_json: Result<serde_json::Value, _> = serde_json::from_str(line);
                assert!(line_json.is_ok(), "{log}: {line:?}");
            }
        }
        let names = |folder: PathBuf| {
            let mut names: Vec<String> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(self.disk.path()), ["access.log", "audit.log", "data"]);
        assert_eq!(names(self.disk.path().join("data")), ["serve.lock", "venturedex.sqlite"]);
    }
}

fn cookie_of(reply: &Reply) -> String {
    reply.header("set-cookie").split(';').next().unwrap().to_owned()
}

#[track_caller]
fn assert_refused(reply: &Reply) {
    assert_eq!(reply.status, 503, "{}", reply.text);
    assert!(reply.header("retry-after").parse::<u32>().is_ok(), "{:?}", reply.headers);
}

#[test]
fn a_full_disk_loses_nothing_confirmed_and_stops_nothing_that_only_reads() {
    if !runs("unshare", &["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]) {
        return;
    }
    let (levels, mut refused) = (rounds(20, 2) as u64, 0);
    for level in 0..levels {
        // From no free page to what some twenty changes need.
        let pages = level * 100 / levels;
        let mut service = Service::new();
        let keys = service.keys.len();
        service.work_until_full(pages);
        assert_eq!(
            service.logged("cannot write usage: could not write the usage: the disk of the data folder is full"),
            1
        );
        let confirmed = service.keys.len() - keys;
        service.work_until("the logs are full", |service| {
            service.read();
            assert!(!service.create_key());
            ["access", "audit"].iter().all(|log| service.logged(&format!("cannot write the {log} log")) > 0)
        });
        service.free();
        let stored = service.counted;

        // A restart on the full disk, after a kill and a clean stop in turns.
        service.work_until_full(level % 3);
        match level % 2 {
            0 => service.server().kill(),
            _ => assert_eq!(service.server().terminate(), Some(1), "the last counts could not be written"),
        }
        service.disk.fill(0);
        // After a clean stop the file by which processes share the log of changes is gone, and there is no space for it.
        if !service.disk.path().join("data/venturedex.sqlite-shm").exists() {
            refused += 1;
            let refused = Ended::from(service.command().output().unwrap());
            assert_eq!(refused.code, Some(1));
            let expected =
                "error: --data: could not open the database: the disk of the data folder is full; free some space";
            assert!(refused.err.contains(expected), "{}", refused.err);
            service.disk.free();
            service.disk.fill(16);
        }
        service.start();
        service.read();
        service.check_served();
        service.free();
        service.check_served();
        assert_eq!(service.server().terminate(), Some(0));
        service.check_stored(stored);
        service.check_files();
        eprintln!("{pages} free pages: {confirmed} keys were created before the disk was full");
    }
    eprintln!("{levels} levels of free space; {refused} of {levels} restarts on the full disk wanted a few pages");
}
