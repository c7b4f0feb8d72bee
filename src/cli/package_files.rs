//! Files that packages have next to the programs: completions of shells, and man pages.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;

use crate::app::settings::Cli;
use crate::cli::indexer;

/// A program of this package.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Program {
    Venturedex,
    Indexer,
}

impl Program {
    fn command(self) -> clap::Command {
        match self {
            Self::Venturedex => Cli::command(),
            Self::Indexer => indexer::command(),
        }
    }
}

/// Prints the completions of a program for a shell.
pub fn print_completions(shell: Shell, program: Program) -> io::Result<()> {
    let mut command = program.command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    io::stdout().write_all(&script)
}

/// Writes a man page for each program and each of their commands into `folder`, which is created if missing.
pub fn write_manual(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    Program::value_variants().iter().try_for_each(|program| clap_mangen::generate_to(program.command(), folder))
}
