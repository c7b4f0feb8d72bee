//! `venturedex audit`: prints the matching lines of an audit log.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};

use serde::Deserialize;

use crate::app::settings::AuditFilter;
use crate::cli::admin::{AdminError, print};

#[derive(Deserialize)]
struct AuditLine {
    time: String,
    event: String,
    account: Option<i64>,
}

pub(super) fn run(filter: &AuditFilter) -> Result<(), AdminError> {
    let unreadable = |error| AdminError::AuditLog { path: filter.file.clone(), error };
    let lines: Box<dyn BufRead> = match filter.file.as_os_str() == "-" {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(File::open(&filter.file).map_err(unreadable)?)),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut invalid = 0_u64;
    for line in lines.split(b'\n') {
        let line = line.map_err(unreadable)?;
        match serde_json::from_slice::<AuditLine>(&line) {
            Ok(AuditLine { time, event, account })
                if filter.account.is_none_or(|wanted| account == Some(wanted))
                    && filter.event.as_ref().is_none_or(|wanted| event == *wanted)
                    && filter.since.as_ref().is_none_or(|since| time >= *since) =>
            {
                let written = out.write_all(&line).and_then(|()| out.write_all(b"\n"));
                match written {
                    // `| head` closes the pipe after the lines it needs.
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
                    written => written.map_err(AdminError::Output)?,
                }
            }
            Ok(_) => {}
            Err(_) => invalid += 1,
        }
    }
    out.flush().map_err(AdminError::Output)?;
    if invalid > 0 {
        print::note(&format!(
            "warning: {invalid} other lines skipped; if the log goes to stderr, `--log off` separates it"
        ));
    }
    Ok(())
}
