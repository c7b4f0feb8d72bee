//! Completions and man pages, which packages have next to the programs.

use std::fs;
use std::process::Command;

use crate::support::harness::runs;

fn completions(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_venturedex")).arg("completions").args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn completions_offer_commands_and_options_of_the_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (server, indexer) = (completions(&[shell]), completions(&[shell, "indexer"]));
        for word in ["doctor", "set-tier", "metrics-listen"] {
            assert!(server.contains(word), "{shell}: {word}");
        }
        assert!(indexer.contains("sign-key") && !indexer.contains("metrics-listen"), "{shell}");
    }
    if !runs("bash", &["--version"]) {
        return;
    }
    // As bash does it for `venturedex acc` and a tabulator.
    let complete =
        "COMP_WORDS=(venturedex acc) COMP_CWORD=1; _venturedex venturedex acc venturedex; echo \"${COMPREPLY[*]}\"";
    let script = format!("{}\n{complete}", completions(&["bash"]));
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "account");
}

#[test]
fn each_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let written = Command::new(env!("CARGO_BIN_EXE_venturedex")).arg("manual").arg(&pages).status().unwrap();
    assert!(written.success());
    for (page, part) in [
        ("venturedex.1", "server\\-json"),
        ("venturedex-serve.1", "VENTUREDEX_LISTEN"),
        ("venturedex-account-set-tier.1", "\\-\\-tier"),
        ("indexer-build.1", "\\-\\-sign\\-key"),
    ] {
        let text = fs::read_to_string(pages.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(text.contains(part), "{page}: {text}");
    }
}
