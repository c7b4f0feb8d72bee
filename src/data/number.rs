//! Numbers and counts as people read them.

use std::fmt::Display;

/// An integer with separators between thousands: `12,345`.
pub fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 review`, `3,000 reviews`.
pub fn counted(count: impl Display, one: &str, many: &str) -> String {
    let count = grouped(count);
    let noun = if count == "1" { one } else { many };
    format!("{count} {noun}")
}
