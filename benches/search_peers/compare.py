"""Asks VentureDex and its peers the same queries in one run: quality and CPU per query. README.md says what is measured."""

import collections
import contextlib
import json
import pathlib
import random
import statistics
import sys

import data
import engines

MEASURES = ("r@1", "r@10")
BLOCK = 100  # Queries until the next engine has its turn, so that load of the machine falls on all alike.
WARM_UP = 50  # Queries that are not measured.


def options():
    options = engines.options(__doc__)
    options.add_argument("--queries", type=pathlib.Path, action="append", required=True, help="folder of KIND.jsonl")
    options.add_argument("--kind", action="append", choices=data.KINDS)
    options.add_argument("--sample", type=int, help="at most so many queries of each class")
    options.add_argument("--seed", type=int, default=1, help="of the sample")
    options.add_argument("--all", action="store_true", help="fail if an engine cannot be had")
    options.add_argument("--ahead", action="store_true", help="fail if a peer finds more in any set")
    options.add_argument("--json", type=pathlib.Path, help="write the figures here")
    return options.parse_args()


def started(options, stack):
    """The engines that can be had, VentureDex first."""
    found = []
    makers = {
        "VentureDex": lambda: engines.VentureDex(options.server, options.index, options.dataset, options.work),
        "pg_trgm": lambda: engines.Postgres(options.work),
        "SQLite FTS5 trigram": engines.Sqlite,
        "tantivy": engines.Tantivy,
    }
    for name, make in makers.items():
        try:
            engine = make()
        except Exception as error:
            if options.all or not found:
                sys.exit(f"{name} is missing: {error}")
            print(f"{name} is missing: {error}")
            continue
        stack.callback(engine.close)
        found.append(engine)
    return found


def ask(found, kind, texts):
    """For each engine, the records that it finds for each text and the microseconds of CPU that this takes."""
    records = {engine.name: {} for engine in found}
    costs = {engine.name: {} for engine in found}
    for start in range(0, len(texts), BLOCK):
        for engine in found:
            for text in texts[start : start + BLOCK]:
                prepared = engine.prepare(text)
                before = engine.cpu()
                answer = engine.search(kind, prepared)
                costs[engine.name][text] = (engine.cpu() - before) / 1000
                records[engine.name][text] = engine.records(kind, answer)
    return records, costs


def figures_of(queries, records, costs, names):
    """Per class r@1 and r@10, their mean over classes, and the CPU, of one engine."""
    by_class = {}
    for query in queries:
        by_class.setdefault(query["class"], []).append(data.score(query, records[query["query"]], names))
    means = {name: [statistics.mean(column) for column in zip(*scores)] for name, scores in by_class.items()}
    means["ALL"] = [statistics.mean(column) for column in zip(*means.values())]
    quality = {name: dict(zip(MEASURES, mean)) for name, mean in means.items()}
    cpu = [costs[text] for text in {query["query"]: None for query in queries}]
    return {"quality": quality, "cpu_us": {"mean": statistics.mean(cpu), "p50": statistics.median(cpu)}}


def print_table(title, counts, figures):
    """Markdown: a row per class, a column per engine; `ALL` and CPU also as a ratio to the first engine."""
    print(f"\n### {title}\n")
    print("| r@1 / r@10 | n | " + " | ".join(figures) + " |")
    print("|---" * (len(figures) + 2) + "|")
    first, *_ = figures.values()

    def row(name, count, cell):
        print(f"| {name} | {count} | " + " | ".join(map(cell, figures.values())) + " |")

    def ratio(value, whole):
        return f"{value / whole:.2f}" if whole else "–"

    for name in first["quality"]:
        row(name, counts.get(name, ""), lambda engine: "{r@1:.3f} / {r@10:.3f}".format_map(engine["quality"][name]))
    whole = first["quality"]["ALL"]
    row("ALL, ratio", "", lambda engine: " / ".join(ratio(engine["quality"]["ALL"][key], whole[key]) for key in MEASURES))
    for which in ("mean", "p50"):
        row(f"CPU µs, {which}", "", lambda engine: f"{engine['cpu_us'][which]:,.0f}")
        row(f"CPU, ratio of {which}", "", lambda engine: ratio(engine["cpu_us"][which], first["cpu_us"][which]))


def behind(title, figures):
    """The peers that find more than the first engine in a set."""
    (_, first), *peers = figures.items()
    for name, peer in peers:
        for which in MEASURES:
            mine, theirs = first["quality"]["ALL"][which], peer["quality"]["ALL"][which]
            if theirs > mine:
                yield f"{title}: {which} of {name} is {theirs:.3f}, of VentureDex {mine:.3f}"


def main():
    chosen = options()
    written = {"seed": chosen.seed, "sample": chosen.sample, "sets": []}
    lost = []
    with contextlib.ExitStack() as stack:
        found = started(chosen, stack)
        written["cpu_of"] = {engine.name: engine.cost for engine in found}
        for engine in found:
            print(f"{engine.name}: CPU of {engine.cost}")
        written["fixed_body_us"] = found[0].cost_without_search()
        print(f"{found[0].name}: of which a request without a search takes {written['fixed_body_us']:.0f} µs")
        for kind in chosen.kind or data.KINDS:
            names = data.Names(chosen.dataset, kind)
            for engine in found:
                engine.load(kind, names)
            sets = [(path.name, data.queries_of(path, kind, chosen.sample, chosen.seed)) for path in chosen.queries]
            # Each text is asked once: a second time the service may answer from its cache.
            texts = list(dict.fromkeys(query["query"] for _, queries in sets for query in queries))
            warm_up = random.Random(chosen.seed).sample(names.folded, min(WARM_UP, len(names.folded)))
            ask(found, kind, [text for text in warm_up if text not in texts])
            records, costs = ask(found, kind, texts)
            for title, queries in sets:
                figures = {
                    engine.name: figures_of(queries, records[engine.name], costs[engine.name], names) for engine in found
                }
                print_table(f"{kind}, {title}", collections.Counter(query["class"] for query in queries), figures)
                lost += behind(f"{kind}, {title}", figures)
                written["sets"].append({"kind": kind, "queries": title, "engines": figures})
    if chosen.json:
        chosen.json.write_text(json.dumps(written, indent=1))
    if chosen.ahead and lost:
        sys.exit("\n".join(lost))


if __name__ == "__main__":
    main()
