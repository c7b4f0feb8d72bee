//! Tests of the accept loop over real sockets.

use crate::handler::run_filter;
use crate::{BodyTimeout, ErrorContext, RequestId, RequestParts};
use bytes::Bytes;
use http::{Request, Response};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use warp::filters::BoxedFilter;
use warp::{Filter, Reply};

use crate::server::*;

/// A server on its own port.
struct Running {
    address: SocketAddr,
    stop: mpsc::UnboundedSender<()>,
    ended: JoinHandle<io::Result<usize>>,
}

impl Running {
    async fn start(limits: Limits) -> (Self, Arc<Notify>, Arc<Notify>) {
        let (started, proceed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, mut stops) = mpsc::unbounded_channel();
        let routes = routes(Arc::clone(&started), Arc::clone(&proceed));
        let stops = futures_util::stream::poll_fn(move |cx| stops.poll_recv(cx));
        let ended = tokio::spawn(run(listener, Routes(routes), stops, limits));
        (Self { address, stop, ended }, started, proceed)
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn stop(self) -> usize {
        let _ = self.stop.send(());
        self.ended.await.unwrap().unwrap()
    }
}

/// Test routes; `/who` is a health check.
#[derive(Clone)]
struct Routes(BoxedFilter<(warp::reply::Response,)>);

impl Handler for Routes {
    type Pending = ();

    fn respond(&self, _: &RequestParts<'_>) -> Result<Response<Bytes>, ()> {
        Err(())
    }

    async fn respond_later(&self, (): (), request: Request<RequestBody>) -> Response<ResponseBody> {
        run_filter(&self.0, request).await
    }

    fn is_health_check(&self, path: &str) -> bool {
        path == "/who"
    }

    fn error_context(&self, _: &str) -> ErrorContext<'_> {
        ErrorContext::default()
    }
}

fn routes(started: Arc<Notify>, proceed: Arc<Notify>) -> BoxedFilter<(warp::reply::Response,)> {
    let who = warp::path("who").and(warp::ext::get::<Peer>()).and(warp::ext::get::<RequestId>());
    let who = who.map(|peer: Peer, id: RequestId| format!("{} {id}", peer.0.ip()));
    let panics = warp::path("panics").map(|| -> String { panic!("a fault in a route") });
    let panics_later = warp::path("panics-later").and_then(|| async {
        tokio::task::yield_now().await;
        if true {
            panic!("a fault in a route that waits");
        }
        Ok::<String, warp::Rejection>(String::new())
    });
    let waits = warp::path("waits").and_then(move || {
        let (started, proceed) = (Arc::clone(&started), Arc::clone(&proceed));
        async move {
            started.notify_one();
            proceed.notified().await;
            Ok::<String, warp::Rejection>("done".to_owned())
        }
    });
    let takes = warp::path("takes").and(warp::body::stream()).and_then(takes);
    let large = warp::path("large").map(|| "x".repeat(32 * 1024 * 1024));
    let streams = warp::path("streams").map(move || {
        let parts = futures_util::stream::unfold(0, |part| async move {
            tokio::time::sleep(MOMENT).await;
            (part < 4).then(|| (Ok::<_, io::Error>("part "), part + 1))
        });
        warp::reply::stream(parts)
    });
    let breaks = warp::path("breaks").map(|| {
        let parts = futures_util::stream::unfold(true, |is_first| async move {
            if is_first {
                return Some((Ok("part "), false));
            }
            // Data not yet written when a body fails is lost.
            tokio::time::sleep(MOMENT).await;
            Some((Err(io::Error::other("a disk that fails")), false))
        });
        warp::reply::stream(parts)
    });
    who.or(panics)
        .unify()
        .or(panics_later)
        .unify()
        .or(waits)
        .unify()
        .or(takes)
        .unify()
        .or(large)
        .unify()
        .map(Reply::into_response)
        .or(streams.map(Reply::into_response))
        .unify()
        .or(breaks.map(Reply::into_response))
        .unify()
        .boxed()
}

async fn takes<S, B>(body: S) -> Result<String, warp::Rejection>
where
    S: futures_util::Stream<Item = Result<B, warp::Error>> + Send,
    B: bytes::Buf,
{
    let mut body = std::pin::pin!(body);
    let mut taken = 0;
    while let Some(part) = std::future::poll_fn(|cx| body.as_mut().poll_next(cx)).await {
        match part {
            Ok(part) => taken += part.remaining(),
            Err(error) if BodyTimeout::caused(&error) => return Ok("too slow".to_owned()),
            Err(error) => return Ok(error.to_string()),
        }
    }
    Ok(format!("{taken} bytes"))
}

