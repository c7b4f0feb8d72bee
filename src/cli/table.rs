//! Text tables.

use std::io::{self, Write};

/// Aligns lines of cells as columns, each as wide as its widest cell, two spaces apart.
pub(super) fn aligned<L: AsRef<[String]>>(lines: &[L]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for line in lines {
        for (column, cell) in line.as_ref().iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(column) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let line = |line: &L| {
        let cells = line.as_ref().iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Writes a text and a line end to standard output.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush())
}
