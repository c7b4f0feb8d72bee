use std::borrow::Cow;

use bytes::Bytes;
use zeroize::Zeroizing;

use crate::form_data;

/// Maximum size of a form. An e-mail address, two passwords and a name are far shorter.
pub(crate) const MAX_BYTES: usize = 16 * 1024;
/// Maximum size of a form with a long text: 5,000 characters of four bytes, encoded, and the rest of a review.
pub(crate) const MAX_TEXT_BYTES: usize = 80 * 1024;
pub(crate) const MAX_LIST_BYTES: usize = 1024 * 1024;

/// A submitted form. There is no `Debug`, because some fields are passwords; the memory is cleared on drop.
pub(crate) struct FormData {
    body: Zeroizing<Vec<u8>>,
    /// True for `multipart/form-data`, which forms with a file use; false for `application/x-www-form-urlencoded`.
    is_multipart: bool,
}

impl FormData {
    pub(crate) fn new(body: Bytes, is_multipart: bool) -> Self {
        Self { body: Zeroizing::new(body.into()), is_multipart }
    }

    /// The text of the first field of this name; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> Cow<'_, str> {
        // Unlike `texts` it decodes nothing after the field, so that no copies of passwords remain in memory.
        let text = match self.is_multipart {
            true => form_data::field(&self.body, name).map(String::from_utf8_lossy),
            false => form_urlencoded::parse(&self.body).find(|(known, _)| known == name).map(|(_, text)| text),
        };
        text.unwrap_or_default()
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<Cow<'_, str>> {
        match self.is_multipart {
            true => form_data::fields(&self.body, name).map(String::from_utf8_lossy).collect(),
            false => {
                let fields = form_urlencoded::parse(&self.body).filter(|(known, _)| known == name);
                fields.map(|(_, text)| text).collect()
            }
        }
    }

    /// The content of a file; empty if none was chosen.
    pub(crate) fn file(&self, name: &str) -> &[u8] {
        let field = self.is_multipart.then(|| form_data::field(&self.body, name)).flatten();
        field.unwrap_or_default()
    }

    /// The text of a password field, cleared from memory on drop.
    pub(crate) fn secret(&self, name: &str) -> Zeroizing<String> {
        Zeroizing::new(self.text(name).into_owned())
    }
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
}
