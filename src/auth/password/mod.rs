//! Passwords: rules for new ones, hashes, and the hashing queue.
//!
//! Follows NIST SP 800-63B and OWASP ASVS: a minimum length, no common passwords, no composition rules, comparison after
//! Unicode normalization (NFKC), no truncation.

mod common;
pub mod hash;
pub(crate) mod hasher;
pub(crate) mod line;

use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use crate::StoreResult;
use crate::account::Email;
use crate::password::hash::{HashMemory, PasswordHash};

/// Characters.
pub const MIN_LENGTH: usize = 10;
/// Characters.
pub const MAX_LENGTH: usize = 128;
/// [`MAX_LENGTH`] characters, with room for what normalization shortens.
const MAX_BYTES: usize = 1024;

/// An accepted new password. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Secret);

/// An entered password, right or wrong. `Debug` hides it; its memory is cleared.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// A text that is too long for any password becomes empty, which is no password either.
    pub fn new(text: &str) -> Self {
        let text = if text.len() > MAX_BYTES { "" } else { text };
        // A text that grows would leave copies behind.
        let mut normalized = Zeroizing::new(String::with_capacity(text.nfkc().map(char::len_utf8).sum()));
        normalized.extend(text.nfkc());
        Self(normalized)
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

hide_debug!(Secret, Password);

coded! {
    /// The code in the commands' `--json` output.
    pub fn code;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum WeakPassword {
        #[error("the password is empty; use at least {MIN_LENGTH} characters")]
        Empty => "password_too_short",
        #[error(
            "the password is too short, {0} of at least {MIN_LENGTH} characters; three or four words together are easy to \
             remember"
        )]
        Short(usize) => "password_too_short",
        #[error("the password is too long; use at most {MAX_LENGTH} characters")]
        Long => "password_too_long",
        #[error("the password is the e-mail address; use one that others do not know")]
        Email => "password_is_email",
        #[error("the password is one of the most common; use another, such as a few words")]
        Common => "password_too_common",
        /// A few characters repeated, or a sequence of the alphabet or the keyboard.
        #[error("the password is a pattern that is easy to guess; use another, such as a few words")]
        Pattern => "password_is_pattern",
        /// Most likely an accident.
        #[error("the password contains a line break or another control character; leave it out")]
        Control => "password_unreadable",
    }
}

impl Password {
    pub fn new(text: &str, email: &Email) -> Result<Self, WeakPassword> {
        if text.len() > MAX_BYTES {
            return Err(WeakPassword::Long);
        }
        let secret = Secret::new(text);
        match secret.0.chars().count() {
            0 => return Err(WeakPassword::Empty),
            length @ 1..MIN_LENGTH => return Err(WeakPassword::Short(length)),
            MIN_LENGTH..=MAX_LENGTH => {}
            _ => return Err(WeakPassword::Long),
        }
        if secret.0.chars().any(char::is_control) {
            return Err(WeakPassword::Control);
        }
        let folded = Zeroizing::new(secret.0.trim().to_lowercase());
        let local = email.local_part();
        // A short name may be part of a good password by chance.
        let contains_name = common::stem(local).chars().count() >= 4 && common::stem(&folded) == common::stem(local);
        if contains_name || *folded == local || *folded == email.as_str() {
            return Err(WeakPassword::Email);
        }
        if common::is_pattern(&folded) {
            return Err(WeakPassword::Pattern);
        }
        if common::is_common(&folded) {
            return Err(WeakPassword::Common);
        }
        Ok(Self(secret))
    }

    /// Blocks; a server uses [`hasher::PasswordHasher`].
    pub fn hash(&self) -> StoreResult<PasswordHash> {
        PasswordHash::compute(&self.0, &mut HashMemory::default())
    }

    pub(crate) fn secret(&self) -> &Secret {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) -> Result<Password, WeakPassword> {
        Password::new(text, &"ada.lovelace@example.com".parse().unwrap())
    }

    #[test]
    fn the_memory_of_a_password_is_cleared() {
        fn is_cleared<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let secret = Secret::new("glacier violin ﷺ lantern");
        is_cleared(&secret.0);
        assert_eq!(secret.0.capacity(), secret.0.len(), "it was not moved while it grew");
    }

