//! Finds lines of request heads that end with a bare line feed.
//!
//! hyper accepts such lines, as RFC 9112 permits, and has no option against it. Proxies differ: one that does not take the
//! line feed for an end of line sees one header where the server sees two. So the scanner follows the bytes of a
//! connection: heads line by line, bodies by the length that their heads announce, since a body may contain any bytes.
//!
//! It only has to agree with hyper on requests that hyper accepts: others end their connection.

use memchr::memchr;

/// Bytes of a line that are kept, enough for each line that tells the length of a body.
const KEPT: usize = 96;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Head,
    /// Bytes of a body or chunk that are left, and what follows them.
    Data {
        left: u64,
        is_chunk: bool,
    },
    ChunkSize,
    Trailers,
    /// The request is invalid, and so is everything after it.
    Ended,
}

#[derive(Debug)]
pub(super) struct HeadScanner {
    part: Part,
    line: LineStart,
    /// The head has a request line; empty lines before it are skipped.
    has_request_line: bool,
    is_chunked: bool,
    body_length: u64,
}

/// The beginning of a line that may have arrived in pieces.
#[derive(Debug)]
struct LineStart {
    bytes: [u8; KEPT],
    /// Length of the line so far, which may exceed what is kept.
    length: usize,
    last: u8,
}

impl LineStart {
    fn extend(&mut self, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.length..) {
            room.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = *byte);
        }
        self.length = self.length.saturating_add(bytes.len());
        self.last = bytes.last().copied().unwrap_or(self.last);
    }

    fn clear(&mut self) {
        (self.length, self.last) = (0, 0);
    }

    fn ends_with_carriage_return(&self) -> bool {
        self.last == b'\r'
    }

    /// True if the line, without its carriage return, is empty.
    fn is_empty(&self) -> bool {
        self.length == usize::from(self.ends_with_carriage_return())
    }

    /// The line; cut if it is longer than [`KEPT`].
    fn text(&self) -> &[u8] {
        &self.bytes[..self.length.min(KEPT)]
    }
}

impl Default for HeadScanner {
    fn default() -> Self {
        let line = LineStart { bytes: [0; KEPT], length: 0, last: 0 };
        Self { part: Part::Head, line, has_request_line: false, is_chunked: false, body_length: 0 }
    }
}

impl HeadScanner {
    /// Reads the next bytes of the connection. Returns the position of a line feed that makes the request invalid: it ends
    /// a line of a head without a carriage return, or a line whose length of a body or chunk cannot be read.
    pub(super) fn find_bare_line_feed(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            match &mut self.part {
                Part::Ended => return None,
                Part::Data { left, is_chunk } => {
                    let skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    at += skipped;
                    *left -= skipped as u64;
                    if *left == 0 {
                        self.part = if *is_chunk { Part::ChunkSize } else { Part::Head };
                    }
                }
                Part::Head | Part::ChunkSize | Part::Trailers => {
                    let Some(end) = memchr(b'\n', rest) else {
                        self.line.extend(rest);
                        return None;
                    };
                    self.line.extend(&rest[..end]);
                    let is_valid = self.end_line();
                    self.line.clear();
                    if !is_valid {
                        self.part = Part::Ended;
                        return Some(at + end);
                    }
                    at += end + 1;
                }
            }
        }
        None
    }

    /// Reads a whole line; false if it is not valid.
    fn end_line(&mut self) -> bool {
        let is_empty = self.line.is_empty();
        match self.part {
            Part::Head if !self.line.ends_with_carriage_return() => return false,
            Part::Head if is_empty && self.has_request_line => self.end_head(),
            Part::Head if is_empty => {}
            Part::Head if self.has_request_line => return self.read_header(),
            Part::Head => self.has_request_line = true,
            Part::ChunkSize => match chunk_part(self.line.text()) {
                Some(part) => self.part = part,
                None => return false,
            },
            Part::Trailers if is_empty => self.part = Part::Head,
            Part::Trailers | Part::Data { .. } | Part::Ended => {}
        }
        true
    }

    fn end_head(&mut self) {
        self.part = match (self.is_chunked, self.body_length) {
            (true, _) => Part::ChunkSize,
            (false, 0) => Part::Head,
            (false, left) => Part::Data { left, is_chunk: false },
        };
        (self.has_request_line, self.is_chunked, self.body_length) = (false, false, 0);
    }

    /// Notes what a header says of the body; false if it is one that says so in too many bytes.
    fn read_header(&mut self) -> bool {
        let text = self.line.text();
        let Some(colon) = memchr(b':', text) else { return true };
        let (name, value) = (&text[..colon], &text[colon + 1..]);
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            if self.line.length > KEPT {
                return false;
            }
            // hyper rejects what is not a number.
            self.body_length = parse_number(value.trim_ascii(), 10).unwrap_or_default();
        }
        true
    }
}

