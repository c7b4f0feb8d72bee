//! Input of the text index from a table.

pub const MAX_PROMINENCE: u32 = 1_000_000;

/// The names of one table's rows. Row numbers are below `len()`; implementations may panic for others.
pub trait Names: Sync {
    fn len(&self) -> u32;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn name(&self, row: u32) -> &str;

    /// The row's other names, separated by `|`; empty if there are none.
    fn aliases(&self, row: u32) -> &str;

    /// Prominence of the row among its kind, up to [`MAX_PROMINENCE`]: see `data::derive::prominence`.
    fn prominence(&self, row: u32) -> u32;

    /// Folded words of other fields that a search for the name may add: city, country, sectors, organization, title.
    fn context(&self, _row: u32) -> String {
        String::new()
    }

    fn description(&self, _row: u32) -> String {
        String::new()
    }

    /// True if the last word of a name is a family name.
    fn has_surnames(&self) -> bool {
        false
    }

    /// The more prominent row that is probably the same record; a main row has none.
    fn main_of(&self, _row: u32) -> Option<u32> {
        None
    }
}
