//! Word files, which are compiled into the program: an entry on each line, and comments.

/// The entries in the order of the file: its lines, except empty ones and those that begin with `#`.
pub fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}
