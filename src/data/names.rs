//! What a text index needs to know of a table.

/// The names of one table's rows, as the text index reads and re-ranks them.
///
/// Row numbers run from 0 to `len() - 1`; asking for another row gives empty answers, never a panic.
pub trait Names: Sync {
    /// Number of rows.
    fn len(&self) -> u32;

    /// True where the table has no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row's name as it was published.
    fn name(&self, row: u32) -> &str;

    /// The row's other names, separated by `|`; empty where it has none.
    fn aliases(&self, row: u32) -> &str;

    /// How much is known to happen around the row (rounds joined, money raised, reviews): larger is more prominent.
    fn prominence(&self, row: u32) -> u32;
}
