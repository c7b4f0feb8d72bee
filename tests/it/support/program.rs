//! The program itself, run like an operator does: commands, and a server in a process of its own.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tempfile::TempDir;

use crate::support::harness::Client;
use crate::support::installation::small;

/// A command of the program on a data folder, without the settings in the environment of the tests.
pub fn command(data: &Path, words: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_venturedex"));
    // Other variables stay: a preloaded clock must apply to the program too.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"VENTUREDEX_")) {
        command.env_remove(name);
    }
    command.arg("--data").arg(data).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command with `input` on stdin. Commands on accounts get a store, which otherwise a server creates.
pub fn run(data: &Path, words: &[&str], input: &str) -> Ended {
    if matches!(words.first(), Some(&("account" | "key"))) && !words.contains(&"--store") && !auth::has_database(data) {
        auth::SqliteStore::open(data).unwrap();
    }
    let mut child = command(data, words).stdin(Stdio::piped()).spawn().unwrap();
    // A command that reads no input may have exited.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Ended::from(child.wait_with_output().unwrap())
}

/// The result of a command.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ended {
    /// Stdout of a successful command.
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.out
    }
}

/// An index with a release of the small dataset, which servers that run at the same time share. A program opens it in a small
/// part of the time in which it builds the indexes of the bundled snapshot.
pub fn small_index() -> Arc<TempDir> {
    static INDEX: Mutex<Weak<TempDir>> = Mutex::new(Weak::new());
    let mut shared = INDEX.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let index = Arc::new(tempfile::tempdir().unwrap());
        let mut build = Command::new(env!("CARGO_BIN_EXE_indexer"));
        build.arg("build").arg("--dataset").arg(small()).arg("--index").arg(index.path());
        Ended::from(build.output().unwrap()).ok();
        *shared = Arc::downgrade(&index);
        index
    })
}

/// A server in a process of its own; dropping it kills the process.
pub struct Process {
    child: Child,
    pub base: String,
    /// Is removed after the last server of it.
    _index: Option<Arc<TempDir>>,
}

impl Process {
    /// Serves on a free port; the small dataset, unless the settings name an index.
    pub fn start(data: &Path, settings: &[&str]) -> Self {
        Self::start_with(data, settings, Stdio::inherit())
    }

    /// Like [`Process::start`]; the log goes to `log`.
    pub fn start_with(data: &Path, settings: &[&str], log: impl Into<Stdio>) -> Self {
        Self::start_in(data, settings, &[], log)
    }

    /// Like [`Process::start_with`], with variables of the environment.
    pub fn start_in(data: &Path, settings: &[&str], environment: &[(&str, &str)], log: impl Into<Stdio>) -> Self {
        let words = ["--listen", "127.0.0.1:0"];
        let mut command = command(data, &[&words, settings].concat());
        let index = (!settings.contains(&"--index")).then(small_index);
        command.envs(index.iter().map(|index| ("VENTUREDEX_INDEX", index.path())));
        let mut process = Self::spawn(command.current_dir(data).envs(environment.iter().copied()), log);
        process._index = index;
        process
    }

    /// Starts a server and waits for its address.
    pub fn spawn(command: &mut Command, log: impl Into<Stdio>) -> Self {
        let mut child = command.stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let base = lines.find_map(|line| {
            let line = line.unwrap();
            line.trim().strip_prefix("REST").map(|rest| rest.trim().trim_end_matches("/api/v3").to_owned())
        });
        // The rest is read so that the server never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, base: base.expect("the server prints its address"), _index: None }
    }

    pub fn client(&self, key: &str) -> Client {
        Client::at(&self.base, key)
    }

    /// Sends SIGTERM and returns the exit code.
    pub fn terminate(&mut self) -> Option<i32> {
        let sent = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(sent.success());
        self.child.wait().unwrap().code()
    }

    /// Waits until it ends by itself, and returns the exit code.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
