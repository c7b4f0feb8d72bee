//! E-mail addresses in one spelling, with visible characters only.
//!
//! An address is stored and compared in ASCII and lower case, its domain as in the DNS (`xn--…`), so that addresses
//! that look alike are the same. Other characters before the `@`, which few providers accept, are rejected.

use std::fmt;
use std::str::FromStr;

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use rapidfuzz::distance::damerau_levenshtein;

use data::import::clean::is_hidden;

/// An e-mail address. `Display` escapes non-ASCII characters, which occur only in addresses older than the rules above.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

impl Email {
    /// The address of an existing account, which may be older than the rules for new ones.
    pub(crate) fn from_stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    pub(crate) fn local_part(&self) -> &str {
        self.0.rsplit_once('@').map_or(self.as_str(), |(local, _)| local)
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(&self.0))
    }
}

/// The text of an address with all but visible ASCII escaped.
pub fn escaped(address: &str) -> String {
    let is_visible = |char: char| matches!(char, '!'..='~');
    let escape = |char: char| if is_visible(char) { char.to_string() } else { char.escape_unicode().to_string() };
    address.chars().map(escape).collect()
}

/// The address among `known` at most three edits from `email`, preferably with a similar part before the `@`.
pub fn nearest<'a>(email: &Email, known: impl IntoIterator<Item = &'a Email>) -> Option<&'a Email> {
    let edits = |a: &str, b: &str| damerau_levenshtein::distance(a.chars(), b.chars());
    let distance = |known: &'a Email| {
        let total = edits(&known.0, &email.0);
        (total <= 3).then(|| (total + edits(known.local_part(), email.local_part()), known))
    };
    known.into_iter().filter_map(distance).min().map(|(_, known)| known)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseEmailError {
    #[error("invalid e-mail address; use one like ada@example.com")]
    Malformed,
    #[error("invalid e-mail address: it contains invisible characters; type it instead of pasting it")]
    Hidden,
    #[error(
        "invalid e-mail address: only letters from a to z, digits and symbols such as `.`, `-` and `+` are accepted before \
         the `@`; use one like ada@example.com"
    )]
    LocalPart,
    #[error("invalid e-mail address: its domain is not a domain name; use one like ada@example.com")]
    Domain,
}

impl FromStr for Email {
    type Err = ParseEmailError;

