use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::addresses::parse;
use crate::alerts::webhook::WebhookUrlError;

/// Oracle from the standard library and the registries, written differently from the code.
fn is_special(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_broadcast()
                || v4.is_documentation()
                || v4.is_multicast()
                || v4.is_unspecified()
                || matches!(
                    v4.octets(),
                    [0, ..]
                        | [100, 64..=127, ..]
                        | [192, 0, 0, _]
                        | [192, 88, 99, _]
                        | [198, 18 | 19, ..]
                        | [240..=255, ..]
                )
                || v4.octets() == [168, 63, 129, 16]
        }
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
                || v6.to_ipv4().is_some()
                || matches!(
                    v6.segments(),
                    [0x64, 0xff9b, 0, 0, 0, 0, ..]
                        | [0x64, 0xff9b, 1, ..]
                        | [0x100, 0, 0, 0, ..]
                        | [0x2001, 0..=0x1ff | 0xdb8, ..]
                        | [0x2002, ..]
                        | [0x3fff, 0..=0xfff, ..]
                        | [0x5f00, ..]
                        | [0xfec0..=0xfeff, ..]
                )
        }
    }
}

/// Spellings of an IPv4 address as a host.
fn spellings(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let bits = address.to_bits();
    let wide = |text: &str| -> String {
        text.chars().map(|digit| char::from_u32(u32::from(digit) - 0x30 + 0xff10).unwrap_or(digit)).collect()
    };
    vec![
        format!("{a}.{b}.{c}.{d}"),
        format!("{a}.{b}.{c}.{d}."),
        format!("{bits}"),
        format!("{bits:#x}"),
        format!("0X{bits:X}"),
        format!("0{bits:o}"),
        format!("{a}.{}", bits & 0xff_ffff),
        format!("{a}.{b}.{}", bits & 0xffff),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{b:#x}.0{:o}", bits & 0xffff),
        format!("{a}.{b}.{c}.{d}").replace('.', "%2E"),
        format!("{a}.{b}.{c}.{d}").replace('1', "%31"),
        format!("{}.{b}.{c}.{d}", wide(&a.to_string())),
        format!("{a}。{b}．{c}｡{d}"),
    ]
}

/// IPv6 addresses that embed an IPv4 address.
fn embedded(address: Ipv4Addr) -> [String; 6] {
    let [a, b, c, d] = address.octets();
    let (high, low) = (address.to_bits() >> 16, address.to_bits() & 0xffff);
    [
        format!("[::ffff:{a}.{b}.{c}.{d}]"),
        format!("[0:0:0:0:0:FFFF:{high:X}:{low:X}]"),
        format!("[::{a}.{b}.{c}.{d}]"),
        format!("[64:ff9b::{high:x}:{low:x}]"),
        format!("[64:ff9b:1::{a}.{b}.{c}.{d}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
    ]
}

fn v4() -> impl Strategy<Value = Ipv4Addr> {
    let special = prop_oneof![
        Just([0, 0]),
        Just([10, 0]),
        Just([100, 64]),
        Just([127, 0]),
        Just([169, 254]),
        Just([172, 16]),
        Just([172, 31]),
        Just([192, 0]),
        Just([192, 88]),
        Just([192, 168]),
        Just([198, 18]),
        Just([198, 51]),
        Just([203, 0]),
        Just([255, 255]),
    ];
    let near = (special, prop_oneof![Just(0), Just(2), Just(99), Just(100), Just(113), any::<u8>()], any::<u8>());
    prop_oneof![any::<u32>().prop_map(Ipv4Addr::from_bits), near.prop_map(|([a, b], c, d)| Ipv4Addr::new(a, b, c, d))]
}

fn v6() -> impl Strategy<Value = Ipv6Addr> {
    let first = prop_oneof![
        Just(0),
        Just(0x64),
        Just(0x100),
        Just(0x2001),
        Just(0x2002),
        Just(0x3fff),
        Just(0x5f00),
        0xfc00..=0xffff_u16,
        any::<u16>()
    ];
    let second = prop_oneof![Just(0), Just(0xff9b), Just(0xdb8), Just(0x1ff), any::<u16>()];
    let third = prop_oneof![Just(0), Just(1), any::<u16>()];
    let rest = prop_oneof![Just(0), any::<u128>()];
    (first, second, third, rest).prop_map(|(first, second, third, rest)| {
        let start = u128::from(first) << 112 | u128::from(second) << 96 | u128::from(third) << 80;
        Ipv6Addr::from_bits(start | rest >> 48)
    })
}

proptest! {
    #[test]
    fn an_ipv4_address_is_accepted_if_it_is_public_however_it_is_written(address in v4()) {
        for host in spellings(address) {
            let parsed = parse(&format!("https://{host}/")).map(|url| url.as_str().to_owned());
            match is_special(address.into()) {
                true => prop_assert_eq!(parsed, Err(WebhookUrlError::Address(address.into())), "{}", host),
                false => prop_assert_eq!(parsed, Ok(format!("https://{address}/")), "{}", host),
            }
        }
        for host in embedded(address) {
            let is_rejected = matches!(parse(&format!("https://{host}/")), Err(WebhookUrlError::Address(_)));
            prop_assert!(is_rejected, "{}", host);
        }
    }

    #[test]
    fn an_ipv6_address_that_is_not_public_is_rejected(address in v6()) {
        let segments = address.segments().map(|segment| format!("{segment:04X}")).join(":");
        for host in [format!("[{address}]"), format!("[{segments}]")] {
            let parsed = parse(&format!("https://{host}/")).map(|url| url.as_str().to_owned());
            if is_special(address.into()) {
                prop_assert_eq!(parsed, Err(WebhookUrlError::Address(address.into())), "{}", host);
            } else if address.segments()[0] >> 13 == 1 {
                prop_assert_eq!(parsed, Ok(format!("https://[{address}]/")), "{}", host);
            }
        }
    }

    /// Any accepted URL has an allowed host and parses to itself.
    #[test]
    fn any_text_is_rejected_or_stable(text in r"(https://)?[a-z0-9x.:\[\]@/?#%\\ ～１。-]{0,40}") {
        if let Ok(url) = parse(&text) {
            prop_assert_eq!(parse(url.as_str()), Ok(url.clone()));
            if let Ok(address) = url.host().trim_matches(['[', ']']).parse::<IpAddr>() {
                prop_assert!(!is_special(address));
            }
        }
    }
}
