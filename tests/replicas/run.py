#!/usr/bin/env python3
"""Three replicas with PostgreSQL and an object store behind HAProxy, with the configuration that `deploy/` has.

    run.py --bin target/release --dataset dataset [--store seaweedfs|moto] [--rounds 10] [--clients 36]

A rolling restart under load loses no request; every request may go to another replica; a replica that is killed costs no more
than what it was working on, and no POST is sent twice.
"""
import argparse, collections, contextlib, http.client, itertools, json, pathlib, signal, ssl, subprocess, sys
import threading, time, urllib.parse

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tests"))
from servers import Servers, free_port

options = argparse.ArgumentParser()
options.add_argument("--bin", type=lambda path: pathlib.Path(path).resolve(), required=True)
options.add_argument("--dataset", type=pathlib.Path, required=True)
options.add_argument("--store", choices=["moto", "seaweedfs"], default="seaweedfs")
options.add_argument("--rounds", type=int, default=10)
options.add_argument("--clients", type=int, default=36)
options = options.parse_args()
servers = Servers("replicas-")
work = servers.work
HOST = "venturedex.example.com"
REVISIONS = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]


def run(program, *words, **more):
    done = subprocess.run([str(options.bin / program), *map(str, words)], capture_output=True, text=True,
                          env={**servers.environment, "VENTUREDEX_DATA": str(work / "operator"),
                               "AWS_SHARED_CREDENTIALS_FILE": str(secrets / "s3-indexer")}, **more)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


class Replica:
    def __init__(self, name):
        self.name, self.port, self.metrics_port = name, free_port(), free_port()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        self.process = servers.start(
            [options.bin / "venturedex", "serve"], f"{self.name}.log", VENTUREDEX_LISTEN=self.address,
            VENTUREDEX_DATA=str(work / f"data-{self.name}"), VENTUREDEX_CACHE=str(work / f"cache-{self.name}"),
            VENTUREDEX_PUBLIC_URL=f"https://{HOST}", VENTUREDEX_TRUSTED_PROXIES="127.0.0.1", VENTUREDEX_INDEX=place,
            VENTUREDEX_TRUST_KEY=str(secrets / "trust-key.pem"), AWS_SHARED_CREDENTIALS_FILE=str(secrets / "s3-replica"),
            # The default of an address that is not on loopback.
            VENTUREDEX_DRAIN_DELAY="5", VENTUREDEX_METRICS_LISTEN=str(self.metrics_port),
            VENTUREDEX_ACCESS_LOG=str(work / f"{self.name}.access"), VENTUREDEX_LOG_FORMAT="json",
            # All clients of the test have one address.
            VENTUREDEX_PAGES_PER_MINUTE="1000000",
            VENTUREDEX_TIERS="anonymous=requests:1000000,rows:1000000000;free=requests:3000000;pro=requests:3000000")

    def await_ready(self):
        servers.wait_for(f"replica {self.name} is ready", 60, lambda: self.get("/readyz") == 200)

    def get(self, path, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=5)
        with contextlib.closing(connection):
            connection.request("GET", path)
            response = connection.getresponse()
            self.body = response.read()
            return response.status

    def served(self):
        """The ids of the requests that it has answered."""
        log = work / f"{self.name}.access"
        return {json.loads(line)["request_id"] for line in log.read_text().splitlines() if line.endswith("}")}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.name


class Client:
    """A connection to the balancer, which is made again only if `keep` says so or the other side has announced its end."""
    tls = ssl._create_unverified_context()

    def __init__(self, keep=True):
        self.keep, self.connection = keep, None

    def send(self, method, path, body=None, **headers):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection("127.0.0.1", https, timeout=40, context=self.tls)
        try:
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            self.connection.request(method, path, body, {"Host": HOST, **headers})
            response = self.connection.getresponse()
            content = response.read()
        except BaseException:
            self.close()
            raise
        if not self.keep or response.will_close:
            self.close()
        return response.status, response.headers, content

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


def keyed(**more):
    return {"Authorization": f"Bearer {key}", **more}


def mcp(client, revision, method, **params):
    """One request to the tools, as a client of a revision sends it."""
    headers = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream"}
    if revision >= "2026-07-28":
        params["_meta"] = {"io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": {}}
        headers["Mcp_Method"] = method
        if method == "tools/call":
            headers["Mcp_Name"] = params["name"]
    elif method == "initialize":
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "replicas", "version": "1"}}
    if method != "initialize":
        headers["MCP_Protocol_Version"] = revision
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    status, headers, body = client.send("POST", "/api/mcp", call, **keyed(**headers))
    answer = json.loads(body)
    assert status == 200 and "result" in answer and not answer["result"].get("isError"), (status, body[:500])
    return status, headers, answer["result"]


