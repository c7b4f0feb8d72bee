#!/usr/bin/env python3
"""Three replicas follow an object store into which indexers push.

    run.py --bin target/release --dataset dataset --store moto|seaweedfs|folder [--rounds 50] [--pushes 20]

moto (`moto_server`) and SeaweedFS (`weed`) are looked for on the PATH and started here.
"""
import argparse, json, pathlib, random, re, shutil, signal, subprocess, sys, threading, time, urllib.error, urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from servers import Servers

options = argparse.ArgumentParser()
options.add_argument("--bin", type=lambda path: pathlib.Path(path).resolve(), required=True)
options.add_argument("--dataset", type=pathlib.Path, required=True)
options.add_argument("--store", choices=["moto", "seaweedfs", "folder"], required=True)
options.add_argument("--rounds", type=int, default=50)
options.add_argument("--pushes", type=int, default=20)
options = options.parse_args()
servers = Servers("object-store-")
work, start, wait_for = servers.work, servers.start, servers.wait_for


def indexer(*words, cache="indexer", check=True):
    done = subprocess.run([str(options.bin / "indexer"), *map(str, words), "--index", place], capture_output=True, text=True,
                          env={**servers.environment, "VENTUREDEX_CACHE": str(work / cache)})
    if check and done.returncode:
        raise SystemExit(f"indexer {words}: {done.stderr[-2000:]}")
    return done


def push(number, cache="indexer", check=True, activate_in=3):
    return indexer("build", "--dataset", options.dataset, "--release", f"2026-11-20.{number}", "--activate-in", activate_in,
                   "--json", cache=cache, check=check)


