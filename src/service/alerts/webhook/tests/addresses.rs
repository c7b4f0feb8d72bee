use std::net::{Ipv4Addr, Ipv6Addr};

use crate::alerts::webhook::{Networks, WebhookUrl, WebhookUrlError};

pub(super) fn parse(text: &str) -> Result<WebhookUrl, WebhookUrlError> {
    WebhookUrl::parse(text, &Networks::default())
}

#[test]
fn hosts_that_are_not_public_are_rejected_in_every_spelling() {
    for (host, address) in [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("127.255.255.254", "127.255.255.254"),
        ("2130706433", "127.0.0.1"),
        ("017700000001", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0X7F000001", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("127.0.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0x7F.0x0.0x0.0x1", "127.0.0.1"),
        ("127.0x0.0.01", "127.0.0.1"),
        ("127.0x.0x.1", "127.0.0.1"),
        ("%31%32%37.0.0.1", "127.0.0.1"),
        ("127%2e0%2e0%2e1", "127.0.0.1"),
        ("１２７.0.0.1", "127.0.0.1"),
        ("127。0。0。1", "127.0.0.1"),
        ("①②⑦.0.0.1", "127.0.0.1"),
        ("12\u{ad}7.0.0.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("0x0", "0.0.0.0"),
        ("0.0.0.0", "0.0.0.0"),
        ("0.1.2.3", "0.1.2.3"),
        ("10.0.0.1", "10.0.0.1"),
        ("10.1", "10.0.0.1"),
        ("172.16.0.1", "172.16.0.1"),
        ("172.31.255.255", "172.31.255.255"),
        ("192.168.1.1", "192.168.1.1"),
        ("3232235777", "192.168.1.1"),
        ("100.64.0.1", "100.64.0.1"),
        ("100.100.100.200", "100.100.100.200"),
        ("169.254.169.254", "169.254.169.254"),
        ("2852039166", "169.254.169.254"),
        ("0xa9fea9fe", "169.254.169.254"),
        ("0251.0376.0251.0376", "169.254.169.254"),
        ("168.63.129.16", "168.63.129.16"),
        ("192.0.0.192", "192.0.0.192"),
        ("192.0.2.1", "192.0.2.1"),
        ("198.51.100.1", "198.51.100.1"),
        ("203.0.113.1", "203.0.113.1"),
        ("192.88.99.1", "192.88.99.1"),
        ("198.18.0.1", "198.18.0.1"),
        ("198.19.255.255", "198.19.255.255"),
        ("224.0.0.1", "224.0.0.1"),
        ("239.255.255.255", "239.255.255.255"),
        ("240.0.0.1", "240.0.0.1"),
        ("255.255.255.255", "255.255.255.255"),
        ("4294967295", "255.255.255.255"),
        ("[::]", "::"),
        ("[::1]", "::1"),
        ("[0:0:0:0:0:0:0:1]", "::1"),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
        ("[::ffff:7f00:1]", "::ffff:127.0.0.1"),
        ("[::ffff:8.8.8.8]", "::ffff:8.8.8.8"),
        ("[::127.0.0.1]", "::127.0.0.1"),
        ("[64:ff9b::7f00:1]", "64:ff9b::7f00:1"),
        ("[64:ff9b::8.8.8.8]", "64:ff9b::808:808"),
        ("[64:ff9b:1::a00:1]", "64:ff9b:1::a00:1"),
        ("[2002:7f00:1::]", "2002:7f00:1::"),
        ("[2002:808:808::1]", "2002:808:808::1"),
        ("[2001::1]", "2001::1"),
        ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "2001:0:4136:e378:8000:63bf:3fff:fdd2"),
        ("[2001:2::1]", "2001:2::1"),
        ("[2001:20::1]", "2001:20::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("[3fff::1]", "3fff::1"),
        ("[fc00::1]", "fc00::1"),
        ("[fd00:ec2::254]", "fd00:ec2::254"),
        ("[fe80::1]", "fe80::1"),
        ("[fec0::1]", "fec0::1"),
        ("[ff02::1]", "ff02::1"),
        ("[100::1]", "100::1"),
        ("[4000::1]", "4000::1"),
        ("[5f00::1]", "5f00::1"),
    ] {
        let expected = WebhookUrlError::Address(address.parse().unwrap());
        for url in [format!("https://{host}"), format!("HTTPS://{host}:8443/path?query")] {
            assert_eq!(parse(&url), Err(expected), "{url}");
        }
    }
    for host in [
        "localhost",
        "LOCALHOST",
        "ｌｏｃａｌｈｏｓｔ",
        "loc%61lhost",
        "a.localhost",
        "localhost.localdomain",
        "printer.local",
        "metadata.google.internal",
        "METADATA.google.Internal",
        "metadata",
        "intranet",
        "wiki.corp",
        "nas.lan",
        "router.home",
        "router.home.arpa",
        "HOME.ARPA",
        "x.private",
        "wiki.intranet",
    ] {
        assert_eq!(parse(&format!("https://{host}/")), Err(WebhookUrlError::LocalName), "{host}");
    }
}

#[test]
fn other_addresses_are_rejected_with_an_example() {
    use WebhookUrlError::{Fragment, Host, Malformed, Port, Scheme, TooLong, UserInfo};
    let label = "a".repeat(64);
    let name = format!("{}example.com", "abcdefg.".repeat(31));
    let path = "a".repeat(2_000);
    let spaces = format!("https://example.com/{}", "a b".repeat(600));
    for (url, error) in [
        ("", Malformed),
        ("example.com", Malformed),
        ("//example.com", Malformed),
        ("https:example.com", Malformed),
        ("https:/example.com", Malformed),
        ("https:///example.com", Malformed),
        (r"https:\\example.com", Malformed),
        (r"https://example.com\@127.0.0.1", Malformed),
        (r"https://127.0.0.1\.example.com", Malformed),
        ("https://exam\tple.com", Malformed),
        ("https://example.com/a\nb", Malformed),
        ("http://example.com", Scheme),
        ("ftp://example.com", Scheme),
        ("file:///etc/passwd", Scheme),
        ("gopher://example.com", Scheme),
        ("javascript://example.com", Scheme),
        (" https ://example.com", Scheme),
        ("https://ada@example.com", UserInfo),
        ("https://ada:secret@example.com", UserInfo),
        ("https://@example.com", UserInfo),
        ("https://example.com:80@127.0.0.1", UserInfo),
        ("https://example.com@127.0.0.1:443/", UserInfo),
        ("https://example.com#@127.0.0.1", Fragment),
        ("https://example.com/#", Fragment),
        ("https://example.com:0", Port),
        ("https://example.com:22/", Port),
        ("https://example.com:25", Port),
        ("https://example.com:80", Port),
        ("https://example.com:1023", Port),
        ("https://example.com:65536", Port),
        ("https://example.com:+443", Port),
        ("https://", Host),
        ("https://:443", Host),
        ("https://?", Host),
        ("https://example.com.", Host),
        ("https://localhost.", Host),
        ("https://example..com", Host),
        ("https://.example.com", Host),
        ("https://exa mple.com", Host),
        ("https://exa%00mple.com", Host),
        ("https://example.com%2f127.0.0.1", Host),
        ("https://exam!ple.com", Host),
        ("https://example.com;127.0.0.1", Host),
        ("https://example.com,127.0.0.1", Host),
        ("https://256.0.0.1", Host),
        ("https://1.2.3.4.5", Host),
        ("https://127.0.0.0xg", Host),
        ("https://example.1", Host),
        ("https://4294967296", Host),
        ("https://08.8.8.8", Host),
        ("https://[::1", Host),
        ("https://[fe80::1%25eth0]", Host),
        ("https://[127.0.0.1]", Host),
        ("https://::1", Host),
        ("https://xn--a.com", Host),
        (&format!("https://{label}.com"), Host),
        (&format!("https://{name}"), Host),
        (&format!("https://example.com/{path}"), TooLong),
        (&spaces, TooLong),
    ] {
        assert_eq!(parse(url), Err(error), "{url:?}");
        assert!(error.to_string().contains("https://hooks.example.com"), "{error}");
    }
}

#[test]
fn public_hosts_are_accepted_and_written_in_one_way() {
    for (text, expected) in [
        ("https://hooks.example.com", "https://hooks.example.com/"),
        ("  https://hooks.example.com/alerts\n", "https://hooks.example.com/alerts"),
        ("HTTPS://Hooks.EXAMPLE.com:443/Alerts", "https://hooks.example.com/Alerts"),
        ("https://hooks.example.com:8443/a?b=c&d=%20", "https://hooks.example.com:8443/a?b=c&d=%20"),
        ("https://hooks.example.com:1024", "https://hooks.example.com:1024/"),
        ("https://hooks.example.com:65535?a=@b", "https://hooks.example.com:65535/?a=@b"),
        ("https://example.com/a b/ü|{}\"/../c", "https://example.com/a%20b/c"),
        ("https://example.com/@127.0.0.1/", "https://example.com/@127.0.0.1/"),
        ("https://example.com/?q='<ü>{|}^`", "https://example.com/?q=%27%3C%C3%BC%3E{|}^`"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://ＥＸＡＭＰＬＥ．com/", "https://example.com/"),
        ("https://my_app.example.com/", "https://my_app.example.com/"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
        ("https://my.notlocal/x", "https://my.notlocal/x"),
        ("https://10.0.0.1.nip.io/", "https://10.0.0.1.nip.io/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://134744072/", "https://8.8.8.8/"),
        ("https://172.32.0.1:4000/", "https://172.32.0.1:4000/"),
        ("https://[2606:4700:4700::1111]:8443/x", "https://[2606:4700:4700::1111]:8443/x"),
        ("https://[2A00:1450:4001:0:0:0:0:8A]/", "https://[2a00:1450:4001::8a]/"),
    ] {
        let url = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(url.as_str(), expected, "{text}");
        assert_eq!(parse(url.as_str()), Ok(url), "{text}");
    }
    let url = parse("https://hooks.example.com:8443/services/T0/SECRET").unwrap();
    assert_eq!(url.host(), "hooks.example.com");
    assert_eq!(format!("{url:?}"), "WebhookUrl(hooks.example.com)");
}

#[test]
fn the_operator_adds_addresses_but_no_names_and_no_schemes() {
    let range = |text: &str| text.parse().unwrap();
    let networks = Networks { further: vec![range("10.1.0.0/16"), range("fd00:1::/32")] };
    for url in ["https://10.1.2.3/", "https://167838211:8443/", "https://[fd00:1::5]/", "https://8.8.8.8/"] {
        assert!(WebhookUrl::parse(url, &networks).is_ok(), "{url}");
    }
    for url in [
        "http://10.1.2.3/",
        "https://10.2.0.1/",
        "https://127.0.0.1/",
        "https://[fd00:2::5]/",
        "https://[64:ff9b::a01:203]/",
        "https://metadata.google.internal/",
        "https://10.1.2.3:80/",
    ] {
        assert!(WebhookUrl::parse(url, &networks).is_err(), "{url}");
    }
}

/// The first and last address of each range that is not public are rejected; their neighbors are accepted unless they
/// are in another such range.
#[test]
fn ranges_end_where_they_should() {
    let v4 = [
        ("0.0.0.0", "0.255.255.255"),
        ("10.0.0.0", "10.255.255.255"),
        ("100.64.0.0", "100.127.255.255"),
        ("127.0.0.0", "127.255.255.255"),
        ("168.63.129.16", "168.63.129.16"),
        ("169.254.0.0", "169.254.255.255"),
        ("172.16.0.0", "172.31.255.255"),
        ("192.0.0.0", "192.0.0.255"),
        ("192.0.2.0", "192.0.2.255"),
        ("192.88.99.0", "192.88.99.255"),
        ("192.168.0.0", "192.168.255.255"),
        ("198.18.0.0", "198.19.255.255"),
        ("198.51.100.0", "198.51.100.255"),
        ("203.0.113.0", "203.0.113.255"),
        ("224.0.0.0", "255.255.255.255"),
    ];
    let v6 = [
        ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ];
    let networks = Networks::default();
    for (first, last) in v4 {
        let [first, last] = [first, last].map(|text| text.parse::<Ipv4Addr>().unwrap());
        assert!(!networks.allow(first.into()) && !networks.allow(last.into()), "{first} {last}");
        for neighbour in [first.to_bits().checked_sub(1), last.to_bits().checked_add(1)].into_iter().flatten() {
            assert!(networks.allow(Ipv4Addr::from_bits(neighbour).into()), "{first} {last}");
        }
    }
    for (first, last) in v6 {
        let [first, last] = [first, last].map(|text| text.parse::<Ipv6Addr>().unwrap());
        assert!(!networks.allow(first.into()) && !networks.allow(last.into()), "{first} {last}");
        for neighbour in [first.to_bits().checked_sub(1), last.to_bits().checked_add(1)].into_iter().flatten() {
            assert!(networks.allow(Ipv6Addr::from_bits(neighbour).into()), "{first} {last}");
        }
    }
}