/// The part after the line of a chunk's size; `None` if the line is not valid, or the size is longer than what is kept.
fn chunk_part(line: &[u8]) -> Option<Part> {
    let end = line.iter().position(|byte| *byte == b';' || byte.is_ascii_whitespace())?;
    Some(match parse_number(&line[..end], 16)? {
        0 => Part::Trailers,
        // With the line break after the data.
        size => Part::Data { left: size.checked_add(2)?, is_chunk: true },
    })
}

fn parse_number(digits: &[u8], radix: u32) -> Option<u64> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passes `bytes` in pieces of `size`, and returns the position of the line feed that was found in them.
    fn found(bytes: &[u8], size: usize) -> Option<usize> {
        let mut scanner = HeadScanner::default();
        let mut pieces = bytes.chunks(size).enumerate();
        pieces.find_map(|(piece, bytes)| Some(piece * size + scanner.find_bare_line_feed(bytes)?))
    }

    /// Requests whose bodies contain line feeds, one after the other.
    const REQUESTS: &[u8] = b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n\
        POST /form HTTP/1.1\r\nHost: a\r\nCONTENT-LENGTH:  9\r\n\r\na\nb\n\nGET \
        POST /table HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
        4;a=b\r\nx\n\ny\r\n0a\r\n0123\n67\n\r9\r\n0\r\nTrailer: a\r\n\r\n\
        POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n\
        GET /last HTTP/1.1\r\nHost: a\r\nX-Long: 0123456789012345678901234567890123456789012345678901234567890123456789\
        01234567890123456789012345678901234567890123456789\r\n\r\n";

    #[test]
    fn line_feeds_of_bodies_are_no_ends_of_lines() {
        for size in 1..REQUESTS.len() {
            assert_eq!(found(REQUESTS, size), None, "{size}");
        }
    }

    #[test]
    fn a_bare_line_feed_is_found_in_each_line_of_each_head() {
        let heads = [b"GET / ".as_slice(), b"POST /form", b"POST /table", b"POST / ", b"GET /last"];
        for start in heads.map(|head| REQUESTS.windows(head.len()).position(|bytes| bytes == head).unwrap()) {
            let end = start + REQUESTS[start..].windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
            for at in (start..end).filter(|at| REQUESTS[*at] == b'\r') {
                let bare = [&REQUESTS[..at], &REQUESTS[at + 1..]].concat();
                for size in [1, 2, 7, bare.len()] {
                    assert_eq!(found(&bare, size), Some(at), "{}", String::from_utf8_lossy(&bare[start..]));
                }
            }
        }
        assert_eq!(found(b"\nGET / HTTP/1.1\r\n", 1), Some(0), "before a request");
    }

    #[test]
    fn a_length_that_hides_its_end_is_invalid() {
        let zeros = "0".repeat(KEPT);
        let head = format!("POST / HTTP/1.1\r\nContent-Length: {zeros}9\r\n\r\n");
        assert_eq!(found(head.as_bytes(), 10), Some(head.len() - 3));
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        for size in [&zeros, "", "x", "-1", "ffffffffffffffff"] {
            let chunked = format!("{head}{size}\r\n");
            assert_eq!(found(chunked.as_bytes(), 10), Some(chunked.len() - 1), "{size}");
        }
    }
}
