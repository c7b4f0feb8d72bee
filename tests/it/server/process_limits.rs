//! Limits and signals of the server's process: each has an answer, none ends it without a sentence.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::harness::agent;
use crate::support::program::{Ended, Process, command};

/// A command that serves on a free port in a folder, under a limit of the shell, such as `-n 512`.
fn limited(folder: &Path, limit: &str) -> Command {
    let plain = command(&folder.join("data"), &["--listen", "127.0.0.1:0"]);
    let mut limited = Command::new("sh");
    limited.arg("-c").arg(format!("ulimit {limit} && exec \"$0\" \"$@\"")).arg(plain.get_program());
    limited.args(plain.get_args()).current_dir(folder);
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in plain.get_envs() {
        limited.env_remove(name);
    }
    limited
}

fn is_alive(process: &Process) -> bool {
    agent().get(format!("{}/healthz", process.base)).call().is_ok_and(|reply| reply.status() == 200)
}

fn signal(process: &Process, name: &str) {
    assert!(Command::new("kill").args([name, &process.id().to_string()]).status().unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn more_connections_than_files_are_a_warning_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let process = Process::spawn(&mut limited(folder.path(), "-n 512"), File::create(&log).unwrap());
    assert!(is_alive(&process));
    let log = fs::read_to_string(log).unwrap();
    let warning = log.lines().find(|line| line.contains("--max-connections 4096: ")).unwrap_or_else(|| panic!("{log}"));
    let text = "this process may open 512 files, but 4096 connections need 4352: raise the limit (LimitNOFILE=4352";
    assert!(warning.contains("WARN") && warning.contains(text), "{warning}");
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_address_space_is_one_sentence_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let ended = Ended::from(limited(folder.path(), "-v 300000").output().unwrap());
    assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{}", ended.err);
    let error = ended.err.lines().last().unwrap_or_default();
    assert!(
        error.starts_with("error: this process may use 292 MiB of address space (ulimit -v), but needs "),
        "{error}"
    );
    assert!(error.contains("raise or remove the limit"), "{error}");
    assert!(!folder.path().join("data").exists(), "nothing was begun");
}

#[cfg(unix)]
#[test]
fn sigquit_drains_as_sigterm_does_and_user_signals_do_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut process = Process::start(folder.path(), &[]);
    for name in ["-USR1", "-USR2", "-HUP"] {
        signal(&process, name);
        assert!(is_alive(&process), "{name}");
    }
    signal(&process, "-QUIT");
    assert_eq!(process.wait(), Some(0));
}
