//! The server and the indexer as processes on one index.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::harness::{Client, copy_as};

pub fn small() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small")
}

/// An index and a data folder, with the operator's commands.
pub struct Installation {
    folder: TempDir,
}

impl Installation {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("VENTUREDEX_INDEX", self.index()).env("VENTUREDEX_DATA", self.data());
        command
    }

    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn indexer(&self, arguments: &[&str]) -> String {
        self.run(env!("CARGO_BIN_EXE_indexer"), arguments)
    }

    /// Publishes the small dataset as `version`, which is appended to the name of its startup `mossworks`.
    pub fn publish(&self, version: &str) {
        let dataset = copy_as(&small(), version);
        let startups = dataset.path().join("startups.csv");
        let text = fs::read_to_string(&startups).unwrap();
        fs::write(startups, text.replace("mossworks,Mossworks,", &format!("mossworks,Mossworks {version},"))).unwrap();
        self.indexer(&["build", "--dataset", dataset.path().to_str().unwrap()]);
    }

    /// An unlimited key.
    pub fn key(&self) -> String {
        let program = env!("CARGO_BIN_EXE_venturedex");
        // Otherwise a server creates it.
        auth::SqliteStore::open(&self.data()).unwrap();
        self.run(program, &["account", "create", "--email", "ops@example.com", "--tier", "enterprise"]);
        self.run(program, &["key", "create", "--email", "ops@example.com", "--name", "swap"])
    }

    pub fn serve(&self) -> Serving {
        self.serve_with(&[])
    }

    pub fn serve_with(&self, settings: &[&str]) -> Serving {
        self.serve_in(&[], settings)
    }

    /// With variables of the environment.
    pub fn serve_in(&self, environment: &[(&str, &str)], settings: &[&str]) -> Serving {
        let mut command = self.command(env!("CARGO_BIN_EXE_venturedex"));
        Serving::start(command.envs(environment.iter().copied()).args(settings))
    }

    /// Serves without naming an index, in the folder of the installation: its index is the default one.
    pub fn serve_in_folder(&self) -> Serving {
        let mut command = self.command(env!("CARGO_BIN_EXE_venturedex"));
        Serving::start(command.env_remove("VENTUREDEX_INDEX").current_dir(self.folder.path()))
    }
}

/// A running server, which is killed on drop.
pub struct Serving {
    pub child: Child,
    log: Arc<Mutex<Vec<String>>>,
    pub base: String,
}

impl Serving {
    pub fn start(command: &mut Command) -> Self {
        let mut child =
            command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let lines = Arc::clone(&log);
        std::thread::spawn(move || {
            errors.lines().map_while(Result::ok).for_each(|line| lines.lock().unwrap().push(line))
        });
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let base = output.find_map(|line| line.trim().strip_prefix("REST").map(|rest| rest.trim().to_owned()));
        let base = base.unwrap_or_else(|| panic!("no address: {:?}", log.lock().unwrap()));
        // Without a reader, the server would fail to print.
        std::thread::spawn(move || output.for_each(drop));
        Self { child, log, base: base.trim_end_matches("/api/v3").to_owned() }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    pub fn client(&self, key: &str) -> Client {
        Client::at(&self.base, key)
    }

    pub fn signal(&self, signal: &str) {
        let killed = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    pub fn logged(&self, text: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }

    /// The first line of the log that contains a text.
    pub fn log_line(&self, text: &str) -> Option<String> {
        self.log.lock().unwrap().iter().find(|line| line.contains(text)).cloned()
    }

    /// Waits until the condition is true and returns how long that took; much longer than promised, for machines under load.
    #[track_caller]
    pub fn wait(&self, condition: impl Fn() -> bool) -> Duration {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(120) {
            if condition() {
                return began.elapsed();
            }
            sleep(Duration::from_millis(10));
        }
        panic!("timeout: {:?}", self.log.lock().unwrap());
    }
}

/// Stops the clients on drop, so that a failure ends the test.
pub struct Stop<'a>(pub &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Replaces a file, which may be read-only.
pub fn overwrite(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}
