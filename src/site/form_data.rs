//! Forms with a file field (`multipart/form-data`, RFC 7578).

/// The content of the first field of this name, if any. Browsers send an empty field if no file was chosen.
pub(crate) fn field<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    fields(body, name).next()
}

/// The contents of all fields of this name, in order. Everything after a malformed part is ignored.
pub(crate) fn fields<'b>(body: &'b [u8], name: &str) -> impl Iterator<Item = &'b [u8]> {
    let wanted = format!("; name=\"{name}\"");
    let boundary = &body[..find(body, b"\r\n").unwrap_or(0)];
    // A line end before the boundary ends each part.
    let end = [b"\r\n", boundary].concat();
    let mut rest = if boundary.starts_with(b"--") { &body[boundary.len()..] } else { &[] };
    let parts = std::iter::from_fn(move || {
        let part = rest.strip_prefix(b"\r\n")?;
        let head_end = find(part, b"\r\n\r\n")?;
        let (head, content) = (&part[..head_end], &part[head_end + 4..]);
        let length = find(content, &end)?;
        rest = &content[length + end.len()..];
        Some((head, &content[..length]))
    });
    parts.filter(move |(head, _)| find(head, wanted.as_bytes()).is_some()).map(|(_, content)| content)
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
        let body =
            b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; \
            name=\"b\"\r\n\r\n2\r\n--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n3\r\n--x--\r\n";
        assert_eq!(fields(body, "a").collect::<Vec<_>>(), [b"1", b"3"]);
    }
}
