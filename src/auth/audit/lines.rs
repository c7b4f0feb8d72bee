//! The lines of the audit log about one account, for its owner.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use crate::account::AccountId;

/// Bytes read from the end of the log: about 300,000 lines.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Oldest first. Leaves out a partial line at the beginning, and a line that another process is still writing.
pub(crate) fn read_account_lines(path: &Path, account: AccountId) -> io::Result<Vec<Value>> {
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(MAX_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    Ok(lines.filter(|line| line["account"] == account.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_of_the_account_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        std::fs::write(
            &path,
            "ount\":1}\n{\"account\":1,\"n\":1}\n{\"account\":11}\n{\"account\":null}\n{\"account\":1,\"n\":2}\n{\"acc",
        )
        .unwrap();
        let lines: Vec<i64> =
            read_account_lines(&path, AccountId(1)).unwrap().iter().map(|line| line["n"].as_i64().unwrap()).collect();
        assert_eq!(lines, [1, 2]);
    }
}
