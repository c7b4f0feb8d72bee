//! Numbers and counts as people read them.

use std::fmt::Display;

/// An integer with separators between thousands: `12,345`.
pub fn grouped(number: impl Display) -> String {
    let mut text = number.to_string();
    for end in (1..text.len()).rev().skip(2).step_by(3) {
        text.insert(end, ',');
    }
    text
}

/// A count with its noun: `1 review`, `3,000 reviews`.
pub fn counted(count: impl Display, one: &str, many: &str) -> String {
    let count = grouped(count);
    let noun = if count == "1" { one } else { many };
    format!("{count} {noun}")
}