/// A timeout short enough to wait for. Each test shortens only the limit under test, so that a loaded machine never
/// hits another one.
const MOMENT: Duration = Duration::from_millis(200);

/// Awaits an event that must happen soon.
async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(10), future).await.expect("waited too long")
}

/// Reads one response: its head and `content-length` bytes.
async fn response(socket: &mut TcpStream) -> (String, String) {
    let mut read = Vec::new();
    let head = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        assert_ne!(soon(socket.read_buf(&mut read)).await.unwrap(), 0, "ended within the head");
    };
    let text = String::from_utf8_lossy(&read[..head]).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse::<usize>().unwrap();
    while read.len() < head + length {
        assert_ne!(soon(socket.read_buf(&mut read)).await.unwrap(), 0, "ended within the body");
    }
    (text, String::from_utf8_lossy(&read[head..]).into_owned())
}

async fn get(socket: &mut TcpStream, path: &str) -> (String, String) {
    socket.write_all(format!("GET {path} HTTP/1.1\r\nHost: here\r\n\r\n").as_bytes()).await.unwrap();
    response(socket).await
}

/// Reads until the other end closes.
async fn rest(socket: &mut TcpStream) -> String {
    let mut rest = Vec::new();
    let _ = soon(socket.read_to_end(&mut rest)).await;
    String::from_utf8_lossy(&rest).into_owned()
}

#[tokio::test]
async fn a_keep_alive_connection_serves_many_requests_with_different_ids() {
    let (server, ..) = Running::start(Limits::default()).await;
    let mut socket = server.connect().await;
    let mut ids = std::collections::HashSet::new();
    for _ in 0..100 {
        let (head, body) = get(&mut socket, "/who").await;
        let (peer, id) = body.split_once(' ').unwrap();
        assert_eq!(peer, "127.0.0.1");
        assert!(head.contains(&format!("x-request-id: {id}\r\n")), "{head}");
        ids.insert(id.to_owned());
    }
    assert_eq!(ids.len(), 100);
    assert_eq!(server.stop().await, 0);
}

#[tokio::test]
async fn pipelined_requests_get_responses_in_order() {
    let (server, ..) = Running::start(Limits::default()).await;
    let mut socket = server.connect().await;
    socket.write_all("GET /who HTTP/1.1\r\nHost: here\r\n\r\n".repeat(2).as_bytes()).await.unwrap();
    socket.write_all(b"GET /who HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").await.unwrap();
    assert_eq!(rest(&mut socket).await.matches("HTTP/1.1 200 OK").count(), 3);
}

#[tokio::test]
async fn a_slow_head_closes_the_connection() {
    // The timer of the first head starts when the connection opens, the timer of later heads at their first byte.
    for first in [false, true] {
        let head = if first { Duration::from_secs(1) } else { MOMENT };
        let (server, ..) = Running::start(Limits { head, ..Limits::default() }).await;
        let mut socket = server.connect().await;
        if first {
            get(&mut socket, "/who").await;
        }
        let began = Instant::now();
        let trickle = async {
            for byte in b"GET /who HTTP/1.1\r\nHost: here\r\nX-Slow: ".iter().chain(std::iter::repeat(&b'a')) {
                socket.write_all(&[*byte]).await?;
                let mut end = [0];
                let read = tokio::time::timeout(Duration::from_millis(20), socket.read(&mut end)).await;
                if read.is_ok() {
                    break;
                }
            }
            io::Result::Ok(())
        };
        let _ = soon(trickle).await;
        assert!(began.elapsed() >= MOMENT, "{:?}", began.elapsed());
        server.stop().await;
    }
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let (server, ..) = Running::start(Limits { head: MOMENT, ..Limits::default() }).await;
    let mut silent = server.connect().await;
    assert_eq!(rest(&mut silent).await, "");
    let (server, ..) = Running::start(Limits { idle: MOMENT, ..Limits::default() }).await;
    let mut idle = server.connect().await;
    get(&mut idle, "/who").await;
    assert_eq!(rest(&mut idle).await, "");
}

