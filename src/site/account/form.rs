//! Largest sizes of forms, in bytes.

/// An e-mail address, two passwords and a name are far shorter.
pub(crate) const MAX_BYTES: usize = 16 * 1024;
/// Maximum size of a form with a long text: 5,000 characters of four bytes, encoded, and the rest of a review.
pub(crate) const MAX_TEXT_BYTES: usize = 80 * 1024;
pub(crate) const MAX_LIST_BYTES: usize = 1024 * 1024;
