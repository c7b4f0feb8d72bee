use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use ureq::tls::{Certificate, TlsConfig};

use crate::alerts::webhook::{
    DeliveryOutcome, Networks, SendError, WebhookClient, WebhookMessage, WebhookSecret, WebhookUrl,
};
use platform::tls;

/// Timeout for receivers that respond.
const PATIENCE: Duration = Duration::from_secs(60);
/// Timeout for receivers that never respond.
const NO_PATIENCE: Duration = Duration::from_millis(300);

type Stream = StreamOwned<ServerConnection, TcpStream>;

/// A TLS server on loopback that calls `respond` after each request.
struct TestReceiver {
    port: u16,
    /// Heads and bodies of requests.
    requests: mpsc::Receiver<(String, Vec<u8>)>,
}

impl TestReceiver {
    fn start(respond: impl Fn(&mut Stream) -> io::Result<()> + Send + 'static) -> Self {
        Self::with_certificate("receiver.pem", "receiver-key.pem", respond)
    }

    fn responding(response: &'static str) -> Self {
        Self::start(move |stream| stream.write_all(response.as_bytes()))
    }

    fn with_certificate(
        certificate: &str,
        key: &str,
        respond: impl Fn(&mut Stream) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let tls = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![der(certificate)], PrivateKeyDer::from_pem_file(fixture(key)).unwrap())
            .unwrap();
        let tls = Arc::new(tls);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::channel();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let connection = connection.unwrap();
                let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&tls)).unwrap(), connection);
                // A client that does not trust the certificate ends the connection.
                let Ok(request) = read_request(&mut stream) else { continue };
                sender.send(request).unwrap();
                let _ = respond(&mut stream);
            }
        });
        Self { port, requests }
    }

    fn url(&self) -> WebhookUrl {
        let text = format!("https://receiver.test:{}/hook?key=1", self.port);
        WebhookUrl::parse(&text, &Networks::default()).unwrap()
    }
}

fn read_request(stream: &mut Stream) -> io::Result<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok((head, body))
}

fn fixture(name: &str) -> String {
    format!("{}/../../tests/fixtures/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn der(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(fixture(name)).unwrap()
}

fn trusting(names: &[&str]) -> TlsConfig {
    tls::roots(names.iter().map(|name| Certificate::from_der(&der(name)).to_owned()).collect())
}

fn loopback() -> Networks {
    Networks { further: vec!["127.0.0.0/8".parse().unwrap()] }
}

fn secrets() -> [WebhookSecret; 2] {
    [1, 2].map(|byte| WebhookSecret::from_bytes([byte; 32]))
}

const BODY: &[u8] = r#"{"name":"Zoë"}"#.as_bytes();

fn send(client: &WebhookClient, url: &WebhookUrl) -> Result<DeliveryOutcome, SendError> {
    client.send(url, &WebhookMessage { id: "msg_1", timestamp: 1_751_328_000, body: BODY, secrets: &secrets() })
}

/// A client that trusts `receiver.test`, may connect to loopback, and resolves names to `addresses`.
fn client_finding(addresses: &'static [&'static str]) -> WebhookClient {
    let look_up = move |host: &str, port: u16| {
        assert_eq!(host, "receiver.test");
        Ok(addresses.iter().map(|text| SocketAddr::new(text.parse().unwrap(), port)).collect())
    };
    WebhookClient::with(loopback(), trusting(&["receiver.pem"]), Arc::new(look_up), PATIENCE)
}

fn client() -> WebhookClient {
    client_finding(&["127.0.0.1"])
}

fn impatient_client() -> WebhookClient {
    let look_up = |_: &str, port| Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port))]);
    WebhookClient::with(loopback(), trusting(&["receiver.pem"]), Arc::new(look_up), NO_PATIENCE)
}

