//! Requests during restarts: of one server on a socket that stays open, and of three servers behind haproxy, one after the
//! other.

use std::cell::Cell;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all};
use tokio::time::{Instant, sleep};

use crate::client::{Connection, Times, get};
use crate::server::{Data, Server};
use crate::{Options, Report};

const CLIENTS: usize = 8;
const ROLLING: usize = 10;

pub async fn plain(options: &Options, report: &mut Report) {
    let data = Arc::new(Data::new());
    let key = data.key();
    let listener = Arc::new(TcpListener::bind("127.0.0.1:0").expect("a port"));
    let address = listener.local_addr().expect("an address");
    let index = options.index.clone();
    let start = move || Server::start_on(&listener, &data, index.as_deref(), &[]);
    // The last one serves until the clients have ended.
    let mut server = Some(start());
    let restarts = async {
        let mut times = Times::default();
        for _ in 0..options.restarts {
            sleep(Duration::from_millis(100)).await;
            let began = Instant::now();
            let running = server.take().expect("a server");
            server = Some(restarted(running, start.clone()).await);
            times.add(began);
        }
        println!("a restart takes {:.0} ms, {:.0} ms at most", times.at(0.5), times.at(1.0));
    };
    let (requests, failed) = during(restarts, address, &key).await;
    println!("{} restarts, {requests} requests", options.restarts);
    report.at_most("plain restarts: requests that failed", failed as f64, 0.0, "");
}

/// Stops a server and starts the next; it must have ended well.
async fn restarted(mut server: Server, start: impl FnOnce() -> Server + Send + 'static) -> Server {
    let next = tokio::task::spawn_blocking(move || {
        server.signal_stop();
        assert!(server.wait(), "the server did not end well");
        start()
    });
    next.await.expect("a server")
}

pub async fn rolling(options: &Options, report: &mut Report) {
    if Command::new("haproxy").arg("-v").stdout(Stdio::null()).status().is_err() {
        println!("skipped: haproxy is not installed");
        return;
    }
    // Each with a data folder of its own: the store is not shared yet.
    let data: Arc<[Data]> = (0..3).map(|_| Data::new()).collect();
    let ports: Vec<u16> = (0..3).map(|_| free_port()).collect();
    let start = |number: usize| {
        let (data, index, port) = (Arc::clone(&data), options.index.clone(), ports[number]);
        move || {
            Server::start_at(
                port,
                &data[number],
                index.as_deref(),
                &["--drain-delay", "2", "--pages-per-minute", "1000000"],
            )
        }
    };
    let mut servers: Vec<Server> = (0..3).map(|number| start(number)()).collect();
    let front = free_port();
    let mut config = format!(
        "defaults\n mode http\n timeout connect 2s\n timeout client 30s\n timeout server 30s\n retries 2\n option redispatch\n\
         frontend all\n bind 127.0.0.1:{front}\n default_backend servers\n\
         backend servers\n option httpchk GET /readyz\n http-check expect status 200\n default-server inter 200ms fall 2 rise 2\n"
    );
    for (number, port) in ports.iter().enumerate() {
        config += &format!(" server s{number} 127.0.0.1:{port} check\n");
    }
    let path = data[0].path().join("haproxy.cfg");
    fs::write(&path, config).expect("a file");
    let mut haproxy = Command::new("haproxy").arg("-f").arg(&path).stderr(Stdio::null()).spawn().expect("haproxy");
    sleep(Duration::from_secs(2)).await;
    let restarts = async {
        for number in (0..3).cycle().take(3 * ROLLING) {
            let server = servers.remove(0);
            servers.push(restarted(server, start(number)).await);
            // Until haproxy sees it.
            sleep(Duration::from_secs(1)).await;
        }
    };
    let (requests, failed) = during(restarts, SocketAddr::from(([127, 0, 0, 1], front)), "").await;
    let _ = haproxy.kill();
    let _ = haproxy.wait();
    println!("{ROLLING} rolling restarts of three servers, {requests} requests");
    report.at_most("rolling restarts: requests that failed", failed as f64, 0.0, "");
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

/// Runs `work` next to clients of which half keep their connections; returns the number of requests and of failed ones.
async fn during(work: impl Future<Output = ()>, to: SocketAddr, key: &str) -> (usize, usize) {
    let (ended, requests, failed) = (Cell::new(false), Cell::new(0), Cell::new(0));
    let clients = join_all((0..CLIENTS).map(|number| {
        let (ended, requests, failed) = (&ended, &requests, &failed);
        async move {
            let mut connection = None;
            let paths = match key {
                "" => ["/vcs?sort=name", "/healthz", "/sectors"],
                _ => ["/api/v3/vcs?limit=5", "/api/v3/startups?q=lunar", "/healthz"],
            };
            while !ended.get() {
                let request = get(paths[requests.get() % 3], key);
                requests.set(requests.get() + 1);
                let (start, is_new) = (Instant::now(), connection.is_none());
                let reply = async {
                    let mut open = match connection.take() {
                        Some(open) => open,
                        None => Connection::open(to).await?,
                    };
                    let reply = open.send(&request).await?;
                    std::io::Result::Ok((open, reply))
                };
                match reply.await {
                    Ok((open, reply)) => {
                        if reply.status != 200 {
                            println!("{}: {}", reply.status, reply.body);
                            failed.set(failed.get() + 1);
                        }
                        connection = (number % 2 == 0 && !reply.is_last()).then_some(open);
                    }
                    Err(error) => {
                        let connection = if is_new { "a new" } else { "a used" };
                        println!("no response on {connection} connection after {:?}: {error}", start.elapsed());
                        failed.set(failed.get() + 1);
                    }
                }
                sleep(Duration::from_millis(5)).await;
            }
        }
    }));
    let work = async {
        work.await;
        ended.set(true);
    };
    join(clients, work).await;
    (requests.get(), failed.get())
}
