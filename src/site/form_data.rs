//! Forms with a file field (`multipart/form-data`, RFC 7578).

/// The content of a field; `None` if the form has no such field. Browsers send a file field without a file empty.
pub(crate) fn field<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    let boundary = &body[..find(body, b"\r\n")?];
    if !boundary.starts_with(b"--") {
        return None;
    }
    // Each part ends with a line end before the boundary.
    let end = [b"\r\n", boundary].concat();
    let mut rest = &body[boundary.len()..];
    let wanted = format!("; name=\"{name}\"");
    loop {
        let part = rest.strip_prefix(b"\r\n")?;
        let head_end = find(part, b"\r\n\r\n")?;
        let (head, content) = (&part[..head_end], &part[head_end + 4..]);
        let length = find(content, &end)?;
        if find(head, wanted.as_bytes()).is_some() {
            return Some(&content[..length]);
        }
        rest = &content[length + end.len()..];
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_files_are_found() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\na\r\n--b\r\n--x\r\nContent-Disposition: form-data; \
            name=\"file\"; filename=\"a.csv\"\r\nContent-Type: text/csv\r\n\r\n\r\n--x--\r\n";
        assert_eq!(field(body, "text"), Some(&b"a\r\n--b"[..]));
        assert_eq!(field(body, "file"), Some(&b""[..]));
        assert_eq!(field(body, "kind"), None);
        for length in 0..body.len() {
            field(&body[..length], "file");
        }
        assert_eq!(field(b"text=a", "text"), None);
    }
}
