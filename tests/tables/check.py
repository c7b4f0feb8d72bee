"""Queries exported releases with the engines that are installed, and compares what they find.

    check.py PLACE [ENGINE…]    the folder that `indexer export` wrote; `duckdb`, `spark` and `clickhouse`, by default all

Each engine counts the rows of all tables by release, reads all releases of a table in one query, and finds the firms as of
a day. Counts must be those of the manifests, and the engines must agree on every result.
"""

import json
import sys
from pathlib import Path

TABLES = ["vcs", "startups", "funding-rounds", "people", "reviews", "sectors"]



def version(manifest):
    date, number = manifest["version"].rsplit(".", 1)
    return date, int(number)


place = Path(sys.argv[1]).resolve()
manifests = sorted((json.loads(path.read_text()) for path in place.glob("release=*/_manifest.json")), key=version)


def queries(table):
    """Queries that every engine takes; `table` returns the text for a table in a FROM clause."""
    rounds, firms, releases = table("funding-rounds"), table("vcs"), table("releases")
    as_of = f"""SELECT release FROM {releases} WHERE version_date <= DATE '{manifests[-1]["version"].rsplit(".", 1)[0]}'
                ORDER BY version_date DESC, version_number DESC LIMIT 1"""
    counts = {f"rows of {name}": f"SELECT release, count(*) FROM {table(name)} GROUP BY release ORDER BY release" for name in TABLES}
    return counts | {
        "releases": f"SELECT release, version_number, title FROM {releases} ORDER BY version_date, version_number",
        "sums by release and stage": f"""SELECT release, stage, count(*), count(amount_usd), sum(amount_usd), max(announced_on)
            FROM {rounds} WHERE NOT suspect GROUP BY release, stage ORDER BY release, stage""",
        "firms as of a day": f"""SELECT country, count(*), sum(investment_count) FROM {firms}
            WHERE release IN ({as_of}) AND country IS NOT NULL GROUP BY country ORDER BY country""",
        "one firm in all releases": f"""SELECT release, name, score_value FROM {firms}
            WHERE slug = (SELECT min(slug) FROM {firms}) ORDER BY release""",
    }


def plain(value):
    return round(value, 6) if isinstance(value, float) else value if value is None or isinstance(value, int) else str(value)


def rows(found):
    return [tuple(plain(value) for value in row) for row in found]


def duckdb_results():
    import duckdb

    database = duckdb.connect()
    table = lambda name: f"read_parquet('{place}/release=*/table={name}/*.parquet', hive_partitioning = true, hive_types_autocast = false, union_by_name = true)"
    results = {name: rows(database.execute(query).fetchall()) for name, query in queries(table).items()}
    # A filter of the key skips row groups by their statistics.
    groups = database.execute(
        f"SELECT count(*), count(stats_min_value), count(stats_max_value) FROM parquet_metadata('{place}/release=*/table=vcs/*.parquet') "
        "WHERE path_in_schema = 'slug'").fetchone()
    assert groups[0] == groups[1] == groups[2] > 0, f"row groups without statistics: {groups}"
    return results


def spark_results():
    from pyspark.sql import SparkSession

    # Two workers with processes of their own, as in a cluster.
    session = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tables").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    session = session.config("spark.sql.shuffle.partitions", "4").config("spark.executor.memory", "1g")
    session = session.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for name in [*TABLES, "releases"]:
        read = session.read.option("basePath", str(place)).option("mergeSchema", "true")
        read.parquet(f"{place}/release=*/table={name}").createOrReplaceTempView(name.replace("-", "_"))
    results = {
        name: rows(tuple(row) for row in session.sql(query).collect())
        for name, query in queries(lambda name: name.replace("-", "_")).items()
    }
    session.stop()
    return results


def clickhouse_results():
    from chdb import session

    clickhouse = session.Session()
    clickhouse.query("SET use_hive_partitioning = 1, aggregate_functions_null_for_empty = 1")
    table = lambda name: f"file('{place}/release=*/table={name}/*.parquet', Parquet)"
    results = {}
    for name, query in queries(table).items():
        found = clickhouse.query(query, "JSONCompact")
        columns = json.loads(str(found))
        types = [column["type"] for column in columns["meta"]]
        convert = lambda value, kind: int(value) if value is not None and "Int" in kind else value
        results[name] = rows([convert(value, kind) for value, kind in zip(row, types)] for row in columns["data"])
    return results


ENGINES = {"duckdb": duckdb_results, "spark": spark_results, "clickhouse": clickhouse_results}


def main():
    assert manifests, f"{place} has no release"
    expected = {f"rows of {name}": [] for name in TABLES}
    for manifest in manifests:
        for table in manifest["tables"]:
            if table["name"] in TABLES and table["rows"]:
                expected[f"rows of {table['name']}"].append((manifest["version"], table["rows"]))
    first = None
    for name in sys.argv[2:] or ENGINES:
        results = ENGINES[name]()
        for query, found in expected.items():
            assert results[query] == sorted(found), f"{name}: {query}: {results[query]} and not {found}"
        if first:
            for query, found in results.items():
                assert found == first[1][query], f"{query}: {name} has {found}, {first[0]} has {first[1][query]}"
        first = first or (name, results)
        print(f"{name}: {len(results)} queries on {len(manifests)} releases agree")
    for query, found in first[1].items():
        assert found or expected.get(query) == [], f"{query} finds nothing"


if __name__ == "__main__":
    main()