#[tokio::test]
async fn an_idle_connection_outlives_the_head_timeout() {
    let limits = Limits { head: Duration::from_millis(50), idle: Duration::from_secs(60), ..Limits::default() };
    let (server, ..) = Running::start(limits).await;
    let mut socket = server.connect().await;
    get(&mut socket, "/who").await;
    let mut byte = [0];
    let waited = tokio::time::timeout(Duration::from_millis(300), socket.read(&mut byte)).await;
    assert!(waited.is_err(), "the connection was closed");
    assert!(get(&mut socket, "/who").await.0.starts_with("http/1.1 200"));
}

#[tokio::test]
async fn a_response_to_an_unread_body_says_that_it_is_the_last_one() {
    let (server, ..) = Running::start(Limits::default()).await;
    for (path, end) in [("/who", ""), ("/panics", ""), ("/panics-later", "0\r\n\r\n")] {
        let mut socket = server.connect().await;
        let head = format!("POST {path} HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n{end}");
        socket.write_all(head.as_bytes()).await.unwrap();
        assert!(response(&mut socket).await.0.contains("connection: close\r\n"), "{path}");
        assert_eq!(rest(&mut socket).await, "");
    }
    let mut socket = server.connect().await;
    for length in [0, 3] {
        let body = "x".repeat(length);
        let request = format!("POST /takes HTTP/1.1\r\nHost: here\r\nContent-Length: {length}\r\n\r\n{body}");
        socket.write_all(request.as_bytes()).await.unwrap();
        let (head, body) = response(&mut socket).await;
        assert_eq!((body, head.contains("connection: close")), (format!("{length} bytes"), false));
    }
}

#[tokio::test]
async fn a_slow_body_times_out_with_a_response() {
    let (server, ..) = Running::start(Limits { body: MOMENT, ..Limits::default() }).await;
    let mut socket = server.connect().await;
    socket.write_all(b"POST /takes HTTP/1.1\r\nHost: here\r\nContent-Length: 3\r\n\r\nab").await.unwrap();
    assert_eq!(response(&mut socket).await.1, "too slow");
    let mut socket = server.connect().await;
    socket.write_all(b"POST /takes HTTP/1.1\r\nHost: here\r\nContent-Length: 3\r\n\r\nabc").await.unwrap();
    assert_eq!(response(&mut socket).await.1, "3 bytes");
}

