//! Slow connections of eight kinds: each is closed within its limit and two seconds, and an honest client next to them is
//! served as if they were not there.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures_util::future::{join_all, join3};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

use crate::client::{Connection, get, post, steady};
use crate::server::{Data, Server};
use crate::{Options, Report};

/// Seconds after which the server closes a connection: `transport::server::Limits`.
const HEAD: f64 = 5.0;
const BODY: f64 = 10.0;
const IDLE: f64 = 15.0;
const WRITE: f64 = 30.0;
const GRACE: f64 = 2.0;
/// Until the buffers of those that do not read are full: their limit starts when no byte more can be sent.
const FILLING: f64 = 3.0;
/// Connections that one address may have, less those that take a moment to be forgotten.
const PER_ADDRESS: usize = 50;

/// How a connection is slow.
struct Kind {
    name: &'static str,
    /// Sent at once.
    first: Vec<u8>,
    /// Sent byte by byte, twice a second.
    then: &'static [u8],
    /// Whether what the server sends is read.
    reads: bool,
    limit: f64,
}

fn kinds(key: &str) -> [Kind; 8] {
    let kind = |name, first, then, limit| Kind { name, first, then, reads: true, limit };
    let json = "content-type: application/json\r\n";
    let half = |request: Vec<u8>| request[..request.len() - 20].to_vec();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let trickle: &[u8] = &[b'a'; 100];
    [
        kind("sends nothing", Vec::new(), b"", HEAD),
        kind("stops in the head", half(get("/api/v3/vcs", key)), b"", HEAD),
        kind("head byte by byte", b"GET /api/v3/vcs?q=".to_vec(), trickle, HEAD),
        kind("stops in the body", half(post("/api/mcp", json, body)), b"", BODY),
        kind(
            "body byte by byte",
            post("/api/mcp", "content-type: application/json\r\n", &"a".repeat(200))[..120].to_vec(),
            trickle,
            BODY,
        ),
        kind("idle after a response", get("/healthz", ""), b"", IDLE),
        kind("second head byte by byte", [get("/healthz", ""), b"GET /api".to_vec()].concat(), trickle, HEAD),
        Kind {
            name: "does not read",
            first: get("/api/v3/vcs?limit=100", key).repeat(100),
            then: b"",
            reads: false,
            limit: WRITE,
        },
    ]
}

pub async fn measure(options: &Options, report: &mut Report) {
    let data = Data::new();
    let key = data.key();
    let server = Server::start(&data, options.index.as_deref(), &[]);
    let kinds = kinds(&key);
    let each = options.slow / kinds.len();
    let connections = (0..each * kinds.len()).map(|number| {
        let from = Ipv4Addr::from(0x7f00_0002 + (number / PER_ADDRESS) as u32);
        slow(IpAddr::V4(from), server.address, &kinds[number / each])
    });
    let until = Instant::now() + Duration::from_secs(20);
    let honest = steady(server.address, until, |_| get("/api/v3/vcs?limit=5", &key));
    let before = server.descriptors();
    let places = async {
        sleep(Duration::from_secs_f64(FILLING + WRITE + GRACE)).await;
        server.descriptors() - before
    };
    let (closed, (times, failed), left) = join3(join_all(connections), honest, places).await;
    for (kind, closed) in kinds.iter().zip(closed.chunks(each)).filter(|(kind, _)| kind.reads) {
        let open = closed.iter().filter(|after| after.is_none()).count();
        let longest = closed.iter().flatten().fold(0.0, |longest: f64, after| longest.max(*after));
        report.at_most(&format!("{} × {}: open after a minute", closed.len(), kind.name), open as f64, 0.0, "");
        report.at_most(&format!("{} × {}: closed after", closed.len(), kind.name), longest, kind.limit + GRACE, "s");
    }
    report.at_most(&format!("connections left after {} s, of all kinds", FILLING + WRITE + GRACE), left, 0.0, "");
    println!("honest client: p50 {:.2} ms of {}", times.at(0.5), times.count());
    report.at_most("honest client: failed", failed as f64, 0.0, "");
    report.at_most("honest client: p99", times.at(0.99), 50.0, "ms");
}

/// Seconds until the server closed it.
async fn slow(from: IpAddr, to: SocketAddr, kind: &Kind) -> Option<f64> {
    let mut connection = Connection::open_from(from, to).await.expect("a connection");
    let start = Instant::now();
    let exchange = async {
        // The server may stop reading before all is sent.
        let sent = timeout(Duration::from_secs(2), connection.stream.write_all(&kind.first)).await;
        let (mut reader, mut writer) = connection.stream.split();
        let write = async {
            if sent.is_ok() {
                for byte in kind.then {
                    sleep(Duration::from_millis(500)).await;
                    writer.write_all(&[*byte]).await?;
                }
            }
            io::Result::Ok(())
        };
        let read = async {
            match kind.reads {
                true => while reader.read(&mut [0; 4_096]).await? > 0 {},
                // The end does not arrive behind what is not read.
                false => std::future::pending().await,
            }
            Err::<(), _>(io::ErrorKind::UnexpectedEof.into())
        };
        let _: io::Result<_> = futures_util::future::try_join(write, read).await;
    };
    timeout(Duration::from_secs(60), exchange).await.ok().map(|()| start.elapsed().as_secs_f64())
}
