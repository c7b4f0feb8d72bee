//! `/.well-known/security.txt` (RFC 9116): the contact for vulnerability reports.

use http::Uri;

use data::Date;

/// Days until the file expires. It is written for each request, and the RFC recommends less than a year.
const VALID_DAYS: i32 = 180;

pub fn contact(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_valid = match text.strip_prefix("mailto:") {
        Some(address) => {
            let parts = address.split_once('@');
            let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_graphic());
            parts.is_some_and(|(user, host)| is_plain(user) && is_plain(host) && !host.contains('@'))
                && !address.contains(['"', '<', '>', '?', ','])
        }
        None => text.parse::<Uri>().is_ok_and(|url| {
            let host = url.authority().filter(|authority| !authority.as_str().contains('@'));
            url.scheme_str() == Some("https") && host.is_some_and(|authority| !authority.host().is_empty())
        }),
    };
    let expected = "not an address for reports; examples: mailto:security@example.com, https://example.com/security";
    if is_valid { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

pub fn text(contact: &str, public_url: &str, today: Date) -> String {
    let expires = Date::from_days(today.days() + VALID_DAYS);
    let mut text = format!("Contact: {contact}\nExpires: {expires}T00:00:00Z\nPreferred-Languages: en\n");
    // A canonical URL must be https.
    if public_url.starts_with("https://") {
        text += &format!("Canonical: {public_url}/.well-known/security.txt\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_an_email_address_or_an_https_url() {
        for text in ["mailto:security@example.com", " https://example.com/security?x=1 "] {
            assert_eq!(contact(text).as_deref(), Ok(text.trim()));
        }
        for text in [
            "",
            "security@example.com",
            "mailto:",
            "mailto:example.com",
            "mailto:a b@c.d",
            "mailto:a@b@c",
            "mailto:a@b?subject=x",
            "mailto:a@b\nContact: x",
            "http://example.com",
            "https://",
            "https://user@example.com",
            "javascript:alert(1)",
        ] {
            assert!(contact(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_file_expires_within_a_year_and_names_its_address_if_it_is_https() {
        let today = "2026-11-21".parse().unwrap();
        assert_eq!(
            text("mailto:a@b.example", "https://api.example.com", today),
            "Contact: mailto:a@b.example\nExpires: 2027-05-20T00:00:00Z\nPreferred-Languages: en\n\
             Canonical: https://api.example.com/.well-known/security.txt\n"
        );
        assert!(!text("mailto:a@b.example", "http://127.0.0.1:8080", today).contains("Canonical"));
    }
}
