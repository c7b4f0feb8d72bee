"""Asks VentureDex and tantivy for startups by two words of their texts in one run: CPU per query, totals. README.md says more."""

import contextlib
import importlib.metadata
import json
import pathlib
import random
import re
import statistics
import sys
import time
import urllib.parse

import data
import engines

ROWS = 20  # Records that an engine returns, with the number of all.
BLOCK = 25  # Queries until the next engine has its turn, so that load of the machine falls on all alike.
WARM_UP = 200  # Queries that are not measured.


def options():
    options = engines.options(__doc__)
    options.add_argument("--queries", type=int, default=400, help="number of pairs of words")
    options.add_argument("--seed", type=int, default=1, help="of the words")
    options.add_argument("--at-most", type=float, help="fail if VentureDex takes more than this times the CPU of tantivy")
    options.add_argument("--json", type=pathlib.Path, help="write the figures here")
    return options.parse_args()


def texts_of(dataset):
    """What both engines search: description, sectors, place and name of each startup."""
    for row in data.rows_of(dataset, "startups"):
        parts = (row["description"], row["sectors"].replace("|", " "), row["city"], row["country"], row["name"])
        yield " ".join(filter(None, parts))


def pairs(texts, count, seed):
    """Two words of one record, as a person who looks for such a record would type them."""
    chance = random.Random(seed)
    found = {}
    while len(found) < count:
        words = [word for word in re.findall(r"[^\W\d_]{3,}", chance.choice(texts).replace("-", " ").lower())]
        if len(set(words)) > 1:
            found[" ".join(chance.sample(sorted(set(words)), 2))] = None
    return list(found)


class Tantivy:
    """Its own English analyzer and BM25; the first rows and the number of all, with Python's binding and without the records."""

    def __init__(self, texts, every):
        import tantivy

        self.name = f"tantivy {importlib.metadata.version('tantivy')}, {'all' if every else 'any'} of the words"
        self.every = every
        if isinstance(texts, Tantivy):
            self.index, self.searcher = texts.index, texts.searcher
            return
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text", tokenizer_name="en_stem", index_option="freq")
        self.index = tantivy.Index(schema.build())
        writer = self.index.writer(heap_size=1_000_000_000, num_threads=1)
        for text in texts:
            writer.add_document(tantivy.Document(text=text))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()
        self.searcher = self.index.searcher()

    def search(self, text):
        query = self.index.parse_query(text, ["text"], conjunction_by_default=self.every)
        return self.searcher.search(query, ROWS, count=True).count

    def cpu(self):
        return time.process_time_ns()


class VentureDex(engines.VentureDex):
    def search(self, text):
        query = urllib.parse.urlencode({"text": text, "limit": ROWS})
        return json.loads(self.get(f"/api/v3/startups?{query}"))["pagination"]["total"]

    def floor(self):
        return statistics.median(self.cost_without_search() for _ in range(5))


def main():
    chosen = options()
    texts = list(texts_of(chosen.dataset))
    with contextlib.ExitStack() as stack:
        service = VentureDex(chosen.server, chosen.index, chosen.dataset, chosen.work)
        stack.callback(service.close)
        found = [service]
        try:
            found.append(Tantivy(texts, True))
            found.append(Tantivy(found[1], False))
        except ImportError as error:
            print(f"tantivy is missing, so there is nothing to compare with: {error}")
        queries = pairs(texts, chosen.queries + WARM_UP, chosen.seed)
        costs = {engine.name: [] for engine in found}
        totals = {engine.name: [] for engine in found}
        for start in range(0, len(queries), BLOCK):
            for engine in found:
                for text in queries[start : start + BLOCK]:
                    before = engine.cpu()
                    total = engine.search(text)
                    if start >= WARM_UP:
                        costs[engine.name].append((engine.cpu() - before) / 1000)
                        totals[engine.name].append(total)
        floor = service.floor()
    means = {name: statistics.mean(cpu) for name, cpu in costs.items()}
    print(f"{len(texts):,} startups, {chosen.queries} pairs of words; a request without a search takes {floor:.0f} µs of CPU\n")
    print("| engine | CPU µs, mean | p50 | p99 | records, mean | VentureDex without the floor, ratio of the means |")
    print("|---|---|---|---|---|---|")
    net = means[service.name] - floor
    for name, cpu in costs.items():
        late = sorted(cpu)[int(len(cpu) * 0.99)]
        ratio = f"{net / means[name]:.2f}" if name != service.name else "–"
        mean, middle = means[name], statistics.median(cpu)
        print(f"| {name} | {mean:.0f} | {middle:.0f} | {late:.0f} | {statistics.mean(totals[name]):,.0f} | {ratio} |")
    if chosen.json:
        chosen.json.write_text(json.dumps({"floor_us": floor, "mean_us": means, "rows": len(texts)}, indent=1))
    peers = [mean for name, mean in means.items() if name != service.name]
    if chosen.at_most and peers and net > chosen.at_most * peers[0]:
        sys.exit(f"{net:.0f} µs without the floor are {net / peers[0]:.2f} times the {peers[0]:.0f} µs of {found[1].name}")


if __name__ == "__main__":
    main()
