//! E-mails: verifying an address, setting a new password, an unreliable mail server, servers that are stopped and killed. The server
//! under test sends to a few lines of SMTP in this file.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use auth::audit::AuditLog;
use auth::mail::{MailSender, MailTransport};
use auth::quota::Tier;
use auth::totp::TotpSecret;
use service::alerts;

use crate::account::totp::app_code;
use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Reply, Server, code, rounds};
use crate::support::program::{Process, run};

const NEW_PASSWORD: &str = "nine loud herons";

/// Far longer than any e-mail takes: only one that is never sent exceeds it.
const PATIENCE: Duration = Duration::from_secs(120);

/// A mail server: replies with `refusals` to the first messages, one for each.
pub struct Sink {
    pub address: SocketAddr,
    pub mails: Receiver<Received>,
}

pub struct Received {
    pub to: String,
    pub text: String,
}

impl Sink {
    pub fn start(refusals: &[&'static str]) -> Self {
        Self::start_with(refusals, None, None)
    }

    /// Says nothing before it gets a word.
    fn start_when(gate: Receiver<()>) -> Self {
        Self::start_with(&[], None, Some(gate))
    }

    /// `tls`: encrypts from the start.
    fn start_with(refusals: &[&'static str], tls: Option<Arc<ServerConfig>>, gate: Option<Receiver<()>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (received, mails) = channel();
        let mut refusals: Vec<&'static str> = refusals.iter().rev().copied().collect();
        std::thread::spawn(move || {
            if let Some(gate) = gate {
                gate.recv().unwrap();
            }
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                // A client that leaves in the middle is the business of the tests.
                let _ = match &tls {
                    None => serve(stream, &mut refusals, &received),
                    Some(tls) => {
                        let connection = ServerConnection::new(Arc::clone(tls)).unwrap();
                        serve(StreamOwned::new(connection, stream), &mut refusals, &received)
                    }
                };
            }
        });
        Self { address, mails }
    }

    fn next(&self) -> Received {
        self.mails.recv_timeout(PATIENCE).expect("an e-mail")
    }

    /// The path in the next e-mail, which goes to `to`.
    pub fn link(&self, to: &str) -> String {
        let mail = self.next();
        assert_eq!(mail.to, format!("<{to}>"));
        let url = mail.text.lines().find(|line| line.starts_with("http://")).unwrap_or_else(|| panic!("{}", mail.text));
        format!("/{}", url.splitn(4, '/').nth(3).unwrap())
    }
}

fn serve(
    stream: impl Read + Write,
    refusals: &mut Vec<&'static str>,
    received: &Sender<Received>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut to = String::new();
    stream.get_mut().write_all(b"220 sink\r\n")?;
    while let Some(line) = next_line(&mut stream)? {
        let word = line.split(' ').next().unwrap_or("").to_ascii_uppercase();
        let reply = match word.as_str() {
            "EHLO" => "250-sink\r\n250 8BITMIME".to_owned(),
            "RCPT" => {
                to = line.split_once("TO:").map_or("", |(_, to)| to).split(' ').next().unwrap_or("").to_owned();
                refusals.pop().map_or("250 ok".to_owned(), |refusal| refusal.replace("{to}", &to))
            }
            "DATA" => {
                stream.get_mut().write_all(b"354 go on\r\n")?;
                let mut text = String::new();
                while let Some(line) = next_line(&mut stream)?.filter(|line| line != ".") {
                    text.extend([line.strip_prefix('.').unwrap_or(&line), "\n"]);
                }
                received.send(Received { to: to.clone(), text }).ok();
                "250 ok".to_owned()
            }
            "QUIT" => return stream.get_mut().write_all(b"221 bye\r\n"),
            _ => "250 ok".to_owned(),
        };
        stream.get_mut().write_all(format!("{reply}\r\n").as_bytes())?;
    }
    Ok(())
}

fn next_line(stream: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let mut line = String::new();
    let length = stream.read_line(&mut line)?;
    Ok((length > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Who sends the e-mails of tests.
pub fn sender(address: &str) -> MailSender {
    MailSender { name: "VentureDex".to_owned(), address: address.to_owned() }
}

/// What sends the links of a server to a sink.
fn sender_to(server: &Server, sink: &Sink, clock: fn() -> i64) -> alerts::AlertSender {
    let url = format!("smtp://{}", sink.address).parse().unwrap();
    let transport = MailTransport::new(&url, None, sender("noreply@venturedex.example"));
    let base = format!("http://{}", server.address);
    alerts::AlertSender::new(Arc::clone(&server.state.alerts), Some(transport), base, clock)
}

/// Sends the links of a server to a sink until the server ends.
pub fn send_links(server: &Server, sink: &Sink, clock: fn() -> i64) {
    let (sender, state) = (sender_to(server, sink, clock), Arc::downgrade(&server.state));
    let thread = std::thread::spawn(move || {
        while let Some(state) = state.upgrade() {
            // The store may be gone already.
            let _ = sender.send_links(state.auth.store(), &|| false);
            drop(state);
            std::thread::park_timeout(Duration::from_millis(20));
        }
    });
    server.state.auth.send_links_by(thread.thread().clone());
}

/// A server that sends its e-mails to a sink.
fn server(refusals: &[&'static str]) -> (Server, Sink) {
    let (server, sink) = (Server::bundled(), Sink::start(refusals));
    send_links(&server, &sink, || NOON);
    (server, sink)
}

fn verified_at(server: &Server) -> Option<i64> {
    server.state.auth.store().account(&"ada@example.com".parse().unwrap()).unwrap().verified_at
}

pub fn token(link: &str) -> &str {
    link.split_once("token=").unwrap().1
}

#[test]
fn a_new_account_is_verified_by_the_link_that_it_gets() {
    let (server, sink) = server(&[]);
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let mail = sink.next();
    assert_eq!(mail.to, "<ada@example.com>");
    for part in
        ["From: VentureDex <noreply@venturedex.example>", "To: <ada@example.com>", "Auto-Submitted: auto-generated"]
    {
        assert!(mail.text.lines().any(|line| line == part), "{part}: {}", mail.text);
    }
    let url = mail.text.lines().find(|line| line.contains("/verify?token=")).unwrap();
    let base = format!("http://{}", server.address);
    let link = url.strip_prefix(base.as_str()).unwrap();
    assert!(browser.get("/account").text.contains("Your e-mail address is not verified"));

    let page = browser.get(link);
    assert!(page.text.contains("Verify address") && verified_at(&server).is_none(), "opening the link changes nothing");
    assert_eq!(browser.post("/verify", &[("token", "invented")]).status, 422);
    // In another browser, too: the e-mail may be read on a telephone.
    let reply = Browser::at(&server).post("/verify", &[("token", token(link))]);
    assert_eq!((reply.status, reply.header("location")), (303, "/verify?done=yes"));
    assert!(browser.get("/verify?done=yes").text.contains("Your address is verified"));
    assert_eq!(verified_at(&server), Some(NOON));
    assert!(!browser.get("/account").text.contains("not verified"));
    let again = browser.post("/verify", &[("token", token(link))]);
    assert!(again.status == 422 && again.text.contains("This link has expired or was used"), "{}", again.text);
    // No e-mail to a verified account.
    assert_eq!(browser.post("/account/verification", &[]).header("location"), "/account");
    let tier = ["account", "set-tier", "--email", "ada@example.com", "--tier", "pro"];
    run(server.data(), &tier, "").ok();
}

#[test]
fn the_link_is_sent_again_a_few_times_an_hour() {
    let (server, sink) = server(&[]);
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let first = sink.link("ada@example.com");
    for _ in 0..2 {
        assert_eq!(browser.post("/account/verification", &[]).status, 303);
    }
    let refused = browser.post("/account/verification", &[]);
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
    let (second, third) = (sink.link("ada@example.com"), sink.link("ada@example.com"));
    for (link, status) in [(&first, 422), (&second, 422), (&third, 303)] {
        assert_eq!(browser.post("/verify", &[("token", token(link))]).status, status);
    }
    assert_eq!(Browser::at(&server).post("/account/verification", &[]).header("location"), "/signin");
}

#[test]
fn a_forgotten_password_is_replaced_by_the_link_in_an_e_mail() {
    let (server, sink) = server(&[]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let mut owner = Browser::signed_up(&server, "ada@example.com");
    sink.next();
    let (key, _) = owner.create_key("laptop");
    server.state.auth.log_to(AuditLog::open(&log, || NOON).unwrap());
    let mut browser = Browser::at(&server);
    assert!(browser.get("/signin").text.contains("<a href=\"/reset\">Forgot your password?</a>"));
    assert!(browser.get("/reset").text.contains("Send link"));
    assert_eq!(browser.post("/reset", &[("email", "nonsense")]).status, 422);
    let unknown = browser.post("/reset", &[("email", "nobody@example.com")]);
    let known = browser.post("/reset", &[("email", "ADA@example.com")]);
    assert_eq!((unknown.status, unknown.header("location")), (303, "/reset?done=yes"));
    assert_eq!(unknown.header("location"), known.header("location"), "both get the same response");
    let link = sink.link("ada@example.com");
    assert!(link.starts_with("/reset/password?token="), "{link}");

    let page = browser.get(&link);
    assert!(page.status == 200 && page.text.contains("For the account ada@example.com"), "{}", page.text);
    let invented = browser.get("/reset/password?token=invented");
    assert!(invented.status == 422 && invented.text.contains("Request another link"), "{}", invented.text);
    let set =
        |browser: &mut Browser, new: &str| browser.post("/reset/password", &[("token", token(&link)), ("new", new)]);
    let weak = set(&mut browser, "short");
    assert!(weak.status == 422 && weak.text.contains("5 of at least 10 characters"), "{}", weak.text);
    assert_eq!(owner.get("/account").status, 200);
    let reply = set(&mut browser, NEW_PASSWORD);
    assert_eq!((reply.status, reply.header("location"), reply.header("set-cookie")), (303, "/signin", ""));
    assert_eq!(set(&mut browser, "ten soft herons").status, 422, "the link is used up");
    assert_eq!(owner.get("/account").status, 303, "all sessions are ended");
    assert_eq!(code(&owner.client(&key).get("/api/v3/usage")), (401, "revoked_api_key".to_owned()));
    assert_eq!(verified_at(&server), Some(NOON));
    let sign_in = |password: &str| {
        Browser::at(&server).post("/signin", &[("email", "ada@example.com"), ("password", password)]).status
    };
    assert_eq!((sign_in(PASSWORD), sign_in(NEW_PASSWORD)), (422, 303));

    // Requests of links are logged by tasks that may outlive their responses.
    let began = Instant::now();
    let text = loop {
        let text = fs::read_to_string(&log).unwrap();
        let count = |event: &str| text.lines().filter(|line| line.contains(&format!("\"event\":\"{event}\""))).count();
        if (count("password_reset_request"), count("password_reset")) == (2, 1) {
            break text;
        }
        assert!(began.elapsed() < PATIENCE, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(!text.contains("example.com") && !text.contains(token(&link)), "{text}");
    for file in fs::read_dir(server.data()).unwrap() {
        let content = fs::read(file.unwrap().path()).unwrap();
        assert!(!content.windows(43).any(|window| window == token(&link).as_bytes()), "a token is stored in clear");
    }
}

#[test]
fn after_a_reset_the_code_is_still_asked_and_keys_can_be_kept() {
    let (server, sink) = server(&[]);
    let mut owner = Browser::signed_up(&server, "ada@example.com");
    sink.next();
    let (key, _) = owner.create_key("laptop");
    let secret: TotpSecret = "A".repeat(32).parse().unwrap();
    let code = app_code(&secret, NOON);
    let on = owner.post("/account/totp/enable", &[("secret", &"A".repeat(32)), ("code", &code)]);
    assert_eq!(on.status, 201, "{}", on.text);
    let mut browser = Browser::at(&server);
    browser.post("/reset", &[("email", "ada@example.com")]);
    let link = sink.link("ada@example.com");
    let form = [("token", token(&link)), ("new", NEW_PASSWORD), ("keep_keys", "yes")];
    assert_eq!(browser.post("/reset/password", &form).status, 303);
    assert_eq!(owner.client(&key).get("/api/v3/usage").status, 200);
    let reply = browser.post("/signin", &[("email", "ada@example.com"), ("password", NEW_PASSWORD)]);
    assert!(reply.status == 200 && reply.text.contains("<h1>Enter your code</h1>"), "{}", reply.text);
}

#[test]
fn an_owner_who_is_locked_out_signs_in_by_the_link_in_an_e_mail() {
    let (server, sink) = server(&[]);
    let mut owner = Browser::signed_up(&server, "ada@example.com");
    sink.next();
    let mut browser = Browser::at(&server);
    for _ in 0..10 {
        browser.post("/signin", &[("email", "ada@example.com"), ("password", "not that one")]);
    }
    let locked = browser.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    assert_eq!(locked.status, 429, "{}", locked.text);
    assert!(browser.get("/signin").text.contains("<a href=\"/signin/link\">Get a link by e-mail</a>"));
    assert!(browser.get("/signin/link").text.contains("Send link"));
    assert_eq!(browser.post("/signin/link", &[("email", "nonsense")]).status, 422);
    let unknown = browser.post("/signin/link", &[("email", "nobody@example.com")]);
    let known = browser.post("/signin/link", &[("email", "ADA@example.com")]);
    assert_eq!((unknown.status, unknown.header("location")), (303, "/signin/link?done=yes"));
    assert_eq!(unknown.header("location"), known.header("location"), "both get the same response");
    let link = sink.link("ada@example.com");
    assert!(link.starts_with("/signin/open?token="), "{link}");

    let page = browser.get(&link);
    assert!(page.status == 200 && page.text.contains("This signs you in"), "{}", page.text);
    assert!(browser.cookies.is_empty(), "opening the link changes nothing");
    let invented = browser.post("/signin/open", &[("token", "invented")]);
    assert!(invented.status == 422 && invented.text.contains("Request another link"), "{}", invented.text);
    let reply = browser.post("/signin/open", &[("token", token(&link))]);
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
    assert_eq!(browser.get("/account").status, 200);
    let again = Browser::at(&server).post("/signin/open", &[("token", token(&link))]);
    assert_eq!(again.status, 422, "the link is used up");
    // The browser is known from now on, so that the password is accepted in it.
    browser.post("/signout", &[]);
    assert_eq!(browser.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]).status, 303);

    // Two-step sign-in still asks for a code.
    let secret: TotpSecret = "A".repeat(32).parse().unwrap();
    let on = owner.post("/account/totp/enable", &[("secret", &"A".repeat(32)), ("code", &app_code(&secret, NOON))]);
    assert_eq!(on.status, 201, "{}", on.text);
    let mut other = Browser::at(&server);
    other.post("/signin/link", &[("email", "ada@example.com")]);
    let link = sink.link("ada@example.com");
    let reply = other.post("/signin/open", &[("token", token(&link))]);
    assert!(reply.status == 200 && reply.text.contains("<h1>Enter your code</h1>"), "{}", reply.text);
    assert!(other.cookies.is_empty());
}

#[test]
fn a_link_that_signs_in_is_valid_for_fifteen_minutes() {
    let (server, sink) = server(&[]);
    Browser::signed_up(&server, "ada@example.com");
    sink.next();
    let mut browser = Browser::at(&server);
    browser.post("/signin/link", &[("email", "ada@example.com")]);
    let link = sink.link("ada@example.com");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let late = runtime.block_on(server.state.auth.sign_in_by_link(token(&link), NOON + 900));
    assert!(late.is_err(), "{late:?}");
    assert!(runtime.block_on(server.state.auth.sign_in_by_link(token(&link), NOON + 899)).is_ok());
}

#[test]
fn links_are_requested_a_few_times_an_hour_whether_or_not_there_is_an_account() {
    let (server, sink) = server(&[]);
    Browser::signed_up(&server, "ada@example.com");
    sink.next();
    let ask = |email: &str| Browser::at(&server).post("/reset", &[("email", email)]).status;
    // The e-mail after sign-up counts.
    assert_eq!([ask("ada@example.com"), ask("ada@example.com"), ask("ada@example.com")], [303, 303, 429]);
    assert_eq!([(); 4].map(|()| ask("nobody@example.com")), [303, 303, 303, 429]);
    let statuses: Vec<u16> = (0..14).map(|number| ask(&format!("user{number}@example.com"))).collect();
    assert_eq!((statuses[0], statuses[13]), (303, 429), "of one client");
}

#[test]
fn an_invitation_is_sent_by_the_server_if_the_operator_wants_it() {
    let (server, sink) = server(&[]);
    // The clock of the command is that of the machine, which is ahead of the server's here.
    let words = ["account", "invite", "--email", "eve@example.com", "--send"];
    let ended = run(server.data(), &words, "");
    assert!(ended.err.contains("sends the link") && ended.out.is_empty(), "{ended:?}");
    let (store, email) = (server.state.auth.store(), "ada@example.com".parse().unwrap());
    auth::invited_account(store, &email, Tier::Pro, NOON).unwrap();
    auth::request_invitation(store, &email, NOON).unwrap();
    let link = sink.link("ada@example.com");
    assert!(link.starts_with("/invitation?token="), "{link}");
    let mut browser = Browser::at(&server);
    assert!(browser.get(&link).text.contains("ada@example.com"));
    let form = [("token", token(&link)), ("new", PASSWORD)];
    assert_eq!(browser.post("/invitation", &form).header("location"), "/signin");
    let form = [("email", "ada@example.com"), ("password", PASSWORD)];
    assert_eq!(browser.post("/signin", &form).header("location"), "/account");
    assert_eq!(verified_at(&server), Some(NOON));
}

#[test]
fn a_message_is_sent_again_after_a_temporary_failure() {
    /// Each look at the clock is a minute after the one before. What was claimed is to be sent within five.
    fn hurried() -> i64 {
        static SECONDS: AtomicI64 = AtomicI64::new(NOON);
        SECONDS.fetch_add(60, Ordering::Relaxed)
    }
    let (server, sink) = (Server::bundled(), Sink::start(&["451 try again later", "421 closing"]));
    send_links(&server, &sink, hurried);
    Browser::signed_up(&server, "ada@example.com");
    assert!(sink.link("ada@example.com").starts_with("/verify?token="));
}

/// The rows of the outbox of a data folder.
fn waiting(data: &Path) -> u32 {
    let database = rusqlite::Connection::open(data.join("venturedex.sqlite")).unwrap();
    database.query_row("SELECT count(*) FROM outbox", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_link_waits_until_it_is_sent_and_not_for_a_deleted_account_or_an_unknown_address() {
    let (server, sink) = (Server::bundled(), Sink::start(&[]));
    // Nobody sends yet.
    server.state.auth.send_links_by(std::thread::current());
    let mut ada = Browser::signed_up(&server, "ada@example.com");
    Browser::signed_up(&server, "bob@example.com");
    for email in ["ada@example.com", "nobody@example.com", "bob@example.com"] {
        assert_eq!(Browser::at(&server).post("/reset", &[("email", email)]).status, 303);
    }
    assert_eq!(waiting(server.data()), 5);
    assert!(ada.post("/account/delete", &[("password", PASSWORD)]).status < 400);
    assert_eq!(waiting(server.data()), 3);
    let sender = sender_to(&server, &sink, || NOON);
    assert_eq!(sender.send_links(server.state.auth.store(), &|| true).unwrap(), 0);
    assert_eq!(sender.send_links(server.state.auth.store(), &|| false).unwrap(), 2);
    assert!(sink.link("bob@example.com").starts_with("/verify?"));
    assert!(sink.link("bob@example.com").starts_with("/reset/password?"));
    assert_eq!(waiting(server.data()), 0);
    assert!(sink.mails.try_recv().is_err());
}

#[test]
fn a_link_that_cannot_be_sent_is_given_up_when_it_expires() {
    let (server, sink) = (Server::bundled(), Sink::start(&["451 busy"; 9]));
    server.state.auth.send_links_by(std::thread::current());
    Browser::signed_up(&server, "ada@example.com");
    let sent = |clock| sender_to(&server, &sink, clock).send_links(server.state.auth.store(), &|| false).unwrap();
    assert_eq!((sent(|| NOON), waiting(server.data())), (0, 1));
    assert_eq!((sent(|| NOON + 4), sent(|| NOON + 86_399), waiting(server.data())), (0, 0, 0));
    // One that expired is not tried.
    Browser::signed_up(&server, "bob@example.com");
    assert_eq!((sent(|| NOON + 86_400), waiting(server.data())), (0, 0));
    assert!(sink.mails.try_recv().is_err());
}

#[test]
fn without_a_mail_server_nothing_is_sent_and_the_pages_do_not_exist() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    for path in ["/reset", "/reset/password?token=x", "/verify?token=x"] {
        assert_eq!(browser.get(path).status, 404, "{path}");
    }
    for path in ["/reset", "/reset/password", "/verify", "/account/verification"] {
        assert_eq!(browser.post(path, &[("email", "ada@example.com"), ("token", "x")]).status, 404, "{path}");
    }
    assert!(!browser.get("/account").text.contains("not verified"));
    assert!(Browser::at(&server).get("/signin").text.contains("the service sends no e-mail"));
}

/// The settings of a process that sends to this address.
fn sending_to(url: &str) -> [&str; 4] {
    ["--smtp-url", url, "--mail-from", "noreply@venturedex.example"]
}

/// Requests two links for each of three accounts: to verify it, and to reset its password.
fn request_six(process: &Process) {
    for name in ["ada", "bob", "eve"] {
        let email = format!("{name}@example.com");
        assert_eq!(sign_up(process, &email).status, 303);
        assert_eq!(Browser::based(&process.base).post("/reset", &[("email", &email)]).status, 303);
    }
}

/// That each of the six arrives once, from a process that then ends.
fn six_arrive(mut process: Process, end: fn(&mut Process) -> Option<i32>, sink: &Sink, data: &Path) {
    let received = || {
        let Received { to, text } = sink.next();
        let paths = ["/verify?token=", "/reset/password?token="];
        (to, paths.into_iter().find(|path| text.contains(path)).expect("a link"))
    };
    let mut received: Vec<(String, &str)> = (0..6).map(|_| received()).collect();
    received.sort_unstable();
    let expected = ["ada", "bob", "eve"].map(|name| format!("<{name}@example.com>"));
    let expected =
        expected.iter().flat_map(|to| [(to.clone(), "/reset/password?token="), (to.clone(), "/verify?token=")]);
    assert!(expected.eq(received.iter().cloned()), "{received:?}");
    assert_eq!(end(&mut process), Some(0));
    assert!(sink.mails.try_recv().is_err());
    assert_eq!(waiting(data), 0);
}

#[test]
fn links_that_wait_when_a_server_is_killed_are_sent_by_the_next() {
    // It accepts connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let data = tempfile::tempdir().unwrap();
    let url = format!("smtp://{}", silent.local_addr().unwrap());
    let mut process = Process::start(data.path(), &sending_to(&url));
    request_six(&process);
    process.kill();
    assert_eq!(waiting(data.path()), 6);
    let sink = Sink::start(&[]);
    let process = Process::start(data.path(), &sending_to(&format!("smtp://{}", sink.address)));
    six_arrive(process, Process::terminate, &sink, data.path());
}

#[test]
fn a_server_that_stops_sends_what_waits_and_leaves_the_rest_to_the_next() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let data = tempfile::tempdir().unwrap();
    let url = format!("smtp://{}", silent.local_addr().unwrap());
    let settings = [&sending_to(&url)[..], &["--drain-seconds", "1"]].concat();
    let mut process = Process::start(data.path(), &settings);
    request_six(&process);
    assert_eq!(process.terminate(), Some(0), "a mail server that says nothing does not keep it");
    assert_eq!(waiting(data.path()), 6);

    // The second one gets SIGTERM before the mail server says anything.
    let (open, gate) = channel();
    let sink = Sink::start_when(gate);
    let process = Process::start(data.path(), &sending_to(&format!("smtp://{}", sink.address)));
    assert!(Command::new("kill").arg(process.id().to_string()).status().unwrap().success());
    open.send(()).unwrap();
    six_arrive(process, Process::wait, &sink, data.path());
}

#[test]
fn servers_that_are_killed_right_after_their_answers_lose_no_link() {
    let sink = Sink::start(&[]);
    let url = format!("smtp://{}", sink.address);
    let data = tempfile::tempdir().unwrap();
    let mut expected = BTreeSet::new();
    for round in 0..rounds(40, 3) {
        let mut process = Process::start(data.path(), &sending_to(&url));
        for number in 0..3 {
            let email = format!("user{round}.{number}@example.com");
            assert_eq!(sign_up(&process, &email).status, 303);
            expected.insert(format!("<{email}>"));
        }
        process.kill();
    }
    let mut process = Process::start(data.path(), &sending_to(&url));
    // One may arrive twice: the server was killed before it knew that the first was accepted.
    let mut received = BTreeSet::new();
    while received.len() < expected.len() {
        received.insert(sink.next().to);
    }
    assert_eq!(received, expected);
    assert_eq!((process.terminate(), waiting(data.path())), (Some(0), 0));
}

/// Signs up on a server in a process of its own.
fn sign_up(process: &Process, email: &str) -> Reply {
    Browser::based(&process.base).post("/signup", &[("email", email), ("password", PASSWORD)])
}

pub fn wait_for(expected: &str, log: &Path) {
    let began = Instant::now();
    while !fs::read_to_string(log).unwrap().contains(expected) {
        assert!(began.elapsed() < PATIENCE, "{}", fs::read_to_string(log).unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_program_sends_with_its_settings_and_logs_failures_without_addresses() {
    let sink = Sink::start(&["550 5.1.1 {to} is unknown here"]);
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let url = format!("smtp://{}", sink.address);
    let settings = ["--smtp-url", &url, "--mail-from", "noreply@venturedex.example"];
    let process = Process::start_with(data.path(), &settings, fs::File::create(&log).unwrap());
    assert_eq!(sign_up(&process, "nobody@example.com").status, 303);
    assert_eq!(sign_up(&process, "ada@example.com").status, 303);
    assert!(sink.link("ada@example.com").starts_with("/verify?token="), "a failure does not stop the queue");
    wait_for("the e-mail to account 1 is not sent: the mail server replied with 550", &log);
    let log = fs::read_to_string(&log).unwrap();
    assert!(!log.contains("example.com") && !log.contains("ERROR"), "a visitor chose the address: {log}");
}

/// Of `localhost`, for a server and, as the only trusted one, for its clients.
const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/certificate.pem");
const PRIVATE_KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/key.pem");

#[test]
fn an_encrypted_connection_needs_a_trusted_certificate() {
    let certificate = CertificateDer::from_pem_file(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_file(PRIVATE_KEY).unwrap();
    let tls = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let sink = Sink::start_with(&[], Some(Arc::new(tls)), None);
    let url = format!("smtps://localhost:{}", sink.address.port());
    let settings = ["--smtp-url", &url, "--mail-from", "noreply@venturedex.example"];
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let trusting = [("SSL_CERT_FILE", CERTIFICATE)];
    let process = Process::start_in(data.path(), &settings, &trusting, fs::File::create(&log).unwrap());
    assert_eq!(sign_up(&process, "ada@example.com").status, 303);
    assert!(sink.link("ada@example.com").starts_with("/verify?token="));

    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("log");
    let process = Process::start_with(data.path(), &settings, fs::File::create(&log).unwrap());
    assert_eq!(sign_up(&process, "ada@example.com").status, 303);
    wait_for("its certificate is not trusted", &log);
    assert!(sink.mails.try_recv().is_err());
}

#[test]
fn settings_of_the_mail_server_are_checked() {
    let data = tempfile::tempdir().unwrap();
    let missing = data.path().join("missing");
    let from = ["--mail-from", "noreply@venturedex.example"];
    for (words, message) in [
        (vec!["--smtp-url", "smtp://127.0.0.1"], "--mail-from"),
        (vec!["--mail-from", "noreply@venturedex.example"], "--smtp-url"),
        ([&["--smtp-url", "https://a.example"][..], &from].concat(), "not an SMTP URL"),
        ([&["--smtp-url", "smtps://ada@mail.example.com"][..], &from].concat(), "--smtp-password-file"),
        ([&["--smtp-url", "smtps://ada:hunter2@mail.example.com"][..], &from].concat(), "contains a password"),
        (
            [&["--smtp-url", "smtps://ada@a.example", "--smtp-password-file", missing.to_str().unwrap()][..], &from]
                .concat(),
            "missing: ",
        ),
    ] {
        let words = [&["--listen", "127.0.0.1:0"][..], &words].concat();
        let refused = run(data.path(), &words, "");
        assert!(matches!(refused.code, Some(1 | 2)), "{words:?}: {refused:?}");
        assert!(refused.err.contains(message) && !refused.err.contains("hunter2"), "{}", refused.err);
    }
}
