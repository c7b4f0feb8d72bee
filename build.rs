//! Compiles the bundled dataset into the archive that `catalog` embeds.
//!
//! An invalid row stops the build with its file and line. The text index is not built here: tantivy would be compiled twice, and
//! indexing so few names takes milliseconds at startup.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

const FOLDER: &str = "dataset";

fn main() -> ExitCode {
    let folder = Path::new("../..").join(FOLDER);
    println!("cargo::rerun-if-changed={}", folder.display());
    let compiled = match data::compile(&folder, &data::NoProgress) {
        Ok(compiled) => compiled,
        Err(report) => {
            for problem in report.errors() {
                println!("cargo::error={FOLDER}/{problem}");
            }
            return ExitCode::FAILURE;
        }
    };
    for warning in compiled.report.warnings() {
        println!("cargo::warning={FOLDER}/{warning}");
    }
    let out_dir = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let create = |name: &str| File::create(Path::new(&out_dir).join(name)).map(BufWriter::new);
    let written = create("bundled.bin").and_then(|mut tables| {
        let mut records = create("bundled_records.bin")?;
        compiled.write(&mut tables, &mut records, &data::NoProgress)?;
        records.flush()?;
        tables.flush()
    });
    if let Err(error) = written {
        println!("cargo::error=cannot write the bundled snapshot: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
