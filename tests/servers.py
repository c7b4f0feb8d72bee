"""Servers that the suites in Python start: processes with a log, an S3 store, PostgreSQL, and the replicas of VentureDex."""
import contextlib, json, os, pathlib, random, shutil, signal, socket, subprocess, sys, tempfile, time


def free_port():
    """SeaweedFS takes the port 10,000 above each of its ports, too."""
    while True:
        port = random.randrange(20_000, 30_000)
        with contextlib.suppress(OSError), socket.socket() as taken, socket.socket() as above:
            taken.bind(("127.0.0.1", port))
            above.bind(("127.0.0.1", port + 10_000))
            return port


class Servers:
    """Processes in a temporary folder, with one environment."""

    def __init__(self, prefix):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        self.environment = dict(os.environ)
        self.processes = []
        self.databases = []

    def start(self, words, log, **variables):
        out = open(self.work / log, "ab")
        process = subprocess.Popen([str(word) for word in words], stdout=out, stderr=out, cwd=self.work,
                                   stdin=subprocess.DEVNULL, start_new_session=True,
                                   env={**self.environment, **variables})
        self.processes.append(process)
        return process

    def wait_for(self, what, seconds, check):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(OSError, ValueError, KeyError):
                if check():
                    return
            time.sleep(0.05)
        raise SystemExit(f"{what}: not within {seconds} seconds; see {self.work}")

    def object_store(self, kind, identities=None):
        """Starts moto (`moto_server`), SeaweedFS (`weed`), both from the PATH, or takes a folder. Returns the process, if there
        is one, and the place of the releases. `identities`: a file of SeaweedFS; without it, the environment gets credentials."""
        if kind == "folder":
            return None, f"file://{self.work}/store"
        port = free_port()
        self.environment.update(AWS_REGION="us-east-1", AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}", AWS_ALLOW_HTTP="true")
        if not identities:
            self.environment.update(AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="testtest")
            identities = self.work / "s3.json"
            identities.write_text(json.dumps({"identities": [{"name": "test", "actions": ["Admin"],
                "credentials": [{"accessKey": "test", "secretKey": "testtest"}]}]}))
        if kind == "moto":
            process = self.start(["moto_server", "-H", "127.0.0.1", "-p", port], "store.log")
            create = ["curl", "-fsS", "-X", "PUT", f"http://127.0.0.1:{port}/releases"]
        else:
            ports = [free_port() for _ in range(3)]
            (self.work / "weed").mkdir()
            process = self.start(["weed", "server", "-ip=127.0.0.1", f"-dir={self.work}/weed", "-s3", f"-s3.port={port}",
                                  f"-s3.config={identities}", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false",
                                  f"-master.port={ports[0]}", f"-volume.port={ports[1]}", f"-filer.port={ports[2]}",
                                  "-volume.max=100", "-master.volumeSizeLimitMB=64"], "store.log")
            create = ["sh", "-c", f"echo s3.bucket.create -name releases | timeout 5 weed shell -master=127.0.0.1:{ports[0]}"]
        self.wait_for("the store", 60, lambda: socket.create_connection(("127.0.0.1", port), 1).close() is None)
        # The one request that the program does not make.
        self.wait_for("the bucket", 60, lambda: subprocess.run(create, capture_output=True).returncode == 0)
        return process, "s3://releases/production"

    def postgresql(self, words=(), **variables):
        """Starts PostgreSQL; `words` precede its command."""
        self.databases.append(PostgreSQL(self, words, variables))
        return self.databases[-1]

    def show_logs(self, out):
        for log in sorted(self.work.glob("*.log")):
            print(f"-- {log}\n{log.read_text(errors='replace')[-1500:]}", file=out)

    def stop(self):
        for database in self.databases:
            database.end()
        for process in self.processes:
            # With what it started: `faketime` waits for the program, which would go on.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.databases, self.processes = [], []

    def end(self):
        self.stop()
        # After a failure the logs stay.
        if not sys.exc_info()[0]:
            shutil.rmtree(self.work, ignore_errors=True)


class PostgreSQL:
    """A server in a folder of its own, which it alone may read."""

    def __init__(self, servers, words, variables):
        self.servers, self.words, self.variables = servers, words, variables
        self.programs = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        # It refuses to run as root.
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        self.folder, self.port = pathlib.Path(tempfile.mkdtemp(prefix="postgresql-")), free_port()
        if self.as_user:
            shutil.chown(self.folder, "postgres")
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        command = [*self.as_user, self.programs / "initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust",
                   "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(command, cwd="/", check=True, capture_output=True)
        self.start()

    def start(self):
        command = [*self.as_user, *self.words, self.programs / "postgres", "-D", self.folder / "data", "-p", self.port,
                   "-k", self.folder, "-c", "fsync=off", "-c", "listen_addresses=127.0.0.1"]
        self.process = self.servers.start(command, "postgresql.log", **self.variables)
        self.servers.wait_for("PostgreSQL", 60, lambda: self.sql("SELECT 1") == ["1"])

    def stop(self):
        os.kill(int((self.folder / "data/postmaster.pid").read_text().split()[0]), signal.SIGINT)
        self.process.wait()
        self.servers.processes.remove(self.process)

    def sql(self, sql):
        """The rows, with columns separated by `|`; none if it cannot be reached."""
        words = ["psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-XAtc", sql]
        done = subprocess.run(words, capture_output=True, text=True)
        return done.stdout.splitlines() if done.returncode == 0 else None

    def end(self):
        if self.process in self.servers.processes:
            self.stop()
        shutil.rmtree(self.folder)
