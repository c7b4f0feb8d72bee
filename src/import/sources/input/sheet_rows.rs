//! Reads rows of workbooks: Excel and OpenDocument.

use std::io::{Cursor, Read};

use calamine::{Data, Reader, open_workbook_auto_from_rs};

use crate::sources::Result;
use crate::sources::input::{InputFormat, InputRow, Member, RowReceiver};

/// Reads a whole workbook into memory. The file formats limit a sheet to about a million rows.
pub(super) fn read(member: &Member, from: &mut dyn Read, format: &InputFormat, to: &mut dyn RowReceiver) -> Result<()> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map_err(|error| member.io(error))?;
    let unreadable = |error: calamine::Error| member.error(1, format!("cannot be read as a workbook: {error}"));
    let mut book = open_workbook_auto_from_rs(Cursor::new(&*bytes)).map_err(unreadable)?;
    let names = book.sheet_names();
    let sheet = format.sheet.as_ref().or(names.first()).ok_or_else(|| member.error(1, "has no sheet"))?;
    if !names.contains(sheet) {
        let problem = format!("has no sheet {sheet:?}; its sheets are: {}", names.join(", "));
        return Err(member.error(1, problem));
    }
    let range = book.worksheet_range(sheet).map_err(unreadable)?;
    let first = u64::from(range.start().map_or(0, |(row, _)| row)) + 1;
    let mut rows = range.rows().zip(first..).skip(format.skip);
    let Some((header, _)) = rows.next() else { return Err(member.error(1, "sheet is empty; the header is missing")) };
    let positions = to.header(&header.iter().map(text).collect::<Vec<_>>())?;
    let mut row = InputRow { file: member.index, ..InputRow::default() };
    for (cells, line) in rows {
        if cells.iter().all(|cell| *cell == Data::Empty) {
            continue;
        }
        row.clear(line);
        for position in &positions {
            row.push(&position.and_then(|position| cells.get(position)).map(text).unwrap_or_default());
        }
        to.row(&row)?;
    }
    Ok(())
}

/// Text of a cell as in CSV: dates as `YYYY-MM-DD`, whole numbers without a fraction, errors as an empty text.
fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(time) if !time.is_duration() => {
            let (year, month, day, ..) = time.to_ymd_hms_milli();
            format!("{year:04}-{month:02}-{day:02}")
        }
        Data::Error(_) => String::new(),
        other => other.to_string(),
    }
}
