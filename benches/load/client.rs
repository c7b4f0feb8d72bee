//! An HTTP/1.1 client on a bare connection, which sends exactly the bytes that it is given.

use std::fmt::Write;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};

/// No response takes as long.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Connection {
    pub stream: TcpStream,
    buffer: Vec<u8>,
}

pub struct Reply {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Reply {
    /// Whether the server closes the connection.
    pub fn is_last(&self) -> bool {
        values(&self.head, "connection").any(|value| value == "close")
    }

    pub fn retry_after(&self) -> Duration {
        let seconds = values(&self.head, "retry-after").find_map(|value| value.parse().ok());
        Duration::from_secs(seconds.expect("it says when to retry"))
    }

    /// The cookies that it sets, as they are sent back.
    pub fn cookies(&self) -> String {
        let cookies: Vec<&str> = values(&self.head, "set-cookie").filter_map(|value| value.split(';').next()).collect();
        cookies.join("; ")
    }
}

/// The values of a header.
fn values<'a>(head: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    let headers = head.lines().filter_map(|line| line.split_once(": "));
    headers.filter(move |(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

impl Connection {
    pub async fn open(to: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// From an address of this machine, with room for few bytes that were not read.
    pub async fn open_from(from: IpAddr, to: SocketAddr) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4_096)?;
        socket.bind(SocketAddr::new(from, 0))?;
        Ok(Self { stream: socket.connect(to).await?, buffer: Vec::new() })
    }

    pub async fn send(&mut self, request: &[u8]) -> io::Result<Reply> {
        let exchange = async {
            self.stream.write_all(request).await?;
            self.read().await
        };
        timeout(PATIENCE, exchange).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    /// The next response.
    pub async fn read(&mut self) -> io::Result<Reply> {
        let head_end = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.fill().await?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..head_end]).into_owned();
        let status = head.get(9..12).and_then(|status| status.parse().ok()).ok_or(io::ErrorKind::InvalidData)?;
        if values(&head, "transfer-encoding").any(|value| value == "chunked") {
            return Ok(Reply { status, body: self.read_chunks(head_end).await?, head });
        }
        let length = values(&head, "content-length").find_map(|length| length.parse().ok()).unwrap_or(0);
        while self.buffer.len() < head_end + length {
            self.fill().await?;
        }
        let body = String::from_utf8_lossy(&self.buffer[head_end..head_end + length]).into_owned();
        self.buffer.drain(..head_end + length);
        Ok(Reply { status, head, body })
    }

    /// A body in chunks, of a response whose head ends at `start`.
    async fn read_chunks(&mut self, mut start: usize) -> io::Result<String> {
        let mut body = Vec::new();
        loop {
            let line_end = loop {
                match self.buffer[start..].windows(2).position(|two| two == b"\r\n") {
                    Some(at) => break start + at,
                    None => self.fill().await?,
                }
            };
            let line = String::from_utf8_lossy(&self.buffer[start..line_end]).into_owned();
            let length = usize::from_str_radix(&line, 16).map_err(|_| io::ErrorKind::InvalidData)?;
            let (from, end) = (line_end + 2, line_end + 2 + length);
            while self.buffer.len() < end + 2 {
                self.fill().await?;
            }
            body.extend_from_slice(&self.buffer[from..end]);
            start = end + 2;
            if length == 0 {
                self.buffer.drain(..start);
                return Ok(String::from_utf8_lossy(&body).into_owned());
            }
        }
    }

    async fn fill(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// The bytes of a request; `headers` are whole lines.
pub fn get(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").into_bytes()
}

pub fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n{headers}\r\n{body}").into_bytes()
}

/// A tool call of the stateless revision of MCP.
pub fn tool_call(headers: &str, tool: &str, arguments: &serde_json::Value) -> Vec<u8> {
    let body = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments }
    });
    let headers = format!("{headers}content-type: application/json\r\naccept: application/json\r\n");
    post("/api/mcp", &headers, &body.to_string())
}

/// Text in a query.
pub fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b',' => encoded.push(char::from(byte)),
            b' ' => encoded.push('+'),
            _ => write!(encoded, "%{byte:02X}").expect("a string takes everything"),
        }
        encoded
    })
}

/// Response times.
#[derive(Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub fn add(&mut self, since: Instant) {
        self.0.push(since.elapsed());
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Milliseconds that a share of the responses took at most.
    pub fn at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(((sorted.len() as f64 - 1.0) * share) as usize).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }
}

/// Sends a request every 10 ms until `until`, and returns the response times and the number of those that failed.
pub async fn steady(to: SocketAddr, until: Instant, request: impl Fn(usize) -> Vec<u8>) -> (Times, usize) {
    let (mut times, mut failed, mut connection) = (Times::default(), 0, None::<Connection>);
    let mut turn = tokio::time::interval(Duration::from_millis(10));
    turn.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for number in 0.. {
        turn.tick().await;
        if Instant::now() >= until {
            break;
        }
        let start = Instant::now();
        let reply = async {
            let mut open = match connection.take() {
                Some(open) => open,
                None => Connection::open(to).await?,
            };
            let reply = open.send(&request(number)).await?;
            io::Result::Ok((open, reply))
        };
        match reply.await {
            Ok((open, reply)) => {
                times.add(start);
                failed += usize::from(reply.status != 200);
                connection = (!reply.is_last()).then_some(open);
            }
            Err(_) => failed += 1,
        }
    }
    (times, failed)
}
