#!/usr/bin/env python3
"""Three servers share a PostgreSQL store: under load, killed, with clocks that differ, and while the database is away.

    run.py --bin target/release [--only quota|kills|midnight|outage|guesses|latency]

Needs Debian's PostgreSQL, and `faketime` for midnight.
"""
import argparse, contextlib, datetime, http.client, pathlib, random, signal, statistics, subprocess, sys, tempfile, threading
import time, urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from servers import Servers, free_port

options = argparse.ArgumentParser()
options.add_argument("--bin", type=pathlib.Path, required=True)
options.add_argument("--only")
options = options.parse_args()
host = Servers("store-")
CLIENTS, TRIES, LIMIT = 64, 20_000, 5_000


def clock(start):
    """The words and variables with which a program's clock begins at `start`, a UTC time; timers run on as they are."""
    if start is None:
        return [], {}
    return ["faketime", "-f", start.strftime("@%Y-%m-%d %H:%M:%S")], {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": "UTC"}


def create_key(name, tier, *store):
    email = f"{name}@example.com"
    for words in (["account", "create", "--tier", tier], ["key", "create", "--name", name]):
        command = [str(options.bin.resolve() / "venturedex"), *words, "--email", email, *store]
        done = subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout.strip()


class Server:
    def __init__(self, database, start=None):
        self.database, self.begin = database, start
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="server-", dir=host.work))
        self.port = free_port()
        self.start()

    def start(self):
        words, variables = clock(self.begin)
        command = [*words, options.bin.resolve() / "venturedex", "--listen", f"127.0.0.1:{self.port}", "--data", self.folder / "data",
                   "--store", self.database.url]
        self.process = host.start(command, f"{self.folder.name}.log", **variables)
        host.wait_for("a server", 60, lambda: self.once("GET", "/readyz")[0] == 200)

    def once(self, method, path, **request):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request(method, path, **request)
            response = connection.getresponse()
            return response.status, response.headers, response.read()

    def kill(self):
        self.process.kill()
        self.process.wait()
        host.processes.remove(self.process)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(30) == 0
        host.processes.remove(self.process)


class Client(threading.Thread):
    """Sends requests, each to the next server, and keeps status, time and day of the answers."""

    def __init__(self, number, servers, key, tries, pause=0.0, until=None):
        super().__init__(daemon=True)
        self.number, self.servers, self.tries, self.pause, self.until = number, servers, tries, pause, until
        self.headers = {"Authorization": f"Bearer {key}"}
        self.answers, self.connections = [], {}

    def run(self):
        for number in range(self.tries):
            if self.until and time.monotonic() > self.until:
                return
            server = self.servers[(self.number + number) % len(self.servers)]
            began = time.monotonic()
            try:
                connection = self.connections.setdefault(server, http.client.HTTPConnection("127.0.0.1", server.port, timeout=20))
                connection.request("GET", "/api/v3/vcs?limit=1", headers=self.headers)
                response = connection.getresponse()
                response.read()
                reset = response.headers["X-RateLimit-Reset"]
                self.answers.append((response.status, time.monotonic() - began, reset, response.headers["Retry-After"]))
            except (OSError, http.client.HTTPException) as error:
                self.connections.pop(server, None)
                self.answers.append((type(error).__name__, time.monotonic() - began, None, None))
            if self.pause:
                time.sleep(self.pause)


def load(servers, key, tries=TRIES, pause=0.0, seconds=None, meanwhile=None, number=CLIENTS):
    """The answers of all clients; `meanwhile` runs at the same time."""
    until = time.monotonic() + seconds if seconds else None
    each = 10**9 if seconds else tries // number
    clients = [Client(client, servers, key, each, pause, until) for client in range(number)]
    for client in clients:
        client.start()
    if meanwhile:
        meanwhile(clients)
    for client in clients:
        client.join()
    return [answer for client in clients for answer in client.answers]


def counts(answers):
    found = {}
    for status, *_ in answers:
        found[status] = found.get(status, 0) + 1
    return found


def quota():
    """Three servers admit exactly the limit, and store that many as used."""
    database = host.postgresql()
    key = create_key("quota", "pro", "--store", database.url)
    servers = [Server(database) for _ in range(3)]
    found = counts(load(servers, key))
    assert set(found) == {200, 429} and found[200] == LIMIT, found
    for server in servers:
        server.stop()
    assert database.sql("SELECT sum(requests) FROM usage") == [str(LIMIT)], database.sql("SELECT * FROM usage")
    print(f"quota: {found[200]} of {sum(found.values())} admitted, {found[429]} refused")


def kills():
    """With `kill -9` of a random server every two seconds, never more than the limit is admitted."""
    database = host.postgresql()
    key = create_key("kills", "pro", "--store", database.url)
    servers = [Server(database) for _ in range(3)]
    killed = 0

    def meanwhile(clients):
        nonlocal killed
        rng = random.Random(1)
        while any(client.is_alive() for client in clients):
            time.sleep(2)
            server = rng.choice(servers)
            server.kill()
            killed += 1
            server.start()

    answers = load(servers, key, pause=0.05, tries=TRIES, meanwhile=meanwhile)
    # Whatever is left is requested, too.
    answers += load(servers, key, tries=TRIES)
    found = counts(answers)
    assert found[429] and 0.5 * LIMIT < found[200] <= LIMIT, found
    print(f"kills: {found[200]} of at most {LIMIT} admitted, {killed} servers killed, {found}")


