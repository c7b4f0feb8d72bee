"""Writes the same tables as CSV with VentureDex and DuckDB in one run, and compares selections of fields with whole lists.

README.md says what is measured.
"""

import pathlib
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "search_peers"))

import engines

LISTS = ("vcs", "startups", "funding-rounds", "people", "reviews", "sectors")
ENOUGH = 4_000_000  # Bytes of CSV between two readings of the clock: small tables are written several times,
TIMES = 50  # but at most so many.
SELECTIONS = (
    ("20 firms by filters", "vcs?limit=20&stage=seed&country=US&sort=-investment_count", "name,slug,healthScore,country,stages"),
    ("20 startups", "startups?limit=20", "name,slug,country"),
    ("20 rounds", "funding-rounds?limit=20", "id,amount_usd,announced_on"),
    ("100 startups", "startups?limit=100", "name,slug,country"),
)


def options():
    options = engines.options(__doc__)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--requests", type=int, default=300, help="of each list in a round")
    options.add_argument("--all", action="store_true", help="fail if DuckDB cannot be had")
    options.add_argument("--ahead", action="store_true", help="fail if DuckDB writes any table faster")
    return options.parse_args()


class DuckDB:
    def __init__(self, work):
        import duckdb

        self.database = duckdb.connect()
        self.work = work

    def load(self, name, csv):
        file = self.work / f"{name}.csv"
        file.write_bytes(csv)
        self.database.execute(f"CREATE TABLE \"{name}\" AS SELECT * FROM read_csv('{file}', header = true, sample_size = -1)")

    def export(self, name):
        out = self.work / "out.csv"
        began = time.process_time_ns()
        self.database.execute(f"COPY \"{name}\" TO '{out}' (FORMAT csv, HEADER)")
        return time.process_time_ns() - began, out.stat().st_size


def export(server, name):
    began = server.cpu()
    size = len(server.get(f"/api/v3/{name}.csv"))
    return server.cpu() - began, size


def speed(write, times):
    """Megabytes per second of CPU."""
    spent, size = map(sum, zip(*(write() for _ in range(times))))
    return size / spent * 1000


def compare_exports(server, duckdb, rounds):
    ratios = []
    print(f"{'CSV, MB per second of CPU':<28}{'MB':>8}{'VentureDex':>12}{'DuckDB':>9}{'ratio':>8}  ratios, in order")
    for name in LISTS:
        csv = server.get(f"/api/v3/{name}.csv")
        duckdb.load(name, csv)
        times = min(max(1, ENOUGH // len(csv)), TIMES)
        found = [(speed(lambda: export(server, name), times), speed(lambda: duckdb.export(name), times)) for _ in range(rounds)]
        found.sort(key=lambda speeds: speeds[0] / speeds[1])
        ours, theirs = found[len(found) // 2]
        ratios.append(ours / theirs)
        each = " ".join(f"{ours / theirs:.2f}" for ours, theirs in found)
        print(f"{name:<28}{len(csv) / 1e6:>8.2f}{ours:>12.0f}{theirs:>9.0f}{ours / theirs:>8.2f}  {each}")
    return ratios


def compare_selections(server, rounds, requests):
    print(f"\n{'fields, µs of CPU':<28}{'whole':>8}{'selected':>12}{'':>9}{'ratio':>8}  ratios, in order")
    number = 0
    for name, path, fields in SELECTIONS:
        found = []
        for _ in range(rounds):
            costs = []
            for suffix in ("", f"&fields={fields}"):
                began = server.cpu()
                for _ in range(requests):
                    number += 1
                    server.get(f"/api/v3/{path}{suffix}&_={number}")
                costs.append((server.cpu() - began) / requests / 1000)
            found.append(costs)
        found.sort(key=lambda costs: costs[1] / costs[0])
        whole, selected = found[len(found) // 2]
        each = " ".join(f"{selected / whole:.2f}" for whole, selected in found)
        print(f"{name:<28}{whole:>8.1f}{selected:>12.1f}{'':>9}{selected / whole:>8.2f}  {each}")


def main():
    given = options()
    server = engines.VentureDex(given.server, given.index, given.dataset, given.work)
    try:
        ratios = []
        try:
            duckdb = DuckDB(given.work)
        except ImportError as error:
            if given.all:
                sys.exit(f"DuckDB is missing: {error}")
            print(f"DuckDB is missing, so no CSV is compared: {error}\n")
        else:
            ratios = compare_exports(server, duckdb, given.rounds)
        compare_selections(server, given.rounds, given.requests)
        if given.ahead and any(ratio < 1 for ratio in ratios):
            sys.exit("DuckDB writes a table faster")
    finally:
        server.close()


main()
