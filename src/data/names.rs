//! What the text index reads from a table.

/// Prominence is stored in millionths.
pub const MAX_PROMINENCE: u32 = 1_000_000;

/// The names of one table's rows.
///
/// Row numbers are below `len()`; implementations may panic for others.
pub trait Names: Sync {
    fn len(&self) -> u32;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn name(&self, row: u32) -> &str;

    /// The row's other names, separated by `|`; empty if there are none.
    fn aliases(&self, row: u32) -> &str;

    /// How prominent the row is among those of its kind, up to [`MAX_PROMINENCE`]: see `data::derive::prominence`.
    fn prominence(&self, row: u32) -> u32;

    /// The folded words of what else is known of the row and may be searched for with its name: city, country, sectors,
    /// organization, title.
    fn context(&self, _row: u32) -> String {
        String::new()
    }

    /// What the record says of itself; empty if it says nothing.
    fn description(&self, _row: u32) -> String {
        String::new()
    }

    /// Whether the last word of a name is that of a family.
    fn has_surnames(&self) -> bool {
        false
    }

    /// The more prominent row that is probably the same record; no main row has one itself.
    fn main_of(&self, _row: u32) -> Option<u32> {
        None
    }
}