def midnight():
    """Clocks ten minutes apart: the database decides which day it is, and each day has its limit."""
    start = datetime.datetime(2026, 11, 24, 23, 59, 30)
    words, variables = clock(start)
    database = host.postgresql(words, **variables)
    key = create_key("midnight", "pro", "--store", database.url)
    began = time.monotonic()
    apart = [datetime.timedelta(minutes=minutes) for minutes in (-10, 0, 10)]
    servers = [Server(database, start + offset + datetime.timedelta(seconds=time.monotonic() - began)) for offset in apart]
    answers = load(servers, key, pause=0.02, seconds=max(45 - (time.monotonic() - began), 10) + 15)
    found = counts(answers)
    days = {}
    for status, _, reset, _ in answers:
        if status == 200:
            days[reset] = days.get(reset, 0) + 1
    assert set(found) == {200, 429}, found
    assert sorted(days.values()) == [LIMIT, LIMIT], days
    for server in servers:
        server.process.send_signal(signal.SIGTERM)
    print(f"midnight: {days}, {found}")


def outage():
    """The database is stopped for half a minute under load: known keys see no 5xx, and what was admitted is counted afterwards."""
    database = host.postgresql()
    # A key of another store: nobody can know whether it is valid here.
    key = create_key("outage", "pro", "--store", database.url)
    unknown = create_key("unknown", "pro", "--data", host.work / "other")
    servers = [Server(database) for _ in range(3)]
    load(servers, key, tries=640)
    late = None

    def meanwhile(_):
        nonlocal late
        time.sleep(2)
        database.stop()
        time.sleep(2)
        ready = servers[0].once("GET", "/readyz")
        assert b"degraded" in ready[2], ready
        status, _, body = servers[0].once("GET", "/api/v3/vcs", headers={"Authorization": f"Bearer {unknown}"})
        assert status == 503, body
        form = urllib.parse.urlencode({"email": "a@example.com", "password": "seven quiet herons"})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{servers[1].port}"}
        began = time.monotonic()
        status, _, _ = servers[1].once("POST", "/signin", body=form, headers=headers)
        late = time.monotonic() - began
        assert status == 503 and late < 1, (status, late)
        time.sleep(26)
        database.start()

    answers = load(servers, key, pause=0.2, seconds=40, meanwhile=meanwhile)
    found = counts(answers)
    assert set(found) <= {200, 429}, found
    assert all(after == "5" for status, _, _, after in answers if status == 429), "only until the database is back"
    time.sleep(3)
    answers = load(servers, key)
    found[200] = found[200] + 640 + counts(answers).get(200, 0)
    for server in servers:
        server.stop()
    used = int(database.sql("SELECT sum(requests) FROM usage")[0])
    # Each server's allowance is a tenth of the limit.
    assert used == found[200] <= LIMIT + 3 * LIMIT // 10, (used, found)
    print(f"outage: {found}, {used} counted, at most {LIMIT + 3 * LIMIT // 10}; a form was refused after {late * 1000:.0f} ms")


def guesses():
    """Three servers give no more guesses of a password than one."""
    database = host.postgresql()
    servers = [Server(database) for _ in range(3)]
    found = {}
    for number in range(45):
        server = servers[number % 3]
        form = urllib.parse.urlencode({"email": "ada@example.com", "password": f"wrong password {number}"})
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": f"http://127.0.0.1:{server.port}"}
        status, _, _ = server.once("POST", "/signin", body=form, headers=headers)
        found[status] = found.get(status, 0) + 1
    assert found.get(429) == 35 and sum(found.values()) == 45, found
    print(f"guesses: {found}")


def latency():
    """What leases add to a request: the same load with a key that has a limit, and with one that has none, alternately."""
    database = host.postgresql()
    unlimited = create_key("unlimited", "enterprise", "--store", database.url)
    servers = [Server(database) for _ in range(3)]
    times = {"leased": [], "unlimited": []}
    # Few clients, at a rate that the machine sustains, so that neither the servers nor the clients wait for themselves.
    for account in range(3):
        keys = {"leased": create_key(f"leased-{account}", "pro", "--store", database.url), "unlimited": unlimited}
        for turn in range(8):
            for name in sorted(times, reverse=turn % 2 == 0):
                answers = load(servers, keys[name], tries=480, pause=0.03, number=4)
                assert set(counts(answers)) == {200}, counts(answers)
                times[name] += [seconds for _, seconds, _, _ in answers]
    at = lambda name, share: statistics.quantiles(times[name], n=1000)[int(share * 1000) - 1] * 1000
    text = ", ".join(f"p{share * 100:g} {at('unlimited', share):.2f} → {at('leased', share):.2f} ms" for share in (0.5, 0.9, 0.99))
    print(f"latency: {text}")


try:
    for suite in (quota, kills, midnight, outage, guesses, latency):
        if options.only in (None, suite.__name__):
            suite()
            host.stop()
except BaseException:
    host.show_logs(sys.stderr)
    raise
finally:
    host.end()
