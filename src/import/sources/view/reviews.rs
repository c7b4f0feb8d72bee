//! `reviews.csv` next to the folders of the sources: reviews that people write or collect, of the firms of any source.

use std::path::Path;

use crate::sources::Result;
use crate::sources::read_edited;
use crate::sources::view::entities::Entities;
use crate::sources::view::files::Files;
use data::import::csv_table::TableRow;
use data::import::diagnostics::quoted;
use data::import::rows::DatasetReview;

/// Reviews that are named if their firm is unknown.
const MAX_NAMED: usize = 10;

/// A line of the file. It is written to the dataset while it is read, and checked with the rest of the dataset.
struct EditedReview;

impl TableRow for EditedReview {
    const NOUN: &'static str = DatasetReview::NOUN;
    const FILE: &'static str = DatasetReview::FILE;
    const HEADER: &'static str = DatasetReview::HEADER;
    const REQUIRED: &'static str = DatasetReview::REQUIRED;
}

/// Copies the reviews of published firms. A firm is named by its slug, by one that was merged away, by its key in a source or
/// by its name. Returns what is left out.
pub(super) fn copy(folder: &Path, entities: &Entities, files: &mut Files<'_>) -> Result<Vec<String>> {
    if !folder.join(EditedReview::FILE).exists() {
        return Ok(Vec::new());
    }
    let firms = entities.firms();
    let (mut left_out, mut count, mut written) = (Vec::new(), 0, Ok(()));
    let copied = read_edited(
        folder,
        |row| {
            let slug = match firms.find(row.field("firm")) {
                Ok(number) => &*entities.record(number).slug,
                Err(problem) => {
                    if left_out.len() < MAX_NAMED {
                        let firm = quoted(row.field("firm"));
                        left_out.push(format!("{}:{}: {firm} {problem}", EditedReview::FILE, row.line));
                    }
                    count += 1;
                    return None::<EditedReview>;
                }
            };
            let value = |column| if column == "firm" { slug } else { row.field(column) };
            let fields: Vec<&str> = EditedReview::HEADER.split(',').map(value).collect();
            if written.is_ok() {
                written = files.line::<DatasetReview>(&fields);
            }
            None
        },
        |_, _| (),
    );
    copied.and(written)?;
    if count > left_out.len() {
        left_out.push(format!("and {} more reviews", count - left_out.len()));
    }
    Ok(left_out)
}