numbers = itertools.count(1)


def sign_in(client):
    form = urllib.parse.urlencode({"email": "ada@example.com", "password": "seven quiet herons"})
    status, headers, body = client.send("POST", "/signin", form, Content_Type="application/x-www-form-urlencoded",
                                        Origin=f"https://{HOST}")
    assert status == 303 and "set-cookie" in headers, (status, body[:300])
    return headers["Set-Cookie"].split(";")[0]


def make_key(client):
    """A POST that must not be sent twice: it makes an API key of a name of its own."""
    name = f"key-{next(numbers)}"
    sent.add(name)
    status, *rest = client.send("POST", "/account/keys", urllib.parse.urlencode({"name": name}), Cookie=cookie,
                                Content_Type="application/x-www-form-urlencoded", Origin=f"https://{HOST}")
    if status == 201:
        confirmed.add(name)
    return status, *rest


def resolve(client):
    items = json.dumps({"items": [{"kind": "firm", "name": name} for name in ("Kestrel", "North")]})
    return client.send("POST", "/api/v3/resolve", items, **keyed(Content_Type="application/json"))


KINDS = [
    lambda client: client.send("GET", f"/api/v3/vcs?limit={next(numbers) % 50 + 1}", **keyed()),
    lambda client: client.send("GET", f"/api/v3/startups?q=a{next(numbers) % 97}", **keyed()),
    lambda client: client.send("GET", "/vcs"),
    lambda client: client.send("GET", f"/startups?q=b{next(numbers) % 97}"),
    lambda client: mcp(client, REVISIONS[next(numbers) % 4], "tools/call", name="search_vcs", arguments={"limit": 2}),
    resolve,
]


def is_get(index):
    """Whether a client of the load sends GET."""
    return index >= 2 and index % len(KINDS) < 4


class Load:
    """Clients that send without a pause, with short ones, or over a connection for each request."""

    def __init__(self, number):
        self.done, self.failed, self.counts, self.slowest = threading.Event(), [], collections.Counter(), (0, 0)
        self.threads = [threading.Thread(target=self.run, args=[index]) for index in range(number)]
        for thread in self.threads:
            thread.start()

    def run(self, index):
        client, pause = Client(keep=index % 3 != 2), [0.005, 0.05, 0.5, 2.5][index % 4] if index > 1 else 0.2
        kind = make_key if index < 2 else KINDS[index % len(KINDS)]
        while not self.done.wait(pause):
            began = time.time()
            try:
                status, _, body = kind(client)
                assert status in (200, 201), (status, body[:200])
                self.counts["GET" if is_get(index) else "POST"] += 1
            except Exception as error:
                self.failed.append((began, time.time(), index, repr(error)))
            self.slowest = max(self.slowest, (time.time() - began, index))

    def end(self):
        self.done.set()
        for thread in self.threads:
            thread.join()
        return self