#[tokio::test]
async fn a_client_that_does_not_read_its_response_is_disconnected() {
    let limits = Limits { write: MOMENT, connections: 1, ..Limits::default() };
    let (server, ..) = Running::start(limits).await;
    let mut socket = server.connect().await;
    socket.write_all(b"GET /large HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    // Once this client is disconnected, another connection is served.
    soon(async {
        loop {
            let mut other = server.connect().await;
            if get(&mut other, "/takes").await.0.starts_with("http/1.1 200") {
                break;
            }
        }
    })
    .await;
    let mut read = Vec::new();
    let _ = soon(socket.read_to_end(&mut read)).await;
    assert!(read.len() < 32 * 1024 * 1024, "the full response was buffered for a client that did not read");
}

#[tokio::test]
async fn a_connection_that_waits_for_a_part_of_its_response_is_not_idle() {
    let limits = Limits { idle: MOMENT / 2, connections: 1, ..Limits::default() };
    let (server, ..) = Running::start(limits).await;
    let mut socket = server.connect().await;
    socket.write_all(b"GET /streams HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    let mut read = vec![0; 16];
    soon(socket.read_exact(&mut read)).await.unwrap();
    assert!(get(&mut server.connect().await, "/takes").await.0.starts_with("http/1.1 503"), "it is not evicted");
    let text = rest(&mut socket).await;
    assert!(text.ends_with("5\r\npart \r\n0\r\n\r\n") && text.matches("part").count() == 4, "{text}");
}

#[tokio::test]
async fn a_response_that_breaks_has_no_proper_end() {
    let (server, ..) = Running::start(Limits::default()).await;
    let mut socket = server.connect().await;
    socket.write_all(b"GET /breaks HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    let text = rest(&mut socket).await;
    assert!(text.contains("transfer-encoding: chunked") && !text.contains("0\r\n\r\n"), "{text}");
    // In HTTP/1.0 a body ends with its connection, complete or not.
    let mut old = server.connect().await;
    old.write_all(b"GET /breaks HTTP/1.0\r\nHost: here\r\n\r\n").await.unwrap();
    let text = rest(&mut old).await;
    assert!(text.starts_with("HTTP/1.0 400") && text.contains("proxy_http_version"), "{text}");
}

#[tokio::test]
async fn a_streamed_response_to_head_keeps_its_connection() {
    let (server, ..) = Running::start(Limits::default()).await;
    let mut socket = server.connect().await;
    let pipelined =
        b"HEAD /streams HTTP/1.1\r\nHost: here\r\n\r\nGET /takes HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
    socket.write_all(pipelined).await.unwrap();
    let text = rest(&mut socket).await;
    assert!(text.matches("HTTP/1.1 200").count() == 2 && text.ends_with("0 bytes"), "{text}");
}

#[tokio::test]
async fn a_panic_is_a_500_and_the_connection_continues() {
    let (server, ..) = Running::start(Limits::default()).await;
    let mut socket = server.connect().await;
    for path in ["/panics", "/panics-later"] {
        let (head, body) = get(&mut socket, path).await;
        assert!(head.starts_with("http/1.1 500"), "{head}");
        assert!(head.contains("content-type: application/problem+json"), "{head}");
        let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(problem["code"], "internal_error");
        assert_eq!(problem["instance"], path);
        assert!(head.contains(&format!("x-request-id: {}\r\n", problem["request_id"].as_str().unwrap())), "{head}");
        assert!(!body.contains("fault"), "{body}");
        assert_problem(&format!("{head}{body}"), "internal_error");
    }
    assert!(get(&mut socket, "/who").await.0.starts_with("http/1.1 200"));
}

#[tokio::test]
async fn a_request_has_exactly_one_host() {
    let (server, ..) = Running::start(Limits::default()).await;
    for (head, status) in [
        ("GET /who HTTP/1.1\r\n\r\n", "400"),
        ("GET /who HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
        ("GET /who HTTP/1.1\r\nHost: a@b\r\n\r\n", "400"),
        ("GET /who HTTP/1.1\r\nHost: a/b\r\n\r\n", "400"),
        ("GET /who HTTP/1.1\r\nHost: a b\r\n\r\n", "400"),
        ("GET /who HTTP/1.1\r\nHost: a\r\n\r\n", "200"),
        ("GET /who HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "200"),
        ("GET /who HTTP/1.0\r\n\r\n", "200"),
    ] {
        let mut socket = server.connect().await;
        socket.write_all(head.as_bytes()).await.unwrap();
        let (response_head, body) = response(&mut socket).await;
        assert_eq!(response_head.split(' ').nth(1), Some(status), "{head} → {response_head}");
        assert_eq!(status == "400", body.contains("`Host` header"), "{body}");
    }
}

#[tokio::test]
async fn a_whole_url_names_the_host_of_the_header() {
    let (server, ..) = Running::start(Limits::default()).await;
    for (url, host, status) in [
        ("http://here/who", "here", "200"),
        ("http://HERE:80/who", "here", "200"),
        ("https://here/who", "here:443", "200"),
        ("http://other/who", "here", "400"),
        ("http://here:81/who", "here", "400"),
        ("https://here/who", "here:80", "400"),
        ("http://a@here/who", "here", "400"),
        ("ftp://here/who", "here", "400"),
        ("http://here/who", "", "400"),
    ] {
        let mut socket = server.connect().await;
        socket.write_all(format!("GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
        let (head, body) = response(&mut socket).await;
        assert_eq!(head.split(' ').nth(1), Some(status), "{url} {host}: {head}");
        assert_eq!(status == "400", body.contains("request the path alone"), "{url} {host}: {body}");
    }
}

#[tokio::test]
async fn a_line_of_a_head_that_ends_without_a_carriage_return_gets_a_400() {
    let (server, ..) = Running::start(Limits::default()).await;
    let good = "POST /takes HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\na\n\nb";
    for bad in [
        "GET /who HTTP/1.1\nHost: here\r\n\r\n",
        "GET /who HTTP/1.1\r\nHost: here\n\r\n",
        "GET /who HTTP/1.1\r\nHost: here\r\n\n",
        "GET /who HTTP/1.1\nHost: here\n\n",
        "\nGET /who HTTP/1.1\r\nHost: here\r\n\r\n",
    ] {
        // At once, and byte by byte; alone, and after a request whose body has line feeds.
        for (before, is_slow) in [("", false), (good, false), ("", true), (good, true)] {
            let mut socket = server.connect().await;
            socket.set_nodelay(true).unwrap();
            let sent = format!("{before}{bad}");
            for part in sent.as_bytes().chunks(if is_slow { 1 } else { sent.len() }) {
                // The server may have answered and closed before the last bytes.
                let _ = socket.write_all(part).await;
                tokio::task::yield_now().await;
            }
            let text = rest(&mut socket).await;
            let start = text.find("HTTP/1.1 400").unwrap_or_else(|| panic!("{sent:?}: {text}"));
            assert_eq!(text[..start].ends_with("4 bytes"), !before.is_empty(), "{sent:?}: {text}");
            assert_problem(&text[start..], "invalid_request");
        }
    }
}

#[tokio::test]
async fn a_head_above_the_limit_is_rejected() {
    let (server, ..) = Running::start(Limits { head_bytes: 8_192, ..Limits::default() }).await;
    let mut socket = server.connect().await;
    let head = format!("GET /who HTTP/1.1\r\nHost: here\r\nX-Long: {}\r\n\r\n", "a".repeat(20_000));
    socket.write_all(head.as_bytes()).await.unwrap();
    let rejected = rest(&mut socket).await;
    assert!(rejected.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{rejected}");
    assert_problem(&rejected, "head_too_large");
    assert!(rejected.contains("connection: close\r\n"), "{rejected}");
}

/// Asserts that an error has the headers common to all errors and a body that agrees with them.
fn assert_problem(response: &str, code: &str) {
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let header = |name: &str| {
        let line =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix(&format!("{name}: ")).map(str::to_owned));
        line.unwrap_or_else(|| panic!("no {name}: {head}"))
    };
    assert_eq!(header("content-type"), "application/problem+json");
    assert_eq!(header("content-length"), body.len().to_string());
    assert_eq!((header("x-ratelimit-limit"), header("x-ratelimit-remaining")), ("0".into(), "0".into()));
    assert!(header("x-ratelimit-reset").parse::<i64>().unwrap() % 86_400 == 0);
    assert_eq!(header("access-control-allow-origin"), "*");
    let problem: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (problem["code"].as_str(), problem["request_id"].as_str()),
        (Some(code), Some(&*header("x-request-id")))
    );
    assert_eq!(head.split(' ').nth(1).unwrap(), problem["status"].to_string());
}

#[tokio::test]
async fn a_client_that_continues_to_send_still_reads_the_error() {
    let (server, ..) = Running::start(Limits { head_bytes: 8_192, ..Limits::default() }).await;
    let mut socket = server.connect().await;
    let head = format!("GET /{} HTTP/1.1\r\nHost: here\r\n\r\n", "a".repeat(400_000));
    let _ = socket.write_all(head.as_bytes()).await;
    assert_problem(&rest(&mut socket).await, "url_too_long");
}

#[tokio::test]
async fn a_long_url_is_rejected_however_it_is_split() {
    let (server, ..) = Running::start(Limits { head_bytes: 8_192, ..Limits::default() }).await;
    for length in [6_500, 7_000, 20_000] {
        let mut socket = server.connect().await;
        let head = format!("GET /who HTTP/1.1\r\nHost: here\r\n\r\nGET /{} HTTP/1.1\r\n", "a".repeat(length));
        let (first, rest_of_it) = head.split_at(3_000);
        socket.write_all(first.as_bytes()).await.unwrap();
        // Getting the first response means that the first part was read on its own.
        let (response_head, _) = response(&mut socket).await;
        assert!(response_head.starts_with("http/1.1 200 ok\r\n"), "{response_head}");
        socket.write_all(rest_of_it.as_bytes()).await.unwrap();
        let _ = socket.write_all(b"Host: here\r\nConnection: close\r\n\r\n").await;
        let responses = rest(&mut socket).await;
        assert!(responses.contains("HTTP/1.1 414 URI Too Long\r\n"), "{length}: {responses}");
        assert!(responses.contains("\"url_too_long\""), "{length}: {responses}");
    }
}

#[tokio::test]
async fn bytes_that_are_not_a_request_get_a_400() {
    let (server, ..) = Running::start(Limits::default()).await;
    for bytes in ["CONNECT here:1 HTTP/1.1\r\nHost: here\r\n\r\n", "GET here:80 HTTP/1.1\r\nHost: here\r\n\r\n"] {
        let mut socket = server.connect().await;
        socket.write_all(bytes.as_bytes()).await.unwrap();
        let (response_head, body) = response(&mut socket).await;
        assert_eq!(response_head.split(' ').nth(1), Some("400"), "{bytes} → {response_head}");
        assert!(body.contains("invalid_request"), "{body}");
    }
    for bytes in ["hello\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: here\r\n\r\n", "GET / HTTP/1.1\r\nHost here\r\n\r\n"] {
        let mut socket = server.connect().await;
        socket.write_all(bytes.as_bytes()).await.unwrap();
        let rejected = rest(&mut socket).await;
        assert!(rejected.starts_with("HTTP/1.1 400"), "{bytes}: {rejected}");
        assert_problem(&rejected, "invalid_request");
    }
    // The same after a valid request on the same connection.
    let mut socket = server.connect().await;
    assert!(get(&mut socket, "/who").await.0.starts_with("http/1.1 200"));
    socket.write_all(b"hello\r\n\r\n").await.unwrap();
    assert_problem(&rest(&mut socket).await, "invalid_request");
}

#[tokio::test]
async fn a_connection_above_the_limit_gets_a_503_or_a_health_check() {
    let (server, started, proceed) = Running::start(Limits { connections: 1, ..Limits::default() }).await;
    let mut first = server.connect().await;
    first.write_all(b"GET /waits HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").await.unwrap();
    soon(started.notified()).await;
    let mut second = server.connect().await;
    let (head, body) = get(&mut second, "/takes").await;
    assert!(head.starts_with("http/1.1 503") && head.contains("retry-after: 1\r\n"), "{head}");
    assert_problem(&format!("{head}{body}"), "overloaded");
    let mut health = server.connect().await;
    let (head, _) = get(&mut health, "/who").await;
    assert!(head.starts_with("http/1.1 200") && head.contains("connection: close\r\n"), "{head}");
    assert_eq!(rest(&mut health).await, "");
    proceed.notify_one();
    assert!(rest(&mut first).await.ends_with("done"));
    // Its slot is free once its task has ended.
    soon(async { while get(&mut server.connect().await, "/takes").await.0.starts_with("http/1.1 503") {} }).await;
}

#[tokio::test]
async fn the_connection_that_has_been_idle_for_longest_is_closed_for_a_new_one() {
    let (server, ..) = Running::start(Limits { connections: 2, ..Limits::default() }).await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    get(&mut first, "/who").await;
    get(&mut second, "/who").await;
    // Until the two have been idle for a moment, a third connection is above the limit.
    let third = soon(async {
        loop {
            let mut third = server.connect().await;
            if !get(&mut third, "/takes").await.0.starts_with("http/1.1 503") {
                break third;
            }
        }
    });
    let _third = third.await;
    assert_eq!(rest(&mut first).await, "");
    assert!(get(&mut second, "/who").await.0.starts_with("http/1.1 200"));
}

#[tokio::test]
async fn an_address_that_is_not_a_trusted_proxy_has_a_share_of_the_connections() {
    let limits = Limits { connections_per_address: 2, ..Limits::default() };
    let (server, ..) = Running::start(limits.clone()).await;
    let mut own = [server.connect().await, server.connect().await];
    for socket in &mut own {
        get(socket, "/who").await;
    }
    assert!(get(&mut server.connect().await, "/takes").await.0.starts_with("http/1.1 503"));
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(server.address).await.unwrap();
    assert!(get(&mut other, "/takes").await.0.starts_with("http/1.1 200"), "another address is not affected");
    // Connections beyond the reserve for 503 responses are closed at once.
    let mut waiting = Vec::new();
    for _ in 0..20 {
        waiting.push(server.connect().await);
    }
    assert_eq!(rest(&mut waiting[19]).await, "");

    let (server, ..) = Running::start(Limits { trusted_proxies: vec!["127.0.0.0/8".parse().unwrap()], ..limits }).await;
    let mut proxied = Vec::new();
    for _ in 0..10 {
        let mut socket = server.connect().await;
        assert!(get(&mut socket, "/takes").await.0.starts_with("http/1.1 200"));
        proxied.push(socket);
    }
}

#[tokio::test]
async fn a_client_that_closes_its_sending_side_gets_its_response() {
    let (server, started, proceed) = Running::start(Limits::default()).await;
    let mut socket = server.connect().await;
    socket.write_all(b"GET /waits HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    socket.shutdown().await.unwrap();
    soon(started.notified()).await;
    proceed.notify_one();
    assert!(rest(&mut socket).await.ends_with("done"));
}

#[tokio::test]
async fn before_it_stops_the_server_lets_connections_end() {
    let limits = Limits { drain_delay: Duration::from_secs(60), ..Limits::default() };
    let (server, started, proceed) = Running::start(limits).await;
    let mut idle = server.connect().await;
    get(&mut idle, "/who").await;
    let mut busy = server.connect().await;
    busy.write_all(b"GET /waits HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    soon(started.notified()).await;
    server.stop.send(()).unwrap();
    let closing = soon(async {
        loop {
            let mut new = server.connect().await;
            let (head, _) = get(&mut new, "/who").await;
            assert!(head.starts_with("http/1.1 200"), "{head}");
            if head.contains("connection: close\r\n") {
                break;
            }
        }
    });
    closing.await;
    let (head, _) = get(&mut idle, "/takes").await;
    assert!(head.starts_with("http/1.1 200") && head.contains("connection: close\r\n"), "{head}");
    proceed.notify_one();
    assert!(rest(&mut busy).await.ends_with("done"));
    // A second signal ends the delay and all running requests.
    let mut waiting = server.connect().await;
    waiting.write_all(b"GET /waits HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    soon(started.notified()).await;
    assert_eq!(soon(server.stop()).await, 1);
}

#[tokio::test]
async fn what_is_connected_when_the_server_stops_gets_a_response() {
    let (server, ..) = Running::start(Limits { connections_per_address: 200, ..Limits::default() }).await;
    let address = server.address;
    let mut sockets = Vec::new();
    for _ in 0..100 {
        // Blocking, so that the server accepts none of the connections before the signal.
        let mut socket = std::net::TcpStream::connect(address).unwrap();
        io::Write::write_all(&mut socket, b"GET /who HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
        socket.set_nonblocking(true).unwrap();
        sockets.push(TcpStream::from_std(socket).unwrap());
    }
    let ended = tokio::spawn(server.stop());
    for socket in &mut sockets {
        let response = rest(socket).await;
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    }
    assert_eq!(soon(ended).await.unwrap(), 0);
}

#[tokio::test]
async fn a_request_that_was_on_its_way_when_the_server_stopped_gets_a_response() {
    let (server, ..) = Running::start(Limits { last_request: Duration::from_secs(60), ..Limits::default() }).await;
    let (address, mut used) = (server.address, server.connect().await);
    get(&mut used, "/who").await;
    let ended = tokio::spawn(server.stop());
    soon(async { while TcpStream::connect(address).await.is_ok() {} }).await;
    let (head, _) = get(&mut used, "/who").await;
    assert!(head.starts_with("http/1.1 200") && head.contains("connection: close\r\n"), "{head}");
    assert_eq!(soon(ended).await.unwrap(), 0);
}

#[tokio::test]
async fn shutdown_finishes_running_requests_and_rejects_new_connections() {
    let (server, started, proceed) = Running::start(Limits { last_request: MOMENT, ..Limits::default() }).await;
    let address = server.address;
    let mut idle = server.connect().await;
    get(&mut idle, "/who").await;
    let mut busy = server.connect().await;
    busy.write_all(b"GET /waits HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    soon(started.notified()).await;
    let ending = tokio::spawn(server.stop());
    assert_eq!(rest(&mut idle).await, "", "an idle connection is closed");
    assert!(TcpStream::connect(address).await.is_err(), "a new connection was accepted");
    proceed.notify_one();
    assert!(rest(&mut busy).await.ends_with("done"));
    assert_eq!(soon(ending).await.unwrap(), 0);
}

#[tokio::test]
async fn shutdown_has_a_deadline() {
    let (server, started, _proceed) = Running::start(Limits { drain: MOMENT, ..Limits::default() }).await;
    let mut busy = server.connect().await;
    busy.write_all(b"GET /waits HTTP/1.1\r\nHost: here\r\n\r\n").await.unwrap();
    soon(started.notified()).await;
    assert_eq!(soon(server.stop()).await, 1);
}
