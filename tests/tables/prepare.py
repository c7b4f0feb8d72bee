"""Writes the tables of a dataset as Parquet, as Spark or DuckDB do: with types, lists, parts and small row groups.

    prepare.py spark|duckdb DATASET TO    the folder of CSV files; a new folder
"""

import shutil
import sys
from pathlib import Path

TABLES = ["firms", "startups", "funding_rounds", "people", "reviews", "sectors"]
INTEGERS = {"founded_year", "check_min_usd", "check_max_usd", "aum_usd", "amount_usd", "rating", "responsiveness", "fairness", "value_add"}
LISTS = {"aliases", "stages", "sectors", "lead_investors", "investors"}

engine, source, target = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
target.mkdir()
tables = [source / f"{name}.csv" for name in TABLES if (source / f"{name}.csv").exists()]
for path in source.iterdir():
    if path.is_file() and path not in tables:
        shutil.copy(path, target)


def columns_of(path):
    return path.read_text(encoding="utf-8-sig").splitlines()[0].split(",")


if engine == "duckdb":
    import duckdb

    for path in tables:
        # Decimals, as warehouses have them.
        select = ", ".join(
            f"TRY_CAST({column} AS DECIMAL(18, 2)) AS {column}" if column in INTEGERS
            else f"string_split({column}, '|') AS {column}" if column in LISTS else column for column in columns_of(path))
        duckdb.execute(f"COPY (SELECT {select} FROM read_csv('{path}', all_varchar = true, header = true)) "
                       f"TO '{target}/{path.stem}.parquet' (FORMAT parquet, ROW_GROUP_SIZE 5000, COMPRESSION zstd)")
else:
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col, split

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for path in tables:
        rows = session.read.csv(str(path), header=True, multiLine=True, escape='"', quote='"')
        for column in rows.columns:
            if column in INTEGERS:
                rows = rows.withColumn(column, col(column).cast("bigint"))
            elif column in LISTS:
                rows = rows.withColumn(column, split(col(column), "[|]"))
        rows.write.option("maxRecordsPerFile", 20_000).option("compression", "gzip").parquet(f"{target}/{path.stem}.parquet")
    session.stop()
