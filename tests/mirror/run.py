#!/usr/bin/env python3
"""Keeps copies of the data through releases: by `/changes` alone, and by the ETags of bulk files alone. After each release,
both must equal the release. `run.py --bin DIR --dataset DIR [--releases 20]`; needs nothing but Python."""

import argparse
import csv
import gzip
import json
import random
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import date, timedelta
from pathlib import Path

TABLES = {"vcs": "slug", "startups": "slug", "funding-rounds": "id", "people": "slug", "reviews": "id", "sectors": "slug"}
# Composed from other tables, or about the record: no part of a record's own copy.
JOINED = {table: ("first_seen", "changed_in") for table in TABLES}
JOINED["vcs"] += ("coverage_until",)
JOINED["startups"] += ("coverage_until", "rounds", "people")


class Client:
    def __init__(self, base, key):
        self.base, self.key, self.requests, self.unchanged, self.bytes = base, key, 0, 0, 0

    def get(self, path, headers=()):
        """Status, headers and body; each request and each redirect counts."""
        request = urllib.request.Request(self.base + path, headers={"Authorization": f"Bearer {self.key}", **dict(headers)})
        self.requests += 1
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                self.requests += response.url != self.base + path
                body = response.read()
                self.bytes += len(body)
                return response.status, response.headers, body
        except urllib.error.HTTPError as error:
            if error.code == 304:
                self.unchanged += 1
                return 304, error.headers, b""
            raise SystemExit(f"{path}: {error.code} {error.read().decode()[:500]}") from None

    def json(self, path):
        return json.loads(self.get(path)[2])

    def walk(self, path):
        """All items of a list, and the last response."""
        items, page = [], self.json(f"/api/v3/{path}")
        while True:
            items += page["data"]
            cursor = page["pagination"]["next_cursor"]
            if not cursor:
                return items, page
            page = self.json(f"/api/v3/{path.split('?')[0]}?cursor={cursor}")


class ByChanges:
    """A copy that asks what changed since the release that it has."""

    def __init__(self, client):
        self.client, self.snapshot, self.records = client, None, {table: {} for table in TABLES}

    def sync(self):
        if self.snapshot is None:
            self.snapshot = self.client.json("/api/v3/stats")["meta"]["snapshot"]
            for table, key in TABLES.items():
                for record in self.client.walk(f"{table}?fields=*&limit=1000&snapshot={self.snapshot}")[0]:
                    for field in JOINED[table]:
                        record.pop(field)
                    self.records[table][record[key]] = record
            return
        changes, page = self.client.walk(f"changes?from={self.snapshot}&limit=1000")
        for change in changes:
            records = self.records[change["table"]]
            if change["record"] is None:
                del records[change["key"]]
            else:
                records[change["key"]] = change["record"]
        self.snapshot = page["meta"]["snapshot"]


class ByETags:
    """A copy that loads the files whose ETags differ."""

    def __init__(self, client):
        self.client, self.etags, self.records = client, {}, {}

    def sync(self):
        for table, key in TABLES.items():
            known = [("If-None-Match", self.etags[table])] if table in self.etags else []
            status, headers, body = self.client.get(f"/data/latest/{table}.ndjson.gz", known)
            if status == 304:
                continue
            self.etags[table] = headers["ETag"]
            lines = gzip.decompress(body).decode().splitlines()
            self.records[table] = {record[key]: record for record in map(json.loads, lines)}


def edit(folder, random_):
    """Another week: some rows change, a few go, a few are new; reviews and sectors stay as they are every other week."""

    def rewrite(name, change):
        path = folder / name
        if not path.exists():
            return
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        names = list(rows[0]) if rows else []
        rows = [row for row in rows if change(row)]
        if name == "people.csv" and rows:
            new = dict(random_.choice(rows))
            new["slug"] = f"new-person-{random_.randrange(10**9)}"
            rows.append(new)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def person(row):
        if random_.random() < 0.002:
            row["title"] = "Advisor"
        return random_.random() > 0.001

    def funding_round(row):
        if random_.random() < 0.002:
            row["amount_usd"] = str(random_.randrange(10**5, 10**7))
        return random_.random() > 0.001

    def startup(row):
        if random_.random() < 0.003:
            row["city"] = f"City {random_.randrange(50)}"
        return True

    rewrite("people.csv", person)
    rewrite("funding_rounds.csv", funding_round)
    rewrite("startups.csv", startup)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--bin", type=Path, required=True)
    arguments.add_argument("--dataset", type=Path, required=True)
    arguments.add_argument("--releases", type=int, default=20)
    options = arguments.parse_args()
    work = Path(tempfile.mkdtemp())
    shutil.copytree(options.dataset, work / "dataset")
    for optional in ("identifiers.csv", "provenance.csv", "redirects.csv"):
        (work / "dataset" / optional).unlink(missing_ok=True)
    random_, day = random.Random(7), date(2027, 1, 1)

    def publish(number):
        version = f"{day + timedelta(weeks=number)}.1"
        if number:
            edit(work / "dataset", random_)
        command = [options.bin / "indexer", "build", "--bulk", "--dataset", work / "dataset", "--index", work / "index"]
        subprocess.run([*command, "--release", version], check=True, capture_output=True)
        return version

    version = publish(0)
    server = subprocess.Popen(
        [options.bin / "venturedex", "--listen", "127.0.0.1:0", "--index", work / "index", "--data", work / "data"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    try:
        base = next(found[0] for line in server.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        admin = [options.bin / "venturedex", "--data", work / "data"]
        subprocess.run([*admin, "account", "create", "--email", "m@example.com", "--tier", "enterprise"], check=True, capture_output=True)
        key = subprocess.run([*admin, "key", "create", "--email", "m@example.com", "--name", "mirror"], check=True, capture_output=True, text=True).stdout.split()[-1]
        copies = {"/changes": ByChanges(Client(base, key)), "ETags": ByETags(Client(base, key))}
        first = {}
        for number in range(options.releases + 1):
            if number:
                version = publish(number)
            while json.loads(urllib.request.urlopen(f"{base}/readyz").read())["snapshot"] != version:
                time.sleep(0.05)
            truth = {}
            for table, table_key in TABLES.items():
                lines = gzip.open(work / "index" / version / "bulk" / f"{table}.ndjson.gz", "rt").read().splitlines()
                truth[table] = {record[table_key]: record for record in map(json.loads, lines)}
            for name, copy in copies.items():
                copy.sync()
                for table in TABLES:
                    assert copy.records[table] == truth[table], f"{name}: {table} of {version} differs"
                if number == 0:
                    first[name] = (copy.client.requests, copy.client.bytes)
        for name, copy in copies.items():
            requests, size = copy.client.requests - first[name][0], copy.client.bytes - first[name][1]
            print(
                f"by {name}: equal to each of {options.releases + 1} releases; first copy {first[name][0]} requests, "
                f"{first[name][1] / 1e6:.1f} MB; then {requests} requests ({copy.client.unchanged} unchanged), {size / 1e6:.1f} MB"
            )
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
