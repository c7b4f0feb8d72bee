//! Cursors, API keys and forwarded addresses.

use std::net::IpAddr;

use auth::quota::{IpRange, client_address};
use auth::{ApiKey, MaskedKey};
use catalog::{Cursor, ListPosition};
use data::{Date, SnapshotVersion};
use http::HeaderValue;

use super::requests::{LISTS, ask, encoded, service};
use super::split;

/// The first byte chooses: a text that is sent as a cursor, or the parts of a cursor that is sealed first, as an older release
/// of the service could have sealed it.
pub fn cursor(bytes: &[u8]) {
    let secret = service().state.auth.cursor_secret();
    let open = |text: &str| Cursor::open(text, secret, api::options::is_page_option);
    let (kind, rest) = split(bytes);
    let text = String::from_utf8_lossy(rest);
    let resource = LISTS[kind / 2 % LISTS.len()];
    let path = resource.path();
    if kind % 2 == 0 {
        let opened = open(&text);
        assert!(opened.is_none(), "nobody but the service can seal a cursor: {opened:?}");
        let reply = ask("GET", &format!("/api/v3/{path}?cursor={}", encoded(rest)), &[], &[]);
        assert!(reply.status == 400 || rest.is_empty(), "{}: {}", reply.status, reply.text);
        return;
    }
    let number =
        |at: usize| rest.get(at..at + 8).map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().expect("8 bytes")));
    let (fields, query) = rest.split_at(rest.len().min(24));
    let own = service().state.releases.current();
    // Every other one belongs to the release that is served, so that it is followed.
    let (snapshot, content) = match fields.first().is_some_and(|byte| byte % 2 == 1) {
        true => (own.version(), own.snapshot().content()),
        false => {
            (SnapshotVersion { date: Date::from_days(number(0) as i32), counter: (number(0) >> 32) as u32 }, number(8))
        }
    };
    let rows = u64::from(own.snapshot().rows(resource.table()));
    let query = form_urlencoded::parse(query).into_owned();
    let (options, filters) = query.partition(|(name, _)| api::options::is_page_option(name));
    let cursor = Cursor {
        snapshot,
        content,
        path: path.to_owned(),
        filters,
        options,
        position: ListPosition {
            offset: number(8) >> (number(0) % 64),
            // A row of the list, which the content of the release vouches for.
            position: number(16).checked_rem(rows).map(|row| row as u32).filter(|_| number(0) & 2 == 0),
        },
    };
    let Some(sealed) = cursor.seal(secret) else { return };
    assert_eq!(open(&sealed).as_ref(), Some(&cursor));
    let mut changed = sealed.clone().into_bytes();
    let place = number(16) as usize % changed.len();
    changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
    assert_eq!(open(std::str::from_utf8(&changed).expect("ASCII")), None, "changed at {place}");
    ask("GET", &format!("/api/v3/{path}?cursor={sealed}"), &[], &[]);
}

/// A text as a key, in full and in its short form.
pub fn key(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(key) = text.parse::<ApiKey>() {
        assert_eq!(key.reveal(), text);
        let body = text.strip_prefix("vdx_").expect("every key has the prefix");
        assert_eq!(body.len(), 36);
        assert_eq!(value(&body[30..]), u64::from(crc32(&body.as_bytes()[..30])), "{text}");
        assert_eq!(key.masked().to_string().parse(), Ok(key.masked()));
    }
    if let Ok(masked) = text.parse::<MaskedKey>() {
        assert_eq!(masked.to_string(), text.replace("...", "…"));
    }
    // The client sends nothing else.
    if let Ok(header) = HeaderValue::from_str(&format!("Bearer {text}"))
        && header.to_str().is_ok()
    {
        let reply = ask("GET", "/api/v3/usage", &[("authorization", header)], &[]);
        assert_eq!(reply.status, 401, "nobody has this key: {}", reply.text);
    }
}

/// CRC-32, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

/// The number that base62 digits write.
fn value(digits: &str) -> u64 {
    const ALPHABET: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    digits.chars().fold(0, |sum, digit| sum * 62 + ALPHABET.find(digit).expect("a base62 digit") as u64)
}

/// The first byte chooses the peer; the lines after it are `X-Forwarded-For` headers.
pub fn forwarded(bytes: &[u8]) {
    let trusted: Vec<IpRange> =
        ["10.0.0.0/8", "192.0.2.7", "fd00::/8"].map(|range| range.parse().expect("a range")).to_vec();
    let is_trusted = |address: IpAddr| match address {
        IpAddr::V4(address) => address.octets()[0] == 10 || address.octets() == [192, 0, 2, 7],
        IpAddr::V6(address) => address.octets()[0] == 0xfd,
    };
    let (peer, rest) = split(bytes);
    let peer = ["10.1.2.3", "192.0.2.7", "fd00::1", "::ffff:10.0.0.9", "203.0.113.5", "2001:db8::5"][peer % 6];
    let peer: IpAddr = peer.parse().expect("an address");
    let text = String::from_utf8_lossy(rest);
    let client = client_address(peer, text.split('\n'), &trusted);
    // What each hop was written by the one to its right; the peer is the rightmost.
    let mut hops: Vec<&str> = text.split('\n').flat_map(|line| line.split(',')).map(str::trim).collect();
    let mut expected = peer.to_canonical();
    while is_trusted(expected)
        && let Some(address) = hops.pop().and_then(address)
    {
        expected = address.to_canonical();
    }
    assert_eq!(client, expected, "{peer}: {text:?}");
}

/// An address in one of the forms that proxies write.
fn address(hop: &str) -> Option<IpAddr> {
    if let Ok(address) = hop.parse() {
        return Some(address);
    }
    let (host, port) = match hop.strip_prefix('[') {
        Some(rest) => {
            rest.split_once(']').map(|(host, port)| (host, port.strip_prefix(':').or(port.is_empty().then_some("0"))))
        }
        None => hop.split_once(':').map(|(host, port)| (host, Some(port))),
    }?;
    let port = port?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    // The zone of an address with a port is ignored.
    let zone = host.split_once('%').filter(|(_, zone)| !hop.ends_with(']') && zone.parse::<u32>().is_ok());
    let host = zone.map_or(host, |(host, _)| host);
    let address: IpAddr = host.parse().ok().filter(|_| is_port)?;
    (address.is_ipv6() == hop.starts_with('[') || hop.ends_with(']')).then_some(address)
}
