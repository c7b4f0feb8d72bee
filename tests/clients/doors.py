"""What each door of the service yields in a minute and a day, to callers without a key and of each tier, from one address
and from the hundred of one network. Starts servers of the real or the bundled data, prints a table, and fails if a caller
gets as much as one of a higher tier somewhere.

    python3 tests/clients/doors.py --bin target/release [--index DIR] [--measure]

With `--measure` it only prints the table. A caller's day is walked to its end where that takes few requests; where it takes
many, it is the yield of one request times the requests that the quota has.
"""
import argparse, gzip, http.client, json, pathlib, re, subprocess, sys, time, urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from servers import Servers, free_port

NETWORK = [f"198.51.100.{host}" for host in range(1, 101)]
TIERS = ["free", "pro", "enterprise"]
REQUESTS = {"free": 100, "pro": 5_000, "enterprise": float("inf")}
# Requests and seconds after which a walk gives up: there is no limit of a day.
GIVES_UP, LONGEST = 4_000, 60


class Caller:
    def __init__(self, port, key=None, addresses=("198.51.100.1",)):
        self.port, self.key, self.addresses, self.connection = port, key, addresses, None

    def send(self, number, method, path, body=None, headers=()):
        headers = {"X-Forwarded-For": self.addresses[number % len(self.addresses)], **dict(headers)}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        for _ in range(200):
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            try:
                self.connection.request(method, path, body and body.encode(), headers)
                response = self.connection.getresponse()
                text = response.read()
            except (http.client.HTTPException, ConnectionError):
                self.connection = None
                continue
            if response.status != 503:
                return response.status, {name.lower(): value for name, value in response.getheaders()}, text
            time.sleep(0.1)
        raise SystemExit(f"{path}: 503")


def of_json(text):
    return len(json.loads(text)["data"])


def of_lines(text):
    return max(len(text.splitlines()) - 1, 0)


def of_ndjson(text):
    return len(text.splitlines())


def of_table(text):
    # There are further tables below the list.
    return min(max(text.count(b"<tr") - 1, 0), 100)


def of_markdown(text):
    return max(sum(line.startswith(b"| ") for line in text.splitlines()) - 2, 0)


def of_tool(text):
    result = json.loads(text)["result"].get("structuredContent", {})
    return len(result["items"]) if "items" in result else 1


def one(_):
    return 1


