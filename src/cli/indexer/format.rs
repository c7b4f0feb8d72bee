//! Numbers, sizes and times as people read them, and what is printed for machines.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

/// Prints one JSON object on standard output.
pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)
}

/// `87,269`
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 firm`, `2 firms`
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number as u64), if number == 1 { "" } else { "s" })
}

/// `12.3 MB`, in steps of a thousand.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value < 999.95 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

/// `12 ms`, `3.4 s`, `2 min 5 s`
pub(crate) fn time(time: Duration) -> String {
    let millis = time.as_millis();
    match millis {
        0..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{:.1} s", time.as_secs_f64()),
        _ => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 7, 999, 1000, 87_269, 1_000_000].map(count), ["0", "7", "999", "1,000", "87,269", "1,000,000"]);
        assert_eq!([1, 2].map(|number| counted(number, "warning")), ["1 warning", "2 warnings"]);
    }

    #[test]
    fn sizes_and_times_have_units_that_fit() {
        assert_eq!(
            [999, 1000, 999_949, 999_960, 3_100_000_000].map(size),
            ["999 B", "1.0 kB", "999.9 kB", "1.0 MB", "3.1 GB"]
        );
        let times = [12, 3_440, 125_000].map(|millis| time(Duration::from_millis(millis)));
        assert_eq!(times, ["12 ms", "3.4 s", "2 min 5 s"]);
    }
}