#[test]
fn a_message_is_delivered_with_a_signature_of_each_secret() {
    let receiver = TestReceiver::responding("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(send(&client(), &receiver.url()), Ok(DeliveryOutcome::Delivered));
    let (head, body) = receiver.requests.recv().unwrap();
    assert_eq!(body, BODY);
    assert!(head.starts_with("POST /hook?key=1 HTTP/1.1\r\n"), "{head}");
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap();
    assert_eq!(header("host"), format!("receiver.test:{}", receiver.port));
    assert_eq!(header("content-type"), "application/json");
    assert_eq!(header("user-agent"), concat!("VentureDex/", env!("CARGO_PKG_VERSION")));
    let (id, timestamp) = (header("webhook-id"), header("webhook-timestamp"));
    assert_eq!((id, timestamp), ("msg_1", "1751328000"));
    let expected = secrets().map(|secret| secret.sign(id, timestamp.parse().unwrap(), &body)).join(" ");
    assert_eq!(header("webhook-signature"), expected);
    assert_eq!(expected.matches("v1,").count(), 2);
}

#[test]
fn the_status_decides_and_redirects_are_not_followed() {
    for (response, expected) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", DeliveryOutcome::Delivered),
        ("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", DeliveryOutcome::Delivered),
        // The body breaks off.
        ("HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\nok", DeliveryOutcome::Delivered),
        ("HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", DeliveryOutcome::Gone),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", DeliveryOutcome::Refused(304)),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", DeliveryOutcome::Refused(404)),
        ("HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n", DeliveryOutcome::Refused(500)),
    ] {
        assert_eq!(send(&client(), &TestReceiver::responding(response).url()), Ok(expected), "{response}");
    }
    for status in [301, 302, 303, 307, 308] {
        let receiver = TestReceiver::start(move |stream| {
            let port = stream.sock.local_addr()?.port();
            write!(
                stream,
                "HTTP/1.1 {status} Moved\r\nlocation: https://receiver.test:{port}/\r\ncontent-length: 0\r\n\r\n"
            )
        });
        assert_eq!(send(&client(), &receiver.url()), Ok(DeliveryOutcome::Refused(status)));
        assert_eq!(receiver.requests.try_iter().count(), 1);
    }
    assert!(DeliveryOutcome::Refused(302).to_string().contains("302: redirects are not followed"));
    assert!(DeliveryOutcome::Refused(500).to_string().contains("500: it must respond with 200 to 299"));
}

#[test]
fn a_receiver_that_does_not_respond_in_time_is_given_up() {
    let receiver = TestReceiver::start(|stream| stream.read(&mut [0]).map(drop));
    assert_eq!(send(&impatient_client(), &receiver.url()), Err(SendError::Timeout));
    // A header that never ends.
    let receiver = TestReceiver::start(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        loop {
            stream.write_all(b"a: b\r\n")?;
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert_eq!(send(&impatient_client(), &receiver.url()), Err(SendError::Timeout));
    // No TLS handshake.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let text = format!("https://receiver.test:{}/", listener.local_addr().unwrap().port());
    let url = WebhookUrl::parse(&text, &Networks::default()).unwrap();
    assert_eq!(send(&impatient_client(), &url), Err(SendError::Timeout));
    // The name server does not answer.
    let (_sender, receiver) = mpsc::channel::<Vec<SocketAddr>>();
    let receiver = std::sync::Mutex::new(receiver);
    let look_up = move |_: &str, _| Ok(receiver.lock().unwrap().recv().unwrap_or_default());
    let client = WebhookClient::with(loopback(), trusting(&["receiver.pem"]), Arc::new(look_up), NO_PATIENCE);
    assert_eq!(send(&client, &url), Err(SendError::Timeout));
}

#[test]
fn a_large_body_is_not_read_whole() {
    const LENGTH: usize = 64 << 20;
    let (sender, written) = mpsc::channel();
    let receiver = TestReceiver::start(move |stream| {
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n")?;
        let part = [b'a'; 16 * 1024];
        let parts = (0..LENGTH / part.len()).take_while(|_| stream.write_all(&part).is_ok()).count();
        sender.send(parts * part.len()).unwrap();
        Ok(())
    });
    assert_eq!(send(&client(), &receiver.url()), Ok(DeliveryOutcome::Delivered));
    // Socket buffers take some megabytes.
    assert!(written.recv().unwrap() < LENGTH / 2);
}

#[test]
fn a_certificate_must_be_trusted_and_of_the_host() {
    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let look_up = || Arc::new(|_: &str, port| Ok(vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port))]));
    let both = trusting(&["receiver.pem", "certificate.pem"]);
    let other = |certificate: &str, key: &str| {
        TestReceiver::with_certificate(certificate, key, |stream| stream.write_all(OK.as_bytes()))
    };
    let localhost = other("certificate.pem", "key.pem");
    let trusts_both = WebhookClient::with(loopback(), both, look_up(), PATIENCE);
    assert_eq!(send(&trusts_both, &localhost.url()), Err(SendError::Tls), "the certificate of another name");
    let receiver = TestReceiver::responding(OK);
    let trusts_other = WebhookClient::with(loopback(), trusting(&["certificate.pem"]), look_up(), PATIENCE);
    assert_eq!(send(&trusts_other, &receiver.url()), Err(SendError::Tls), "not trusted");
    let trusts_system = WebhookClient::with(loopback(), tls::system_roots(), look_up(), PATIENCE);
    assert_eq!(send(&trusts_system, &receiver.url()), Err(SendError::Tls), "not trusted by the system");
    assert_eq!(send(&trusts_both, &receiver.url()), Ok(DeliveryOutcome::Delivered));
    assert_eq!(localhost.requests.try_iter().count(), 0);
    assert_eq!(receiver.requests.try_iter().count(), 1);
}

/// A server without TLS that writes `response` to any request and ends.
fn plain(response: &'static str) -> WebhookUrl {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read(&mut [0; 16 * 1024]).map(drop).unwrap();
        stream.write_all(response.as_bytes()).unwrap();
    });
    WebhookUrl::parse(&format!("https://receiver.test:{port}/"), &Networks::default()).unwrap()
}

