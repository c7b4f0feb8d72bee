//! The program in a process of its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_venturedex");

/// A data folder.
pub struct Data(TempDir);

impl Data {
    /// With a store, which only a server creates.
    pub fn new() -> Self {
        let data = Self(tempfile::tempdir().expect("a folder"));
        drop(Server::start(&data, None, &[]));
        data
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Stdout of a command of the operator.
    pub fn run(&self, words: &[&str], input: &str) -> String {
        let mut command = Command::new(PROGRAM);
        command.arg("--data").arg(self.path()).args(words);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
        child.stdin.take().expect("stdin").write_all(input.as_bytes()).expect("its input");
        let output = child.wait_with_output().expect("its output");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    /// A header line with a key without a daily limit.
    pub fn key(&self) -> String {
        self.run(&["account", "create", "--email", "load@example.com", "--tier", "enterprise"], "");
        let key = self.run(&["key", "create", "--email", "load@example.com", "--name", "load"], "");
        format!("authorization: Bearer {key}\r\n")
    }

    /// The log of the servers.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path().join("log")).unwrap_or_default()
    }

    fn open_log(&self) -> File {
        File::options().create(true).append(true).open(self.path().join("log")).expect("a log")
    }
}

/// A running server; dropping it kills it.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// On a free port.
    pub fn start(data: &Data, index: Option<&str>, settings: &[&str]) -> Self {
        Self::start_at(0, data, index, settings)
    }

    pub fn start_at(port: u16, data: &Data, index: Option<&str>, settings: &[&str]) -> Self {
        let mut command = Command::new(PROGRAM);
        command.arg("--listen").arg(format!("127.0.0.1:{port}")).stdin(Stdio::null());
        Self::spawn(command, data, index, settings)
    }

    /// On a socket that stays open when the server ends, as systemd hands it over.
    pub fn start_on(listener: &TcpListener, data: &Data, index: Option<&str>, settings: &[&str]) -> Self {
        let socket: OwnedFd = listener.try_clone().expect("a socket").into();
        let mut command = Command::new("sh");
        // The first handed over is descriptor 3; LISTEN_PID names the process that may take it.
        let handed = r#"LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@" 3<&0 </dev/null"#;
        command.args(["-c", handed, PROGRAM]).stdin(socket);
        Self::spawn(command, data, index, settings)
    }

    fn spawn(mut command: Command, data: &Data, index: Option<&str>, settings: &[&str]) -> Self {
        command.arg("--data").arg(data.path()).args(settings);
        match index {
            Some(index) => command.args(["--index", index]),
            // The project may have the default index.
            None => command.current_dir(data.path()),
        };
        let mut child = command.stdout(Stdio::piped()).stderr(data.open_log()).spawn().expect("a server");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        let address = lines.find_map(|line| {
            let line = line.expect("text");
            let (_, address) = line.split_once("http://127.0.0.1:")?;
            address.split('/').next()?.parse().ok().map(|port: u16| SocketAddr::from(([127, 0, 0, 1], port)))
        });
        let address = address.unwrap_or_else(|| panic!("the server did not start: {}", data.log()));
        // The rest is read so that the server never blocks on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    pub fn signal_stop(&self) {
        assert!(Command::new("kill").arg(self.child.id().to_string()).status().expect("kill").success());
    }

    /// Whether it ended as it should after a signal.
    pub fn wait(&mut self) -> bool {
        self.child.wait().expect("its end").success()
    }

    /// Resident memory in MB.
    pub fn resident(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kib.map_or(f64::NAN, |kib| kib * 1_024.0 / 1e6)
    }

    /// Open descriptors.
    pub fn descriptors(&self) -> f64 {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(f64::NAN, |entries| entries.count() as f64)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
