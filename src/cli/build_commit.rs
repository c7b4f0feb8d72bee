//! The build script of the root package: names the commit of a release build.
//!
//! In a repository, Git names it, and whether files were changed since. In an archive that Git made, `commit.txt` has it:
//! both give the same program. Debug builds have none: the tests would be compiled again after each commit.

use std::fs;
use std::path::Path;
use std::process::Command;

/// `git archive` replaces its content by the commit, see `.gitattributes`.
const ARCHIVED: &str = "src/cli/commit.txt";

fn main() {
    println!("cargo::rerun-if-changed=src/cli/build_commit.rs");
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    // Whatever a release build is made of.
    for path in ["Cargo.toml", "Cargo.lock", "build.rs", "dataset", "src"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let commit = commit_of_repository().or_else(|| {
        let text = fs::read_to_string(ARCHIVED).ok()?;
        let commit = text.trim();
        commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| commit.to_owned())
    });
    if let Some(commit) = commit {
        println!("cargo::rustc-env=VENTUREDEX_COMMIT={commit}");
    }
}

/// `None` without Git, and in a folder that is not the root of a repository, such as an archive within another one.
fn commit_of_repository() -> Option<String> {
    let root = Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if root != std::env::current_dir().ok()?.canonicalize().ok()? {
        return None;
    }
    for file in ["HEAD", "logs/HEAD"] {
        println!("cargo::rerun-if-changed={}", git(&["rev-parse", "--git-path", file])?);
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit} with changes") })
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