def doors(names, slugs, version):
    """Each door: its name, the request with a number, and the records of a response."""
    pages = lambda number: number % 400 + 1
    name = lambda number: urllib.parse.quote(names[number % len(names)])
    slug = lambda number: slugs[number % len(slugs)]
    get = lambda path: lambda number: ("GET", path(number))
    prefix = lambda number: names[number % len(names)][:2].lower()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    def batch(number):
        items = [{"name": names[(number * 500 + item) % len(names)]} for item in range(500)]
        return "POST", "/api/v3/resolve", json.dumps({"items": items}), {"Content-Type": "application/json"}
    def reconcile(number):
        queries = {f"q{item}": {"query": names[(number * 100 + item) % len(names)]} for item in range(100)}
        return "POST", "/reconcile", urllib.parse.urlencode({"queries": json.dumps(queries)}), form
    def sheet(number):
        text = "\n".join(names[(number * 100 + item) % len(names)] for item in range(100))
        parts = [f'--part\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in
                 [("text", text), ("format", "csv")]]
        return "POST", "/resolve", "".join(parts) + "--part--\r\n", {"Content-Type": "multipart/form-data; boundary=part"}
    def tool(name, arguments):
        def call(number):
            params = {"name": name, "arguments": arguments(number)}
            body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            return "POST", "/api/mcp", json.dumps(body), {"Content-Type": "application/json"}
        return call
    def completion(number):
        params = {"ref": {"type": "ref/resource", "uri": "venturedex://vcs/{slug}"}, "argument": {"name": "slug", "value": prefix(number)}}
        body = {"jsonrpc": "2.0", "id": number, "method": "completion/complete", "params": params}
        return "POST", "/api/mcp", json.dumps(body), {"Content-Type": "application/json"}
    return [
        ("REST v1 list", get(lambda n: f"/api/v1/vcs?limit=100&offset={100 * n % 8_000}"), of_json),
        ("REST v2 list", get(lambda n: f"/api/v2/vcs?limit=100&page={n % 80 + 1}"), of_json),
        ("REST v3 list", get(lambda n: f"/api/v3/startups?limit=1000&founded_to={2024 - n % 9}"), of_json),
        ("REST v3 file", get(lambda n: f"/api/v3/startups.csv?limit=1000&founded_to={2024 - n % 9}"), of_lines),
        ("REST v3 record", get(lambda n: f"/api/v3/vcs/{slug(n)}"), one),
        ("REST look-up", get(lambda n: f"/api/v3/resolve?name={name(n)}"), one),
        ("REST look-up, batch", batch, of_json),
        ("REST /suggest", get(lambda n: f"/api/v3/suggest?limit=100&q={urllib.parse.quote(prefix(n))}"), of_json),
        ("bulk file", get(lambda n: f"/data/{version}/startups.csv.gz"), lambda text: of_lines(gzip.decompress(text))),
        ("pages: list", get(lambda n: f"/startups?per_page=100&page={pages(n)}"), of_table),
        ("pages: record", get(lambda n: f"/vcs/{slug(n)}"), one),
        ("pages: /suggest", get(lambda n: f"/suggest?q={urllib.parse.quote(prefix(n))}"), lambda text: len(json.loads(text)["names"])),
        ("pages: look-up", sheet, of_lines),
        ("twin .json, list", get(lambda n: f"/startups.json?per_page=100&page={pages(n)}"), of_json),
        ("twin .md, list", get(lambda n: f"/startups.md?per_page=100&page={pages(n)}"), of_markdown),
        ("twin .csv, list", get(lambda n: f"/startups.csv?page={pages(n) % 17 + 1}"), of_lines),
        ("twin .json, record", get(lambda n: f"/vcs/{slug(n)}.json"), one),
        ("feed .atom", get(lambda n: f"/rounds.atom?since={2000 + n % 20}-01-01"), lambda text: text.count(b"<entry>")),
        ("feed .json", get(lambda n: f"/rounds/feed.json?since={2000 + n % 20}-01-01"), lambda text: len(json.loads(text)["items"])),
        ("MCP search", tool("search_startups", lambda n: {"limit": 50, "fields": ["name"]}), of_tool),
        ("MCP profile", tool("get_vc_profile", lambda n: {"slug": slug(n)}), of_tool),
        ("MCP completion", completion, lambda text: len(json.loads(text)["result"]["completion"]["values"])),
        ("reconciliation", reconcile, lambda text: len(json.loads(text))),
        ("reconciliation, suggest", get(lambda n: f"/reconcile/suggest/entity?prefix={urllib.parse.quote(prefix(n))}"),
         lambda text: len(json.loads(text)["result"])),
        ("reconciliation, preview", get(lambda n: f"/reconcile/preview?id=vcs/{slug(n)}"), one),
    ]


def walk(caller, request, count):
    """The records until the first refusal, and seconds to wait after it; -1 if there was none."""
    records, refused, started = 0, 0, time.monotonic()
    for number in range(GIVES_UP):
        status, headers, text = caller.send(number, *request(number))
        if status == 429:
            # Each address of a network may have its own limit.
            refused += 1
            if refused >= len(caller.addresses):
                return records, int(headers.get("retry-after", 86_400))
            continue
        refused = 0
        if status in (401, 403):
            return 0, 0
        if status != 200:
            raise SystemExit(f"{request(number)[:2]}: {status} {text[:300]}")
        records += count(text)
        if records > 3_000_000 or time.monotonic() - started > LONGEST:
            break
    return records, -1


def key_yields(caller, request, count, limit):
    """Records in a day with a key: those of a request times the requests that the quota has."""
    best, cost = 0, 1
    for number in range(3):
        status, headers, text = caller.send(number, *request(number))
        if status == 429 and best:
            break
        if status != 200:
            raise SystemExit(f"{request(number)[:2]}: {status} {text[:300]}")
        cost = int(headers.get("x-request-cost") or 0)
        best = max(best, count(text))
    if cost == 0:
        # The key does not count here: it is as without one.
        return None
    return best * (limit if limit == float("inf") else limit // cost)


def shown(number):
    if number is None:
        return "as none"
    return "no limit" if number == float("inf") else f"{number:,}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--index", type=pathlib.Path)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    binary = (options.bin / "venturedex").resolve()
    servers = Servers("doors-")
    try:
        failures = measure(servers, binary, options)
    finally:
        servers.end()
    if failures and not options.measure:
        raise SystemExit("\n".join(failures))