    fn from_str(text: &str) -> Result<Self, ParseEmailError> {
        let text = text.trim();
        // The selectors of emoji are invisible too; a domain would drop them.
        if text.chars().any(|char| is_hidden(char) || char.is_control() || matches!(char, '\u{fe0e}' | '\u{fe0f}')) {
            return Err(ParseEmailError::Hidden);
        }
        let (local, domain) = text.rsplit_once('@').ok_or(ParseEmailError::Malformed)?;
        if local.is_empty() || local.len() > 64 || domain.is_empty() {
            return Err(ParseEmailError::Malformed);
        }
        if !local.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte)) {
            return Err(ParseEmailError::LocalPart);
        }
        let domain = Uts46::new()
            .to_ascii(domain.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify)
            .map_err(|_| ParseEmailError::Domain)?;
        // An IP address, such as 127.0.0.1, is not a domain.
        if domain.rsplit('.').next().is_some_and(|label| label.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err(ParseEmailError::Domain);
        }
        let email = format!("{}@{domain}", local.to_ascii_lowercase());
        if email.len() <= 254 { Ok(Self(email)) } else { Err(ParseEmailError::Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_address_is_compared_trimmed_in_lower_case_and_in_ascii() {
        for (text, email) in [
            (" Ada@Example.COM ", "ada@example.com"),
            ("ada+vc@example.co.uk", "ada+vc@example.co.uk"),
            ("o'neil@example.com", "o'neil@example.com"),
            ("ada@localhost", "ada@localhost"),
            ("ada@Bücher.example", "ada@xn--bcher-kva.example"),
            ("ada@bu\u{308}cher.example", "ada@xn--bcher-kva.example"),
            ("ada@ＥＸＡＭＰＬＥ．com", "ada@example.com"),
            ("ada@xn--bcher-kva.example", "ada@xn--bcher-kva.example"),
        ] {
            assert_eq!(text.parse::<Email>().unwrap().as_str(), email, "{text}");
        }
        for text in ["", "ada", "@example.com", "ada@", &format!("{}@example.com", "a".repeat(65))] {
            assert_eq!(text.parse::<Email>(), Err(ParseEmailError::Malformed), "{text}");
        }
        for text in
            ["ada@.com", "ada@a..b", "ada@-x.com", "ada@x-.com", "ada@a_b.com", "ada@a b.com", "a@127.0.0.1", "a@xn--a"]
        {
            assert_eq!(text.parse::<Email>(), Err(ParseEmailError::Domain), "{text}");
        }
        assert_eq!("a b@example.com".parse::<Email>(), Err(ParseEmailError::LocalPart));
        assert_eq!("a@b@c".parse::<Email>(), Err(ParseEmailError::LocalPart));
        assert_eq!(format!("ada@{}com", "abcdefg.".repeat(31)).parse::<Email>(), Err(ParseEmailError::Malformed));
    }

    #[test]
    fn no_other_address_looks_like_one() {
        for hidden in ['\u{200b}', '\u{202e}', '\u{ad}', '\u{fe0f}', '\u{e0041}', '\u{7}', '\u{115f}', '\u{2066}'] {
            let text = format!("ceo{hidden}@bigco.example");
            let rejected = text.parse::<Email>().unwrap_err();
            assert!(matches!(rejected, ParseEmailError::Hidden | ParseEmailError::LocalPart), "{hidden:?}");
            // In a domain they would be dropped.
            let text = format!("ceo@big{hidden}co.example");
            assert!(
                matches!(text.parse::<Email>(), Err(ParseEmailError::Hidden | ParseEmailError::Domain)),
                "{hidden:?}"
            );
        }
        // A Cyrillic letter, a ligature, an accent written in two ways.
        for text in ["\u{441}eo@bigco.example", "\u{fb00}@bigco.example", "é@bigco.example", "e\u{301}@bigco.example"]
        {
            assert_eq!(text.parse::<Email>(), Err(ParseEmailError::LocalPart), "{text}");
        }
        let imitation: Email = "ceo@bigc\u{43e}.example".parse().unwrap();
        assert_eq!(imitation.to_string(), "ceo@xn--bigc-85d.example");
    }

    #[test]
    fn what_is_not_ascii_is_printed_escaped() {
        let email = Email::from_stored("ceo\u{202e}@bigc\u{43e}.example".to_owned());
        assert_eq!(email.to_string(), "ceo\\u{202e}@bigc\\u{43e}.example");
    }

    #[test]
    fn the_nearest_address_is_at_most_three_edits_away() {
        let known: Vec<Email> =
            ["ada@example.com", "adam@example.com", "zoe@example.org"].map(|text| text.parse().unwrap()).into();
        for (text, expected) in [
            ("aad@example.com", Some("ada@example.com")),
            ("adamm@exmaple.com", Some("adam@example.com")),
            ("zoe@example.com", Some("zoe@example.org")),
            ("someone@else.com", None),
        ] {
            let email = text.parse().unwrap();
            assert_eq!(nearest(&email, &known).map(Email::as_str), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_address_is_visible_ascii_and_parses_to_itself(text in "[a-zé.+]{1,8}@[a-zéßоａ\u{200d}A-Z0-9.-]{1,12}") {
            if let Ok(email) = text.parse::<Email>() {
                prop_assert!(email.as_str().bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()));
                prop_assert_eq!(email.to_string(), email.as_str());
                prop_assert_eq!(email.as_str().parse::<Email>(), Ok(email.clone()));
            }
        }
    }
}
