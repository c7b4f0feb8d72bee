//! Output of the commands: counts, sizes and times for people, JSON for programs.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use indicatif::HumanBytes;
use serde::{Serialize, Serializer};

pub(crate) use data::number::grouped as count;

pub(crate) fn json(value: &impl Serialize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)
}

/// `1 firm`, `2 firms`
pub(crate) fn counted(number: impl Display, noun: &str) -> String {
    data::number::counted(number, noun, &format!("{noun}s"))
}

/// `12.30 MiB`, as a string that can be padded.
pub(crate) fn size(bytes: u64) -> String {
    HumanBytes(bytes).to_string()
}

/// `12.0ms`, `3.4s`
pub(crate) fn time(time: Duration) -> String {
    format!("{time:.1?}")
}

pub(crate) fn as_milliseconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!([1, 2_000].map(|number| counted(number, "warning")), ["1 warning", "2,000 warnings"]);
    }
}