try:
    secrets = work / "secrets"
    subprocess.run([root / "deploy/make-secrets", secrets], check=True)
    store, place = servers.object_store(options.store, secrets / "s3.json")
    servers.environment.update(VENTUREDEX_STORE=servers.postgresql().url)
    run("indexer", "build", "--dataset", options.dataset, "--index", place, "--activate-in", 0, "--cache", work / "indexer",
        "--sign-key", secrets / "sign-key.pem")
    run("venturedex", "account", "create", "--email", "ada@example.com", "--tier", "enterprise", "--password-stdin",
        input="seven quiet herons\n")
    key = run("venturedex", "key", "create", "--email", "ada@example.com", "--name", "load").strip()

    replicas = [Replica(name) for name in "abc"]
    for replica in replicas:
        replica.start()
    for replica in replicas:
        replica.await_ready()
    https = free_port()
    names = {f"REPLICA_{replica.name.upper()}": replica.address for replica in replicas}
    servers.start(["haproxy", "-db", "-f", root / "deploy/haproxy/haproxy.cfg"], "haproxy.log", HTTPS=f"127.0.0.1:{https}",
                  HTTP=f"127.0.0.1:{free_port()}", CERTIFICATE=str(secrets / "tls.pem"), **names)
    servers.wait_for("the balancer", 20, lambda: Client().send("GET", "/readyz")[0] == 200)
    sent, confirmed = set(), set()
    cookie = sign_in(Client())

    # No stickiness. Requests one after another go to one replica after another.
    client, ids = Client(), []
    def at_every_replica(ask):
        for _ in range(3):
            status, headers, body = ask()
            ids.append(headers["X-Request-Id"])
        return body
    path, slugs, pages = "/api/v3/vcs?limit=20", [], 0
    while path:
        status, headers, body = client.send("GET", path, **keyed())
        ids.append(headers["X-Request-Id"])
        body = json.loads(body)
        slugs += [record["slug"] for record in body["data"]]
        path = (cursor := body["pagination"]["next_cursor"]) and f"/api/v3/vcs?limit=20&cursor={cursor}"
        pages += 1
    status, headers, body = client.send("GET", "/api/v2/vcs?limit=1", **keyed())
    total = json.loads(body)["pagination"]["total_pages"]
    assert len(slugs) == len(set(slugs)) == total, (len(slugs), total)
    tags = []
    for path, more in (("/api/v3/vcs?limit=3", keyed()), ("/vcs", {}), ("/api/v3/stats", keyed())):
        tag = client.send("GET", path, **more)[1]["ETag"]
        def conditional():
            answer = client.send("GET", path, If_None_Match=tag, **more)
            assert answer[0] == 304, (path, answer[0])
            return answer
        at_every_replica(conditional)
        tags.append(tag)
    def account():
        answer = client.send("GET", "/account", Cookie=cookie)
        assert answer[0] == 200 and b"ada@example.com" in answer[2], answer[0]
        return answer
    at_every_replica(account)
    for revision in REVISIONS:
        first = "initialize" if revision < "2026-07-28" else "server/discover"
        mcp(client, revision, first)
        results = []
        def call():
            answer = mcp(client, revision, "tools/call", name="get_platform_stats", arguments={})
            results.append(answer[2])
            return answer
        at_every_replica(call)
        assert results[0] == results[1] == results[2]
    time.sleep(1.5)
    by_id = {id_: replica.name for replica in replicas for id_ in replica.served()}
    order = [by_id[id_] for id_ in ids]
    assert all(len(set(order[at:at + 3])) == 3 for at in range(pages - 3)), order
    spread = collections.Counter(order)
    assert len(spread) == 3, spread
    print(f"no stickiness: a list of {len(slugs)} in {pages} pages, {len(tags)} ETags, a session and {len(REVISIONS)} revisions of "
          f"MCP, with every request on another replica: {dict(sorted(spread.items()))}")

    for replica in replicas:
        replica.get("/metrics", replica.metrics_port)
        assert b"venturedex_object_store_generation 1\n" in replica.body, replica.body.decode()

    # Rolling restarts.
    load, began = Load(options.clients), time.time()
    for round_ in range(options.rounds):
        for replica in replicas:
            replica.stop()
            replica.start()
            replica.await_ready()
        print(f"round {round_ + 1}: {sum(load.counts.values())} requests, {len(load.failed)} failed", flush=True)
    load.end()
    seconds = time.time() - began
    assert not load.failed, (len(load.failed), load.failed[:5])
    print(f"{options.rounds} rounds of restarting {len(replicas)} replicas in {seconds:.0f} s: {load.counts['GET']} GET and "
          f"{load.counts['POST']} POST over {options.clients} connections, none failed, "
          f"the slowest in {load.slowest[0]:.2f} s (client {load.slowest[1]})")

    # Killed. A request may reach a process that is about to end.
    kills, load = [], Load(options.clients)
    for replica in replicas:
        time.sleep(3)
        began = time.time()
        replica.process.kill()
        replica.process.wait()
        kills.append((began, time.time()))
        time.sleep(3)
        replica.start()
        replica.await_ready()
    time.sleep(2)
    load.end()
    late = [failure for failure in load.failed if not any(failure[0] <= end and began <= failure[1] for began, end in kills)]
    repeatable = [failure for failure in load.failed if is_get(failure[2])]
    assert not late and not repeatable and len(load.failed) <= options.clients, (late, repeatable, len(load.failed))
    print(f"3 replicas killed: {sum(load.counts.values())} requests, {len(load.failed)} POST failed that were in flight: "
          f"{dict(collections.Counter(error for *_, error in load.failed))}")

    # Each POST was done once at most.
    listed = json.loads(run("venturedex", "key", "list", "--email", "ada@example.com", "--json"))["keys"]
    made = collections.Counter(entry["name"] for entry in listed)
    assert max(made.values()) == 1, made.most_common(3)
    assert confirmed <= set(made) <= sent | {"load"}, (confirmed - set(made), set(made) - sent)
    print(f"{len(confirmed)} of {len(sent)} keys confirmed, {len(made) - 1} made, none twice")
except BaseException:
    servers.show_logs(sys.stderr)
    raise
finally:
    servers.end()