def start(servers, binary, options, *words):
    port, data = free_port(), servers.work / f"data-{len(servers.processes)}"
    index = ["--index", options.index.resolve()] if options.index else []
    # Records are measured here, and the price of work elsewhere.
    servers.start([binary, "--data", data, "--listen", f"127.0.0.1:{port}", "--trusted-proxies", "127.0.0.1",
                   "--work-per-request", "1000", *index, *words], f"server-{port}.log")
    def is_ready():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    servers.wait_for("the server", 120, is_ready)
    return port, data


def create_keys(binary, data, count):
    keys = {}
    for tier in TIERS:
        for number in range(count):
            account = ["--email", f"{tier}{number}@example.com"]
            subprocess.run([binary, "--data", data, "account", "create", *account, "--tier", tier], check=True, capture_output=True)
            made = subprocess.run([binary, "--data", data, "key", "create", *account, "--name", "doors"], check=True, capture_output=True, text=True)
            keys[tier, number] = made.stdout.strip()
    return keys


def measure(servers, binary, options):
    # One server as it is, and one that has no limit of a minute, so that a day is walked at once.
    minute, data = start(servers, binary, options)
    day, day_data = start(servers, binary, options, "--pages-per-minute", "1000000")
    keys = create_keys(binary, day_data, 30)
    time.sleep(1)
    probe = Caller(day, keys["enterprise", 0])
    def read(path):
        status, _, text = probe.send(0, "GET", path)
        assert status == 200, (path, status, text[:200])
        return json.loads(text)
    firms = read("/api/v3/vcs?limit=1000&fields=name,slug")
    names, slugs = [firm["name"] for firm in firms["data"]], [firm["slug"] for firm in firms["data"]]
    version = firms["meta"]["snapshot"]
    print(f"{'door':<25}{'minute, no key':>15}{'day, no key':>14}{'100 addresses':>15}{'free':>12}{'pro':>14}{'enterprise':>12}")
    failures, yields, found = [], {}, doors(names, slugs, version)
    for place, (door, request, count) in enumerate(found):
        if not re.search(options.only, door):
            continue
        # An address, and a network, of its own for each door.
        alone = [f"203.0.{place}.1"]
        network = [f"192.{place + 10}.7.{host}" for host in range(1, 101)]
        in_minute, wait = walk(Caller(minute, addresses=alone), request, count)
        if wait > 60 or wait == 0:
            in_day = in_minute
        else:
            in_day, wait = walk(Caller(day, addresses=alone), request, count)
            if wait == -1:
                in_day = in_minute * 1_440 if in_minute else float("inf")
        if wait == -1:
            of_network = in_day * 100
        else:
            of_network, _ = walk(Caller(day, addresses=network), request, count)
        with_key = [key_yields(Caller(day, keys[tier, place % 30]), request, count, REQUESTS[tier]) for tier in TIERS]
        print(f"{door:<25}" + "".join(f"{shown(number):>{width}}" for number, width in
              zip([in_minute, in_day, of_network, *with_key], [15, 14, 15, 12, 14, 12])), flush=True)
        yields[door] = with_key
        failures += compare(door, in_day, of_network, yields)
    return failures


# Doors where a key counts nothing, because they are for people: the door at which a key gets most of the same.
PEOPLE = {"pages: list": "REST v3 file", "pages: record": "REST v3 file", "reconciliation, preview": "REST v3 file",
          "pages: /suggest": "REST /suggest", "reconciliation, suggest": "REST /suggest"}


def compare(door, in_day, of_network, yields):
    """What is not in order: each caller must get more than the one before."""
    free, pro, enterprise = yields.get(PEOPLE.get(door, door), [None] * 3)
    if free is None and door == "MCP completion":
        # With a key it is not counted at all.
        return [] if in_day < float("inf") else [f"{door}: no limit without a key"]
    steps = [("without a key", in_day, free), ("100 addresses without a key", of_network, free), ("free", free, pro),
             ("pro", pro, enterprise)]
    return [f"{door}: {lower} gets {shown(less)}, and the next caller {shown(more)}" for lower, less, more in steps
            if less is None or more is None or not less < more]


main()