    #[test]
    fn a_weak_password_is_rejected_with_advice() {
        for (text, expected, advice) in [
            ("", WeakPassword::Empty, "at least 10"),
            ("ninechars", WeakPassword::Short(9), "9 of at least 10 characters"),
            ("äöüßäöüßä", WeakPassword::Short(9), "9 of at least 10 characters"),
            (&"tenletters ".repeat(12), WeakPassword::Long, "at most 128"),
            (&"é".repeat(600), WeakPassword::Long, "at most 128"),
            ("Ada.Lovelace@Example.com", WeakPassword::Email, "others do not know"),
            ("ada.lovelace", WeakPassword::Email, "others do not know"),
            ("Ada.Lovelace1815!", WeakPassword::Email, "others do not know"),
            ("Password123", WeakPassword::Common, "most common"),
            ("  password1234!", WeakPassword::Common, "most common"),
            ("VentureDex2026", WeakPassword::Common, "most common"),
            ("1q2w3e4r5t6y", WeakPassword::Common, "most common"),
            ("correct horse battery staple", WeakPassword::Common, "most common"),
            ("iloveyou2!", WeakPassword::Common, "most common"),
            ("aaaaaaaaaaaaaaa", WeakPassword::Pattern, "a few words"),
            ("abcabcabcabcab", WeakPassword::Pattern, "a few words"),
            ("0123456789", WeakPassword::Pattern, "a few words"),
            ("9876543210", WeakPassword::Pattern, "a few words"),
            ("abcdefghijkl", WeakPassword::Pattern, "a few words"),
            ("qwertyuiop", WeakPassword::Pattern, "a few words"),
            ("asdfghjkl;'", WeakPassword::Pattern, "a few words"),
            ("１２３４５６７８９０", WeakPassword::Pattern, "a few words"),
            ("two\nlines of it", WeakPassword::Control, "leave it out"),
        ] {
            let rejected = check(text).unwrap_err();
            assert_eq!(rejected, expected, "{text}");
            assert!(rejected.to_string().contains(advice), "{text}: {rejected}");
        }
    }

    #[test]
    fn long_passwords_of_any_script_are_accepted_without_composition_rules() {
        for text in [
            "glacier violin lantern",
            "lowercaseonly",
            "8305712946",
            "пароль из слов",
            "秘密の合言葉は海の見える丘",
            "🦀🦀🦊🦊🐙🐙🐌🐌🐢🐢",
            " spaces around ",
            &"glacier violin lantern ".repeat(5),
        ] {
            assert!(check(text).is_ok(), "{text}: {:?}", check(text));
        }
        assert!(check(&format!("{}x", "ab9".repeat(42))).is_ok(), "127 characters");
        for email in ["1815@example.com", "a@example.com"] {
            assert!(Password::new("8305712946a", &email.parse().unwrap()).is_ok(), "{email}");
        }
    }

    #[test]
    fn two_encodings_of_one_password_are_equal() {
        assert_eq!(check("cafe\u{301} au lait"), check("caf\u{e9} au lait"));
        assert_eq!(check("caf\u{e9} au lait").unwrap().secret(), &Secret::new("cafe\u{301} au lait"));
        assert_ne!(check("caf\u{e9} au lait"), check("Caf\u{e9} au lait"));
        assert_ne!(Secret::new(" x"), Secret::new("x"), "nothing is trimmed");
    }

    #[test]
    fn debug_output_and_errors_hide_the_password() {
        let password = check("glacier violin lantern").unwrap();
        assert_eq!(format!("{password:?} {:?}", password.secret()), "Password(…) Secret(…)");
        for text in ["hunter2", "password123", "qwertyuiop"] {
            let error = check(text).unwrap_err();
            assert!(!format!("{error} {error:?}").contains(text));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_checking_panic(text in ".{0,200}") {
            let _ = check(&text);
            let _ = Secret::new(&text);
        }

        #[test]
        fn an_accepted_password_is_unchanged(text in "[a-zA-Z0-9 äß漢]{10,128}") {
            if let Ok(password) = check(&text) {
                prop_assert_eq!(password.secret(), &Secret::new(&text));
            }
        }
    }
}
