//! Submitted forms, with a file field (`multipart/form-data`, RFC 7578) or without.

use std::borrow::Cow;

use bytes::Bytes;
use zeroize::Zeroizing;

/// A submitted form. There is no `Debug`, because some fields are passwords; the memory is cleared on drop.
pub struct FormData {
    body: Zeroizing<Vec<u8>>,
    /// True for `multipart/form-data`, which forms with a file use; false for `application/x-www-form-urlencoded`.
    is_multipart: bool,
}

impl FormData {
    pub fn new(body: Bytes, is_multipart: bool) -> Self {
        Self { body: Zeroizing::new(body.into()), is_multipart }
    }

    /// The text of the first field of this name; empty if there is none.
    pub fn text(&self, name: &str) -> Cow<'_, str> {
        // Unlike `texts` it decodes nothing after the field, so that no copies of passwords remain in memory.
        let text = match self.is_multipart {
            true => field(&self.body, name).map(String::from_utf8_lossy),
            false => form_urlencoded::parse(&self.body).find(|(known, _)| known == name).map(|(_, text)| text),
        };
        text.unwrap_or_default()
    }

    pub fn texts(&self, name: &str) -> Vec<Cow<'_, str>> {
        match self.is_multipart {
            true => fields(&self.body, name).map(String::from_utf8_lossy).collect(),
            false => {
                let fields = form_urlencoded::parse(&self.body).filter(|(known, _)| known == name);
                fields.map(|(_, text)| text).collect()
            }
        }
    }

    /// The content of a file; empty if none was chosen.
    pub fn file(&self, name: &str) -> &[u8] {
        let field = self.is_multipart.then(|| field(&self.body, name)).flatten();
        field.unwrap_or_default()
    }

    /// The text of a password field, cleared from memory on drop.
    pub fn secret(&self, name: &str) -> Zeroizing<String> {
        Zeroizing::new(self.text(name).into_owned())
    }
}

/// The content of the first field of this name, if any. Browsers send an empty field if no file was chosen.
pub fn field<'b>(body: &'b [u8], name: &str) -> Option<&'b [u8]> {
    fields(body, name).next()
}

/// The contents of all fields of this name, in order. Everything after a malformed part is ignored.
pub fn fields<'b>(body: &'b [u8], name: &str) -> impl Iterator<Item = &'b [u8]> {
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
    fn fields_are_decoded() {
        let form = FormData::new(Bytes::from_static(b"email=ada%40example.com&password=a+b%26c&email=other"), false);
        assert_eq!((form.text("email").as_ref(), form.text("password").as_ref()), ("ada@example.com", "a b&c"));
        assert_eq!((form.text("name").as_ref(), form.texts("email").len(), form.file("email")), ("", 2, &b""[..]));
    }

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
