//! Counts the bytes and levels of JSON while `serde_json` reads it, which holds each text and row in memory.

use std::io::{self, Read};

use crate::sources::input::limits::{self, Limit};

/// True for white space and marks before the first row.
pub(super) fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(&byte)
}

pub(super) struct JsonScan<R> {
    from: R,
    /// From 1.
    line: u64,
    depth: u64,
    /// Depth of a row: 1 in an array, 0 for rows without one, more below a path. `None` before the first character.
    row_depth: Option<u64>,
    /// Bytes of the text so far; `None` outside of texts.
    text: Option<u64>,
    is_escaped: bool,
    row: u64,
}

impl<R> JsonScan<R> {
    /// `row_depth` is known below a path; otherwise the first character decides.
    pub(super) fn new(from: R, row_depth: Option<u64>) -> Self {
        Self { from, line: 1, depth: 0, row_depth, text: None, is_escaped: false, row: 0 }
    }

    fn step(&mut self, byte: u8) -> Result<(), &'static Limit> {
        self.line += u64::from(byte == b'\n');
        if let Some(bytes) = &mut self.text {
            *bytes += 1;
            self.row += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.text = None,
                _ => {}
            }
        } else {
            let row_depth = match self.row_depth {
                Some(depth) => depth,
                None if is_blank(byte) => return Ok(()),
                None => *self.row_depth.insert(u64::from(byte == b'[')),
            };
            match byte {
                b'"' => self.text = Some(0),
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.row = if self.depth > row_depth { self.row + 1 } else { 0 };
        }
        if self.text.is_some_and(|bytes| bytes > limits::FIELD.max) {
            Err(&limits::FIELD)
        } else if self.row > limits::ROW.max {
            Err(&limits::ROW)
        } else if self.depth > limits::JSON_DEPTH.max {
            Err(&limits::JSON_DEPTH)
        } else {
            Ok(())
        }
    }
}

impl<R: Read> Read for JsonScan<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        for byte in &buffer[..read] {
            self.step(*byte).map_err(|limit| limit.exceeded().at_line(self.line))?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::input::limits::LimitExceeded;

    /// The limit and line at which reading stops; `None` if it reads all.
    fn stop(from: impl Read) -> Option<(&'static str, Option<u64>)> {
        let error = io::copy(&mut JsonScan::new(from, None), &mut io::sink()).err()?;
        LimitExceeded::of(&error).map(|exceeded| (exceeded.limit.name, exceeded.line))
    }

    #[test]
    fn texts_rows_and_levels_are_limited_while_they_are_read() {
        let endless = |beginning: &'static str, byte: u8| stop(beginning.as_bytes().chain(io::repeat(byte)));
        assert_eq!(endless("[\n{\"a\": \"", b'x'), Some(("field", Some(2))));
        assert_eq!(endless("{\"", b'\\'), Some(("field", Some(1))));
        assert_eq!(endless("[{\"a\": ", b'1'), Some(("row", Some(1))));
        assert_eq!(endless("\n{\"a\": [", b' '), Some(("row", Some(2))));
        assert_eq!(endless("", b'['), Some(("json-depth", Some(1))));
        let row = format!("{{\"a\": \"{}\"}}", "\\\"[".repeat(100_000));
        assert_eq!(stop(format!("[{}]", vec![row.as_str(); 30].join(",\n")).as_bytes()), None);
        assert_eq!(stop(vec![row.as_str(); 30].join("\n").as_bytes()), None);
    }
}