#[test]
fn what_is_no_web_server_with_tls_fails() {
    assert_eq!(send(&client(), &plain("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")), Err(SendError::Tls));
    assert_eq!(send(&client(), &plain("")), Err(SendError::NoConnection));
    assert_eq!(send(&client(), &TestReceiver::start(|_| Ok(())).url()), Err(SendError::NoConnection));
    let babbling = TestReceiver::responding("220 mail.example.com ESMTP\r\n\r\n");
    assert_eq!(send(&client(), &babbling.url()), Err(SendError::InvalidResponse));
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let closed = WebhookUrl::parse(&format!("https://receiver.test:{port}/"), &Networks::default()).unwrap();
    assert_eq!(send(&client(), &closed), Err(SendError::NoConnection));
    let url = babbling.url();
    let message = WebhookMessage { id: "a\nb", timestamp: 0, body: BODY, secrets: &secrets() };
    assert_eq!(client().send(&url, &message), Err(SendError::InvalidId));
}

#[test]
fn one_address_that_is_not_allowed_refuses_all() {
    let receiver = TestReceiver::responding("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    for addresses in [
        ["127.0.0.1", "10.0.0.1"].as_slice(),
        &["10.0.0.1", "127.0.0.1"],
        &["127.0.0.1", "8.8.8.8", "169.254.169.254"],
        &["127.0.0.1", "::1"],
        &["127.0.0.1", "64:ff9b::a00:1"],
        &["192.168.0.1"],
        // More addresses than the client would try.
        &[
            "127.0.0.1",
            "8.8.8.1",
            "8.8.8.2",
            "8.8.8.3",
            "8.8.8.4",
            "8.8.8.5",
            "8.8.8.6",
            "8.8.8.7",
            "8.8.8.8",
            "8.8.8.9",
            "8.8.8.10",
            "8.8.8.11",
            "8.8.8.12",
            "8.8.8.13",
            "8.8.8.14",
            "8.8.8.15",
            "10.0.0.1",
        ],
    ] {
        assert_eq!(send(&client_finding(addresses), &receiver.url()), Err(SendError::NotPublic), "{addresses:?}");
    }
    assert_eq!(receiver.requests.try_iter().count(), 0);
    assert_eq!(send(&client_finding(&[]), &receiver.url()), Err(SendError::NoAddress));
    let fails = Arc::new(|_: &str, _| Err(io::Error::other("no such host")));
    let client = WebhookClient::with(loopback(), trusting(&["receiver.pem"]), fails, PATIENCE);
    assert_eq!(send(&client, &receiver.url()), Err(SendError::NoAddress));
}

/// The name resolves to an allowed address once, then to another one.
#[test]
fn the_connection_goes_to_the_address_that_was_checked() {
    let receiver = TestReceiver::responding("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let look_up = move |_: &str, port| {
        let address = match counted.fetch_add(1, Ordering::Relaxed) {
            0 => IpAddr::from([127, 0, 0, 1]),
            _ => IpAddr::from([10, 0, 0, 1]),
        };
        Ok(vec![SocketAddr::new(address, port)])
    };
    let client = WebhookClient::with(loopback(), trusting(&["receiver.pem"]), Arc::new(look_up), PATIENCE);
    assert_eq!(send(&client, &receiver.url()), Ok(DeliveryOutcome::Delivered));
    assert_eq!(count.load(Ordering::Relaxed), 1);
    // The next message is looked up and checked again.
    assert_eq!(send(&client, &receiver.url()), Err(SendError::NotPublic));
    assert_eq!(count.load(Ordering::Relaxed), 2);
    assert_eq!(receiver.requests.try_iter().count(), 1);
}

/// An address in the URL needs no look-up, but a check: the operator may have removed its range since it was stored.
#[test]
fn an_address_in_the_url_is_checked_too() {
    let receiver = TestReceiver::responding("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let url = WebhookUrl::parse(&format!("https://127.0.0.1:{}/", receiver.port), &loopback()).unwrap();
    let with = |networks| {
        let look_up = |_: &str, _| panic!("an address is looked up");
        WebhookClient::with(networks, trusting(&["receiver.pem"]), Arc::new(look_up), PATIENCE)
    };
    assert_eq!(send(&with(loopback()), &url), Ok(DeliveryOutcome::Delivered));
    assert_eq!(send(&with(Networks::default()), &url), Err(SendError::NotPublic));
    let loopback_v6 = Networks { further: vec!["::1".parse().unwrap()] };
    let url = WebhookUrl::parse("https://[::1]:8443/", &loopback_v6).unwrap();
    assert_eq!(send(&with(loopback()), &url), Err(SendError::NotPublic));
    assert_eq!(receiver.requests.try_iter().count(), 1);
}
