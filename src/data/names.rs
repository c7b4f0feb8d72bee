//! What the text index reads from a table.

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

    /// How much activity is known of the row (rounds joined, money raised, reviews): larger is more prominent.
    fn prominence(&self, row: u32) -> u32;

    /// The folded words of what else is known of the row and may be searched for with its name: city, country, sectors,
    /// organization, title.
    fn context(&self, _row: u32) -> String {
        String::new()
    }
}
