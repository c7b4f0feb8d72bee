//! The program itself, run as its operators do: commands, and a server that is a process of its own.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// A command of the program on a data folder, without the settings of whoever runs the tests.
pub fn command(data: &Path, words: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_venturedex"));
    // Only its own variables are removed: a clock that is moved by preloading must be moved for the program too.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"VENTUREDEX_")) {
        command.env_remove(name);
    }
    command.arg("--data").arg(data).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a command to its end, with `input` on its standard input.
pub fn run(data: &Path, words: &[&str], input: &str) -> Ended {
    let mut child = command(data, words).stdin(Stdio::piped()).spawn().unwrap();
    // One that needs no input may be gone before it is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Ended::from(child.wait_with_output().unwrap())
}

/// How a command ended.
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
    /// What it printed, where it did what it was asked for.
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self.out
    }
}

/// A server in a process of its own; it is killed when this is dropped.
pub struct Process {
    child: Child,
    pub base: String,
}

impl Process {
    /// Serves the bundled snapshot on a free port.
    pub fn start(data: &Path, settings: &[&str]) -> Self {
        let words = ["--listen", "127.0.0.1:0", "--index", "no-such-index"];
        let mut child = command(data, &[&words, settings].concat()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let base = lines.find_map(|line| {
            let line = line.unwrap();
            line.trim().strip_prefix("REST").map(|rest| rest.trim().trim_end_matches("/api/v3").to_owned())
        });
        // What it prints further is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, base: base.expect("a server that says where it listens") }
    }

    /// Ends it as no program can refuse to.
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
