//! The memory of a running server is private.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::support::program::{Process, command};

#[test]
fn a_server_writes_no_core_file_and_its_memory_belongs_to_root() {
    let data = tempfile::tempdir().unwrap();
    let server = Process::start(data.path(), &[]);
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.id())).unwrap();
    let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().take(2).collect::<Vec<_>>(), ["0", "0"]);
    drop(server);

    // Of a server that runs as another user than root, the files in `/proc` show it.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let folder = tempfile::tempdir().unwrap();
    let user: &[&str] = match is_root {
        true => &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
        false => &["env"],
    };
    let program = folder.path().join("venturedex");
    fs::copy(env!("CARGO_BIN_EXE_venturedex"), &program).unwrap();
    if is_root {
        for path in [folder.path(), &program, data.path()] {
            std::os::unix::fs::chown(path, Some(65_534), Some(65_534)).unwrap();
        }
        for file in fs::read_dir(data.path()).unwrap() {
            std::os::unix::fs::chown(file.unwrap().path(), Some(65_534), Some(65_534)).unwrap();
        }
    }
    let plain = command(data.path(), &["--listen", "127.0.0.1:0"]);
    let mut other = Command::new(user[0]);
    other.args(&user[1..]).arg(&program).args(plain.get_args()).current_dir(data.path());
    let server = Process::spawn(other.stdout(std::process::Stdio::piped()), std::process::Stdio::inherit());
    let memory = fs::metadata(format!("/proc/{}/mem", server.id())).unwrap();
    assert_eq!(memory.uid(), 0);
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    assert!(is_root == status.contains("\nUid:\t65534\t"), "{status}");
}
