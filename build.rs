//! Compiles the bundled dataset into the archive that the program carries.
//!
//! The dataset is checked and compiled by the same code as any other, shared by path; a bad row stops the build with its
//! place. The text index is not made here: tantivy would be built twice, and the index of so few names takes
//! milliseconds at start.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

#[allow(dead_code, unused_imports, reason = "the build needs the compile only")]
#[path = "src/data/mod.rs"]
mod data;

const FOLDER: &str = "dataset";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed=src/data");
    let compiled = match data::compile(Path::new(FOLDER), &data::NoProgress) {
        Ok(compiled) => compiled,
        Err(report) => {
            for problem in report.errors() {
                println!("cargo::error={FOLDER}/{problem}");
            }
            return ExitCode::FAILURE;
        }
    };
    for warning in compiled.report().warnings() {
        println!("cargo::warning={FOLDER}/{warning}");
    }
    let place = std::env::var_os("OUT_DIR").map(|folder| Path::new(&folder).join("bundled.bin"));
    let written = place.ok_or_else(|| std::io::Error::other("OUT_DIR is not set")).and_then(|place| {
        let mut file = BufWriter::new(File::create(place)?);
        compiled.write(&mut file)?;
        file.flush()
    });
    if let Err(error) = written {
        println!("cargo::error=the bundled snapshot could not be written: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
