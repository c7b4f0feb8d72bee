//! Passwords: what may become one, how it is hashed, and the queue before the hashing.
//!
//! As NIST SP 800-63B and OWASP ASVS have it: long rather than mixed, nothing that is tried first, no rules of letters and
//! digits, compared after Unicode normalization (NFKC), never cut.

pub mod common;
pub mod hash;
pub mod hasher;

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::auth::StoreError;
use crate::auth::account::Email;
use crate::auth::password::hash::PasswordHash;

/// Characters a password has at least.
pub const SHORTEST: usize = 10;
/// Characters a password has at most.
pub const LONGEST: usize = 128;
/// Bytes that are looked at: `LONGEST` characters, with room for what normalization shortens.
const BYTES: usize = 1024;

/// A text that may be an account's password, a secret. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Secret);

/// A text that somebody gives as their password, right or wrong. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// What was given. One that is too long for any password is kept as the empty one, which is none either.
    #[must_use]
    pub fn given(text: &str) -> Self {
        if text.len() > BYTES { Self(String::new()) } else { Self(text.nfkc().collect()) }
    }

    fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Why a text may not become a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeakPassword {
    /// Fewer than [`SHORTEST`] characters: so many.
    Short(usize),
    /// More than [`LONGEST`] characters.
    Long,
    /// The account's e-mail address, or the part before its `@`.
    Email,
    /// Among those that are tried first.
    Common,
    /// A few characters again and again, or one after the other as they stand in the alphabet or on the keys.
    Pattern,
    /// It holds a control character, such as a line break: most likely a slip.
    Control,
}

impl WeakPassword {
    /// A stable word for machines, such as `password_too_short`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Short(_) => "password_too_short",
            Self::Long => "password_too_long",
            Self::Email => "password_is_email",
            Self::Common => "password_too_common",
            Self::Pattern => "password_is_pattern",
            Self::Control => "password_unreadable",
        }
    }
}

impl fmt::Display for WeakPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(0) => write!(f, "the password is empty: use at least {SHORTEST} characters"),
            Self::Short(length) => write!(
                f,
                "the password is too short, {length} of at least {SHORTEST} characters: three or four words together are \
                 easy to keep"
            ),
            Self::Long => write!(f, "the password is too long: use at most {LONGEST} characters"),
            Self::Email => f.write_str("the password is the e-mail address: use one that others do not know"),
            Self::Common => f.write_str(
                "the password is among those that are tried first: use one that is yours alone, such as a few words",
            ),
            Self::Pattern => {
                f.write_str("the password is a pattern that is easily tried: use one without, such as a few words")
            }
            Self::Control => f.write_str("the password holds a line break or another control character: leave it out"),
        }
    }
}

impl std::error::Error for WeakPassword {}

impl Password {
    /// Reads a new password of the account of `email`.
    ///
    /// # Errors
    /// Why it may not be one, with the mend.
    pub fn new(text: &str, email: &Email) -> Result<Self, WeakPassword> {
        if text.len() > BYTES {
            return Err(WeakPassword::Long);
        }
        let secret = Secret::given(text);
        let length = secret.0.chars().count();
        if length < SHORTEST {
            return Err(WeakPassword::Short(length));
        }
        if length > LONGEST {
            return Err(WeakPassword::Long);
        }
        if secret.0.chars().any(char::is_control) {
            return Err(WeakPassword::Control);
        }
        let folded = secret.0.trim().to_lowercase();
        let local = email.as_str().rsplit_once('@').map_or("", |(local, _)| local);
        // A short name may stand in a good password by chance.
        let named = common::stem(local).chars().count() >= 4 && common::stem(&folded) == common::stem(local);
        if named || folded == local || folded == email.as_str() {
            return Err(WeakPassword::Email);
        }
        if common::is_common(&folded) {
            return Err(WeakPassword::Common);
        }
        if common::is_pattern(&folded) {
            return Err(WeakPassword::Pattern);
        }
        Ok(Self(secret))
    }

    /// Hashes the password where it may block, which a server may not: see [`Hasher`].
    ///
    /// # Errors
    /// [`StoreError::NoRandomness`], [`StoreError::Hashing`].
    pub fn hash(&self) -> Result<PasswordHash, StoreError> {
        PasswordHash::of(&self.0)
    }

    /// The password as one gives it to sign in.
    #[must_use]
    pub fn secret(&self) -> &Secret {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Password, WeakPassword> {
        Password::new(text, &"ada.lovelace@example.com".parse().unwrap())
    }

    #[test]
    fn what_may_not_become_a_password_is_told_with_the_mend() {
        for (text, expected, mend) in [
            ("", WeakPassword::Short(0), "at least 10"),
            ("ninechars", WeakPassword::Short(9), "9 of at least 10 characters"),
            ("äöüßäöüßä", WeakPassword::Short(9), "9 of at least 10 characters"),
            (&"tenletters ".repeat(12), WeakPassword::Long, "at most 128"),
            (&"é".repeat(600), WeakPassword::Long, "at most 128"),
            ("Ada.Lovelace@Example.com", WeakPassword::Email, "others do not know"),
            ("ada.lovelace", WeakPassword::Email, "others do not know"),
            ("Ada.Lovelace1815!", WeakPassword::Email, "others do not know"),
            ("Password123", WeakPassword::Common, "tried first"),
            ("  password1234!", WeakPassword::Common, "tried first"),
            ("VentureDex2026", WeakPassword::Common, "tried first"),
            ("1q2w3e4r5t6y", WeakPassword::Common, "tried first"),
            ("correct horse battery staple", WeakPassword::Common, "tried first"),
            ("iloveyou2!", WeakPassword::Common, "tried first"),
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
            let refused = read(text).unwrap_err();
            assert_eq!(refused, expected, "{text}");
            assert!(refused.to_string().contains(mend), "{text}: {refused}");
        }
    }

    #[test]
    fn long_ones_of_any_script_may_without_rules_of_composition() {
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
            assert!(read(text).is_ok(), "{text}: {:?}", read(text));
        }
        assert!(read(&format!("{}x", "ab9".repeat(42))).is_ok(), "127 characters");
        for email in ["1815@example.com", "a@example.com"] {
            assert!(Password::new("8305712946a", &email.parse().unwrap()).is_ok(), "{email}");
        }
    }

    #[test]
    fn one_password_written_in_two_ways_is_one() {
        assert_eq!(read("cafe\u{301} au lait"), read("caf\u{e9} au lait"));
        assert_eq!(read("caf\u{e9} au lait").unwrap().secret(), &Secret::given("cafe\u{301} au lait"));
        assert_ne!(read("caf\u{e9} au lait"), read("Caf\u{e9} au lait"));
        assert_ne!(Secret::given(" x"), Secret::given("x"), "nothing is cut off");
    }

    #[test]
    fn nothing_prints_a_password() {
        let password = read("glacier violin lantern").unwrap();
        assert_eq!(format!("{password:?} {:?}", password.secret()), "Password(…) Secret(…)");
        for refused in ["hunter2", "password123", "qwertyuiop"] {
            let refusal = read(refused).unwrap_err();
            assert!(!format!("{refusal} {refusal:?}").contains(refused));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_panic(text in ".{0,200}") {
            let _ = read(&text);
            let _ = Secret::given(&text);
        }

        #[test]
        fn what_may_be_one_is_read_back_as_itself(text in "[a-zA-Z0-9 äß漢]{10,128}") {
            if let Ok(password) = read(&text) {
                prop_assert_eq!(password.secret(), &Secret::given(&text));
            }
        }
    }
}
