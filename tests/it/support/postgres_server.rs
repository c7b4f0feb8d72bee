//! PostgreSQL for tests: one server for the test process, and an empty database for each test. The unit tests use it, too.
//!
//! The server of `VENTUREDEX_TEST_POSTGRES` (a URL whose role may create databases), otherwise one that is started from the
//! installed programs in a temporary folder. A shell between both waits for the end of its input, so that the server is stopped
//! and its folder removed when the test process ends, however it ends. If PostgreSQL is not installed, tests are skipped, and fail
//! if `VENTUREDEX_TEST_ALL=1` requires them.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::NoTls;

/// Of the user `secured`.
pub(crate) const PASSWORD: &str = "s3cr3t-of-the-store";

/// Arguments: the folder of the programs, and a port. Prints its folder first.
///
/// The user `secured` needs [`PASSWORD`] over TCP; everybody else needs none.
const SCRIPT: &str = r#"
set -e
dir=$(mktemp -d)
echo "$dir"
cd "$dir"
"$1/initdb" -D data -U postgres -A trust -E UTF8 --locale=C --no-sync >log 2>&1
{ echo 'host all secured 127.0.0.1/32 scram-sha-256'; cat data/pg_hba.conf; } >hba
mv hba data/pg_hba.conf
ssl=off
if openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
  -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out cert.pem >>log 2>&1; then
  chmod 600 key.pem
  ssl=on
fi
set +e
"$1/postgres" -D data -p "$2" -k "$dir" -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off \
  -c max_connections=300 -c shared_buffers=32MB -c ssl=$ssl -c ssl_cert_file="$dir/cert.pem" -c ssl_key_file="$dir/key.pem" \
  >>log 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -INT $server
wait $server
cd /
rm -rf "$dir"
"#;

struct Server {
    /// Of its maintenance database.
    url: String,
    own: Option<OwnServer>,
}

/// A server that was started here.
pub(crate) struct OwnServer {
    pub(crate) port: u16,
    /// Its folder, with `cert.pem` if it has TLS, and `log`.
    pub(crate) folder: PathBuf,
    /// With the input whose end stops it.
    _process: Child,
}

/// An empty database, dropped at the end.
pub(crate) struct Database {
    pub(crate) url: String,
    name: String,
}

impl Database {
    /// `None` if there is no PostgreSQL.
    pub(crate) fn create() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = server()?;
        let name = format!("vdx_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        run(&server.url, &format!("CREATE DATABASE {name}")).unwrap();
        Some(Self { url: with_database(&server.url, &name), name })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs SQL without results.
    pub(crate) fn run(&self, sql: &str) {
        run(&self.url, sql).unwrap();
    }

    /// Whether anybody can connect; otherwise, connections that there are end.
    pub(crate) fn accept_connections(&self, accepted: bool) {
        let url = &server().expect("it made the database").url;
        run(url, &format!("ALTER DATABASE {} ALLOW_CONNECTIONS {accepted}", self.name)).unwrap();
        if !accepted {
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname =";
            run(url, &format!("{sql} '{}'", self.name)).unwrap();
        }
    }

    /// The rows of a query, with columns as texts separated by tabs.
    pub(crate) fn rows(&self, sql: &str) -> Vec<String> {
        rows(&self.url, sql).unwrap()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(server) = server() {
            let _ = run(&server.url, &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        }
    }
}

/// The server, if it was started here.
pub(crate) fn own_server() -> Option<&'static OwnServer> {
    server()?.own.as_ref()
}

fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(start).as_ref()
}

fn start() -> Option<Server> {
    if let Ok(url) = std::env::var("VENTUREDEX_TEST_POSTGRES") {
        return Some(Server { url, own: None });
    }
    let Some(programs) = programs() else {
        let wants_all = std::env::var_os("VENTUREDEX_TEST_ALL").is_some_and(|all| all == "1");
        assert!(!wants_all, "PostgreSQL is not installed, but VENTUREDEX_TEST_ALL=1 requires it");
        eprintln!("skipped: PostgreSQL (initdb, postgres) is not installed");
        return None;
    };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // PostgreSQL refuses to run as root.
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.trim_ascii() == b"0");
    let mut command = Command::new(if is_root { "runuser" } else { "sh" });
    if is_root {
        command.args(["-u", "postgres", "--", "sh"]);
    }
    command.args(["-c", SCRIPT, "sh"]).arg(&programs).arg(port.to_string());
    let mut child = command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut folder = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut folder).unwrap();
    let folder = PathBuf::from(folder.trim());
    let url = format!("postgres://postgres@{}:{port}/postgres", folder.to_str().unwrap().replace('/', "%2F"));
    let started = Instant::now();
    while let Err(error) = run(&url, "SELECT 1") {
        let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(started.elapsed() < Duration::from_secs(120), "PostgreSQL did not start: {error}\n{}", log());
        std::thread::sleep(Duration::from_millis(50));
    }
    run(&url, &format!("CREATE ROLE secured LOGIN PASSWORD '{PASSWORD}'")).unwrap();
    Some(Server { url, own: Some(OwnServer { port, folder, _process: child }) })
}

/// The folder of `initdb` and `postgres`: the newest of Debian's, or one of `PATH`.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let number = |folder: &Path| -> u32 {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.parse().ok()).unwrap_or(0)
    };
    let mut folders: Vec<PathBuf> = versions.map(|folder| folder.path()).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(number(folder)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folders.into_iter().map(|folder| folder.join("bin")).chain(std::env::split_paths(&path));
    folders.into_iter().find(|folder| ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file()))
}

/// A URL with another database.
fn with_database(url: &str, name: &str) -> String {
    let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
    let (start, _) = base.rsplit_once('/').unwrap();
    query.map_or_else(|| format!("{start}/{name}"), |query| format!("{start}/{name}?{query}"))
}

fn run(url: &str, sql: &str) -> Result<(), tokio_postgres::Error> {
    rows(url, sql).map(|_| ())
}

fn rows(url: &str, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        let messages = client.simple_query(sql).await?;
        let row = |message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                let columns = (0..row.len()).map(|column| row.get(column).unwrap_or("NULL").to_owned());
                Some(columns.collect::<Vec<_>>().join("\t"))
            }
            _ => None,
        };
        Ok(messages.into_iter().filter_map(row).collect())
    })
}
