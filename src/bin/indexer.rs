//! The indexer: checks datasets and publishes them as releases.

use std::process::ExitCode;

use time::OffsetDateTime;

fn main() -> ExitCode {
    ExitCode::from(venturedex::cli::indexer::run_program(std::env::args_os(), OffsetDateTime::now_utc()) as u8)
}
