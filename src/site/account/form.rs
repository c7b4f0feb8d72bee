//! What a form sends.

use std::borrow::Cow;
use std::fmt;

/// Bytes of a form that are read; an e-mail address, two passwords and a name need far fewer.
pub(crate) const MOST_BYTES: usize = 16 * 1024;

/// The fields of a form. `Debug` shows none: passwords are among them.
pub(crate) struct FormData(Vec<u8>);

impl fmt::Debug for FormData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Form(…)")
    }
}

impl FormData {
    /// The fields in a body of `application/x-www-form-urlencoded`.
    #[must_use]
    pub fn new(body: Vec<u8>) -> Self {
        Self(body)
    }

    /// The text of a field; empty where it was not sent.
    pub(crate) fn text(&self, name: &str) -> Cow<'_, str> {
        let field = form_urlencoded::parse(&self.0).find(|(known, _)| known == name);
        field.map_or(Cow::Borrowed(""), |(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_send_them() {
        let form = FormData::new(b"email=ada%40example.com&password=a+b%26c&email=other".to_vec());
        assert_eq!((form.text("email").as_ref(), form.text("password").as_ref()), ("ada@example.com", "a b&c"));
        assert_eq!(form.text("name"), "");
        assert_eq!(format!("{form:?}"), "Form(…)");
    }
}
