//! The fields of a submitted form.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use zeroize::Zeroizing;

/// An e-mail address, two passwords and a name are far shorter.
pub(crate) const MAX_BYTES: usize = 16 * 1024;

/// `Debug` shows no field, because passwords are among them; the memory is cleared.
pub(crate) struct FormData(Zeroizing<Vec<u8>>);

impl fmt::Debug for FormData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormData(…)")
    }
}

impl FormData {
    /// `body` is `application/x-www-form-urlencoded`.
    pub(crate) fn new(body: Bytes) -> Self {
        Self(Zeroizing::new(body.into()))
    }

    /// The text of a field; empty if it is absent.
    pub(crate) fn text(&self, name: &str) -> Cow<'_, str> {
        let field = form_urlencoded::parse(&self.0).find(|(known, _)| known == name);
        field.map_or(Cow::Borrowed(""), |(_, text)| text)
    }

    /// The text of a field for a password.
    pub(crate) fn secret(&self, name: &str) -> Zeroizing<String> {
        Zeroizing::new(self.text(name).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let form = FormData::new(Bytes::from_static(b"email=ada%40example.com&password=a+b%26c&email=other"));
        assert_eq!((form.text("email").as_ref(), form.text("password").as_ref()), ("ada@example.com", "a b&c"));
        assert_eq!(form.text("name"), "");
        assert_eq!(format!("{form:?}"), "FormData(…)");
    }
}