class Replica:
    def __init__(self, name):
        self.name = name
        if not (work / f"data-{name}").exists():
            shutil.copytree(work / "data", work / f"data-{name}")
        self.start()

    def start(self):
        log = work / f"{self.name}.log"
        began = log.stat().st_size if log.exists() else 0
        self.process = start([options.bin / "venturedex", "--listen", "127.0.0.1:0", "--data", work / f"data-{self.name}",
                              "--index", place, "--keep-releases", 20], f"{self.name}.log",
                             VENTUREDEX_CACHE=str(work / f"cache-{self.name}"))
        address = lambda: re.search(rb"REST +(http://127\.0\.0\.1:\d+)", log.read_bytes()[began:])
        wait_for("an address", 30, address)
        self.base = address()[1].decode()

    def get(self, path):
        """Status, headers and body."""
        request = urllib.request.Request(self.base + path, headers={"Authorization": f"Bearer {key}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, response.headers, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, error.headers, json.loads(error.read() or b"null")

    def serves(self):
        status, _, body = self.get("/api/v3/vcs?limit=1")
        return body["meta"]["snapshot"] if status == 200 else None

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        servers.processes.remove(self.process)


def version(number):
    return f"2026-11-20.{number}"


def walk(seed):
    """Reads a list to its end, each page from a random replica. Returns the slugs."""
    rng = random.Random(seed)
    slugs, path, waits = [], "/api/v3/vcs?limit=100", 0
    while True:
        replica = rng.choice(replicas)
        status, headers, body = replica.get(path)
        if status == 503:
            assert headers["Retry-After"], headers
            waits += 1
            assert waits < 100, body
            time.sleep(0.2)
            continue
        assert status == 200, (replica.name, status, body)
        slugs += [record["slug"] for record in body["data"]]
        cursor = body["pagination"]["next_cursor"]
        if cursor is None:
            return slugs, waits
        path = f"/api/v3/vcs?limit=100&cursor={cursor}"
        time.sleep(rng.random() * 0.4)


try:
    store, place = servers.object_store(options.store)
    operator = [str(options.bin / "venturedex"), "--data", str(work / "data")]
    subprocess.run([*operator, "account", "create", "--email", "store@example.com", "--tier", "enterprise"], check=True,
                   capture_output=True)
    key = subprocess.run([*operator, "key", "create", "--email", "store@example.com", "--name", "store"], check=True,
                         capture_output=True, text=True).stdout.strip()

    doctor = subprocess.run([*operator, "doctor", "--json", "--object-store", place], capture_output=True, text=True,
                            env=servers.environment)
    probe = [f for f in json.loads(doctor.stdout)["findings"] if f["check"] == "object_store.writes"]
    assert [f["status"] for f in probe] == ["ok"], probe

    # Without a release nothing is served, least of all invented data.
    empty = Replica("empty")
    assert empty.get("/api/v3/vcs")[0] == 503 and empty.get("/readyz")[0] == 503
    empty.stop()

    first = json.loads(push(1).stdout)["pushed"]
    replicas = [Replica(name) for name in "abc"]
    for replica in replicas:
        wait_for("the first release", 20, lambda: replica.serves() == version(1))
    began = time.monotonic()
    second = json.loads(push(2).stdout)["pushed"]
    pushed = time.monotonic()
    for replica in replicas:
        wait_for("the second release on all", 10, lambda: replica.serves() == version(2))
    print(f"pushed in {pushed - began:.1f} s, served by all three {time.monotonic() - pushed:.1f} s later; "
          f"{first['bytes']} bytes for the first release, {second['bytes']} for the second")
    assert second["bytes"] * 10 <= first["bytes"], (first, second)

    # Of sixteen that push at once one wins, and the others say who.
    for number in range(3, 3 + 16):
        shutil.copytree(work / "indexer", work / f"indexer-{number}")
    for round_ in range(options.rounds):
        results = [None] * 16
        def race(index):
            results[index] = indexer("activate", version(1 + round_ % 2), cache=f"indexer-{index + 3}", check=False)
        threads = [threading.Thread(target=race, args=[index]) for index in range(16)]
        before = json.loads(indexer("list", "--json").stdout)["current"]["generation"]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        codes = sorted({result.returncode for result in results})
        assert set(codes) <= {0, 4}, [result.stderr for result in results]
        won = sum(result.returncode == 0 for result in results)
        after = json.loads(indexer("list", "--json").stdout)["current"]["generation"]
        # Who reads `current` after another has won is no loser: each win raises the generation by one, none is lost.
        assert after - before == won >= 1, (before, after, won)
        assert all("another indexer has made" in result.stderr for result in results if result.returncode), results
    print(f"{options.rounds} rounds of 16 indexers: every win is a generation, the others were told who won")

    # Cursors, with a release a few seconds.
    indexer("activate", version(2))
    expected = None
    failures, walks, waited = [], [], 0
    done = threading.Event()
    def read(seed):
        global waited
        while not done.is_set():
            try:
                slugs, waits = walk(seed)
            except Exception as error:
                failures.append(repr(error))
                return
            seed += 100
            walks.append(slugs)
            waited += waits
    readers = [threading.Thread(target=read, args=[seed]) for seed in range(6)]
    for reader in readers: reader.start()
    for number in range(3, 3 + options.pushes):
        push(number, activate_in=2)
        assert not failures, failures
    # One that starts during a push serves the old release or the new.
    pushing = threading.Thread(target=push, args=[3 + options.pushes])
    pushing.start()
    late = Replica("late")
    wait_for("a release", 30, lambda: late.serves() is not None)
    assert late.serves() in (version(2 + options.pushes), version(3 + options.pushes)), late.serves()
    pushing.join()
    done.set()
    for reader in readers: reader.join()
    assert not failures, failures
    expected = sorted(walks[0])
    assert len(set(expected)) == len(expected)
    assert all(sorted(slugs) == expected for slugs in walks), "a record is missing or there twice"
    print(f"{len(walks)} walks over {len(expected)} records across {options.pushes} pushes: each once, no 410; {waited} waits")

    # The store away: what is there is served, also after a restart.
    newest = version(3 + options.pushes)
    for replica in [*replicas, late]:
        wait_for("the last release", 20, lambda: replica.serves() == newest)
    if store:
        store.kill()
        store.wait()
    else:
        (work / "store").rename(work / "away")
    assert replicas[0].serves() == newest
    replicas[0].stop()
    replicas[0].start()
    wait_for("the release after a restart without the store", 20, lambda: replicas[0].serves() == newest)
    empty = Replica("new")
    time.sleep(2)
    assert empty.get("/api/v3/vcs")[0] == 503
    print("without the store: served, served after a restart, 503 on an empty replica")
except BaseException:
    servers.show_logs(sys.stderr)
    raise
finally:
    servers.end()
