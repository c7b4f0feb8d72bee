//! A preview as a short text, for a terminal.

use std::fmt;

use crate::sources::preview::{Preview, PreviewRow, PreviewTable};
use data::import::diagnostics::quoted;
use data::parameter_error::shortened_to;

/// Shows the records of the rows of a preview, with what they have and lack.
pub struct Outline<'p>(pub &'p Preview);

/// Characters of a name.
const MAX_NAME: usize = 40;

impl fmt::Display for Outline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for table in &self.0.tables {
            writeln!(f, "{}: the first {} rows would become", table.file, table.rows.len())?;
            if let Some(problem) = &table.problem {
                writeln!(f, "  nothing: {problem}")?;
            }
            for row in &table.rows {
                write_row(f, table, row)?;
            }
        }
        self.0.problems.iter().try_for_each(|problem| writeln!(f, "problem: {problem}"))
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, table: &PreviewTable, row: &PreviewRow) -> fmt::Result {
    let named = table.columns.iter().zip(&row.cells).find(|(column, cell)| {
        let is_name = |meaning: &str| matches!(meaning, "name" | "startup");
        !cell.values.is_empty() && column.meanings.iter().any(|known| is_name(&known.meaning.field))
    });
    let name = named.and_then(|(_, cell)| cell.values.first()).map_or("", |value| &value.text);
    let used = row.cells.iter().filter(|cell| !cell.values.is_empty()).count();
    let kinds = if row.records.is_empty() { "nothing".to_owned() } else { row.records.join(", ") };
    let name = shortened_to(MAX_NAME, name);
    writeln!(f, "  {:>6}  {kinds:<15}  {name:<MAX_NAME$}  {used} of {} cells", row.line, row.cells.len())?;
    row.left_out.iter().try_for_each(|reason| writeln!(f, "          left out: {reason}"))?;
    for (column, cell) in table.columns.iter().zip(&row.cells) {
        for reason in &cell.left_out {
            let text = shortened_to(MAX_NAME, &cell.text);
            writeln!(f, "          left out: {} {}: {reason}", column.name, quoted(&text))?;
        }
    }
    Ok(())
}
