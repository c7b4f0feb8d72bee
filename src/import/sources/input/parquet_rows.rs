//! Reads rows of Parquet files. Their columns have names and types, so that nothing about them is detected.

use crate::sources::SourceError;
use crate::sources::input::parquet_file::{ParquetFault, ParquetFile, ParquetRows};
use crate::sources::input::{InputFormat, InputRow, Member, RowReceiver, cell_text, limits};
use data::import::diagnostics::quoted;

pub(super) fn read(member: &Member, format: &InputFormat, to: &mut dyn RowReceiver) -> Result<(), SourceError> {
    let Some(file) = member.open_whole()? else {
        return Err(member.error(1, "is a Parquet file in an archive, where it cannot be read: unpack it"));
    };
    to.format(format);
    let file = ParquetFile::open(file).map_err(|problem| SourceError::invalid(member.name.as_ref(), problem))?;
    let names: Vec<String> = file.names().map(str::to_owned).collect();
    let refused = |exceeded| member.error(1, exceeded);
    limits::COLUMNS.check(names.len() as u64).map_err(refused)?;
    names.iter().try_for_each(|name| limits::COLUMN_NAME.check(name.len() as u64)).map_err(refused)?;
    let positions = to.header(&names)?;
    // Columns of values that only a guess looks at come after the wanted ones; those without texts are left out.
    let sampled: Vec<usize> = match to.is_sampling() {
        true => {
            (0..names.len()).filter(|column| !positions.contains(&Some(*column)) && file.has_texts(*column)).collect()
        }
        false => Vec::new(),
    };
    let wanted = positions.iter().copied().chain(sampled.iter().copied().map(Some)).collect();
    let fault = |ParquetFault { row, column, problem }: ParquetFault| {
        let column = column.map_or_else(String::new, |column| format!("column {}: ", quoted(&column)));
        member.error(row.max(1), format!("{column}{problem}"))
    };
    let mut rows = ParquetRows::new(file, wanted).map_err(fault)?;
    let mut row = InputRow { file: member.index, ..InputRow::default() };
    while rows.advance().map_err(fault)? {
        row.clear(rows.row());
        let mut problem = None;
        for (index, position) in positions.iter().enumerate() {
            match str::from_utf8(rows.cell(index)) {
                Ok(cell) => row.push(&cell_text(cell)),
                Err(_) => {
                    let name = position.map_or("", |column| names[column].as_str());
                    problem = Some(format!("column {} is not UTF-8", quoted(name)));
                    row.push("");
                }
            }
        }
        if to.is_sampling() {
            for (place, column) in sampled.iter().enumerate() {
                let cell = String::from_utf8_lossy(rows.cell(positions.len() + place));
                to.sample(&names[*column], &cell);
            }
            to.end_sample();
        }
        match problem {
            Some(problem) => to.bad_row(&row, problem),
            None => to.row(&row)?,
        }
    }
    Ok(())
}
