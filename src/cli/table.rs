//! Text tables.

use std::io::{self, Write};

/// Aligns lines of cells as columns, each as wide as its widest cell, two spaces apart.
pub(super) fn aligned<L: AsRef<[String]>>(lines: &[L]) -> String {
    let columns = lines.iter().map(|line| line.as_ref().len()).max().unwrap_or(0);
    let cells = |column: usize| lines.iter().filter_map(move |line| line.as_ref().get(column));
    let width = |column: usize| cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |line: &L| {
        let cells = line.as_ref().iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush())
}
