//! The websites of a dataset: REST and MCP publish them, and clients make links of them.
//!
//! A website is therefore an `http` or `https` URL with a host. User information is refused:
//! `https://bank.example@evil.example` leads elsewhere than it seems to, and a password has no place in published data.

#[derive(Debug, PartialEq, Eq)]
pub enum WebsiteProblem {
    Invalid(&'static str),
    /// A harmless URL except for a plain user name, usually the rest of an e-mail address.
    HasUserName,
}

pub fn check(url: &str) -> Result<(), WebsiteProblem> {
    let invalid = |problem| Err(WebsiteProblem::Invalid(problem));
    if url.chars().any(char::is_whitespace) {
        return invalid("contains a space; give a single URL and write a space in it as `%20`");
    }
    // Browsers read `\` as `/`; the others end a link early in HTML or markdown.
    if url.contains(['"', '<', '>', '\\', '^', '`', '{', '|', '}']) {
        return invalid("contains a character that no URL has, such as `<` or `\\`; percent-encode it");
    }
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return invalid("is not a web address; write it as `https://www.example.com`");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user, host)) = authority.rsplit_once('@') else { return check_host(authority) };
    check_host(host)?;
    if user.chars().all(|char| char.is_alphanumeric() || "-_+".contains(char)) {
        return Err(WebsiteProblem::HasUserName);
    }
    invalid("has user information before `@`; remove it, as in `https://www.example.com`")
}

/// The host of a web address in lowercase, without `www.` and port; the same for all spellings of an address.
pub fn host(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_lowercase();
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => &host,
    };
    let host = host.trim_end_matches('.');
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

fn check_host(authority: &str) -> Result<(), WebsiteProblem> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    if port.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit()) || port.parse::<u16>().is_err()) {
        return Err(WebsiteProblem::Invalid("has an invalid port; leave it out, or give a number up to 65535"));
    }
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        // Letters of any script: names are published both as Unicode and as Punycode.
        None => {
            host.chars().any(char::is_alphanumeric)
                && host.chars().all(|char| char.is_alphanumeric() || "-._".contains(char))
        }
    };
    match is_host {
        true => Ok(()),
        false => Err(WebsiteProblem::Invalid("has no valid host; write it as `https://www.example.com`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses_are_accepted() {
        for url in [
            "https://alder.example",
            "HTTP://www.alder.example/a?b=c@d#e",
            "http://alder.example:8080/~fund",
            "https://straße.example/東京",
            "http://[2001:db8::1]:80/",
            "http://under_score.example.",
        ] {
            assert_eq!(check(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        for (url, part) in [
            ("javascript:alert(1)", "is not a web address"),
            ("data:text/html,x", "is not a web address"),
            ("ftp://alder.example", "is not a web address"),
            ("//evil.example", "is not a web address"),
            ("alder.example", "is not a web address"),
            ("https://x y", "contains a space"),
            ("https://x\u{a0}y", "contains a space"),
            ("https://x/<script>", "percent-encode"),
            ("https://evil.example\\.alder.example", "percent-encode"),
            ("https://", "no valid host"),
            ("https:///path", "no valid host"),
            ("https://...", "no valid host"),
            ("https://[::1", "no valid host"),
            ("https://a(b)", "no valid host"),
            ("https://alder.example:http", "invalid port"),
            ("https://alder.example:70000", "invalid port"),
            ("http://user:pw@evil.example/", "user information"),
            ("https://bank.example@evil.example", "user information"),
            ("https://@evil.example@", "no valid host"),
            ("https://bank%2eexample@evil.example", "user information"),
        ] {
            let Err(WebsiteProblem::Invalid(message)) = check(url) else { panic!("{url} is accepted") };
            assert!(message.contains(part), "{url}: {message}");
        }
        assert_eq!(check("http://Jane-Doe@alder.example"), Err(WebsiteProblem::HasUserName));
    }
}
