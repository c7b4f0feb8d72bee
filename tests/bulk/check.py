"""Reads the bulk files of a release with the programs that people use, and compares types, rows and values.

    check.py RELEASE STATS    the folder of a release; the JSON of /api/v3/stats of a server that serves it
"""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import frictionless
import pandas
import polars
import pyarrow.compute
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

release = Path(sys.argv[1])
folder = release / "bulk"
package = json.loads((folder / "datapackage.json").read_text())
names = json.loads((release / "manifest.json").read_text())["counts"]
stats = json.loads(Path(sys.argv[2]).read_text())["data"]
counts = {name: stats[name] for name in names}
tables = {resource["name"]: resource for resource in package["resources"]}
assert len(tables) == 6

ARROW = {"string": "string", "integer": "int64", "number": "double", "boolean": "bool", "date": "date32[day]", "array": "string"}
POLARS = {"string": polars.String, "integer": polars.Int64, "number": polars.Float64, "boolean": polars.Boolean,
          "date": polars.Date, "list": polars.List(polars.String), "array": polars.String}
DUCKDB = {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE",
          "list": "VARCHAR[]", "array": "VARCHAR"}
# Texts that spreadsheets take for formulas.
FORMULA = re.compile("'*[=+@\\-\t\r\n＝＋－＠]")


def arrow_type(kind, found):
    if kind == "list":
        return pyarrow.types.is_list(found) and found.value_type == pyarrow.string()
    return str(found) == ARROW[kind]


def read_lines(name, rows):
    assert polars.read_ndjson(f"{name}.ndjson.zst", infer_schema_length=None).height == rows
    read = f"read_json('%s', format = 'newline_delimited', sample_size = -1, maximum_object_size = 67108864)"
    for ending in ("gz", "zst"):
        assert database.execute(f"SELECT count(*) FROM {read % f'{name}.ndjson.{ending}'}").fetchone() == (rows,), ending
    assert len(pandas.read_json(f"{name}.ndjson.gz", lines=True)) == rows
    options = pyarrow.json.ReadOptions(block_size=64 << 20)
    with pyarrow.input_stream(f"{name}.ndjson.zst", compression="zstd") as stream:
        assert pyarrow.json.read_json(stream, read_options=options).num_rows == rows


os.chdir(folder)
database = duckdb.connect()
database.execute(Path("views.sql").read_text())
for name, resource in tables.items():
    rows = counts[{"vcs": "firms"}.get(name, name.replace("-", "_"))]
    kinds = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
    [key] = resource["schema"]["primaryKey"]
    assert resource["rowCount"] == rows, name

    # Parquet
    arrow = pyarrow.parquet.read_table(f"{name}.parquet")
    assert arrow.num_rows == rows, (name, arrow.num_rows, rows)
    assert arrow.column_names == list(kinds)
    for field in arrow.schema:
        assert arrow_type(kinds[field.name], field.type), (name, field)
    required = {f["name"] for f in resource["schema"]["fields"] if f.get("constraints", {}).get("required")}
    assert all(field.nullable == (field.name not in required) or kinds[field.name] == "list" for field in arrow.schema)
    frame = polars.read_parquet(f"{name}.parquet")
    assert dict(frame.schema) == {column: POLARS[kind] for column, kind in kinds.items()}, frame.schema
    described = database.execute(f"DESCRIBE {name.replace('-', '_')}").fetchall()
    assert {row[0]: row[1] for row in described} == {column: DUCKDB[kind] for column, kind in kinds.items()}, described
    assert database.execute(f"SELECT count(*) FROM {name.replace('-', '_')}").fetchone() == (rows,)
    table = pandas.read_parquet(f"{name}.parquet")
    assert len(table) == rows and list(table[key]) == sorted(table[key], key=str.encode) and table[key].is_unique

    # CSV: the same values
    text = pandas.read_csv(f"{name}.csv.gz", dtype=str, keep_default_na=False)
    assert list(text.columns) == list(kinds) and len(text) == rows
    assert list(text[key]) == list(table[key])
    csv = polars.read_csv(f"{name}.csv.gz", infer_schema=False)
    relation = duckdb.connect().sql(f"SELECT * FROM read_csv('{name}.csv.gz', all_varchar = true, header = true)").pl()
    assert csv.height == relation.height == rows and csv.columns == relation.columns == list(kinds)
    assert pyarrow.csv.read_csv(f"{name}.csv.gz", parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True)).num_rows == rows
    for column, kind in kinds.items():
        if kind in ("string", "array"):
            # A text that begins like a formula has a mark.
            mark = (lambda value: "'" + value if FORMULA.match(value) else value) if kind == "string" else str
            values = [mark(value) for value in frame[column].fill_null("").to_list()]
            assert list(text[column]) == values, (name, column)
            assert csv[column].fill_null("").to_list() == values, (name, column)
            assert relation[column].fill_null("").to_list() == values, (name, column)
        elif kind in ("integer", "date"):
            assert list(text[column]) == ["" if value is None else str(value) for value in frame[column]], (name, column)
        elif kind == "number":
            assert [float(value) if value else None for value in text[column]] == frame[column].to_list(), (name, column)
        elif kind == "boolean":
            assert [{"": None, "true": True, "false": False}[value] for value in text[column]] == frame[column].to_list()

    # NDJSON: the same values before they were flattened
    lines = [json.loads(line) for line in gzip.open(f"{name}.ndjson.gz", "rt", encoding="utf-8")]
    assert [line[key] for line in lines] == frame[key].to_list()
    fields = lines[0] if lines else {}
    for column, kind in kinds.items():
        if column in fields and kind not in ("date", "array"):
            assert [line[column] for line in lines] == frame[column].to_list(), (name, column)
        elif column in fields and kind == "array":
            assert [line[column] for line in lines] == [value and json.loads(value) for value in frame[column]], (name, column)
    # Nobody can tell the columns of no lines.
    if rows:
        read_lines(name, rows)
    print(f"{name}: {rows} rows, {len(kinds)} columns")

# Lists of objects as views.
lists = [row[0] for row in database.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
for view in sorted(lists):
    database.execute(f"SELECT count(*) FROM (SELECT * FROM {view})").fetchone()
expected = pyarrow.parquet.read_table("funding-rounds.parquet", columns=["investors"])["investors"].to_pylist()
expected = sum(len(json.loads(value)) for value in expected)
assert database.execute("SELECT count(slug) FROM funding_rounds_investors").fetchone() == (expected,)
print(f"views.sql: {len(lists)} views")

# Sizes, checksums, types, constraints and keys, by the reference implementation.
report = frictionless.validate("datapackage.json")
assert report.valid, report.flatten(["name", "rowNumber", "fieldName", "type", "message"])[:5]
print(f"frictionless: {len(report.tasks)} files valid")
