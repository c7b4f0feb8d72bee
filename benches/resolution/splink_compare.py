"""Splink on the records of `cargo bench --bench resolution -- --csv DIR`, for comparison.

    pip install splink && python3 splink_compare.py DIR/records.csv startups

Splink learns its weights from the records (expectation maximization), without links between records and rounds. Printed for
each threshold: precision and recall of the pairs above it, among the half of the entities that the bench counts, too.
"""
import csv
import re
import sys
import time
import unicodedata

import duckdb
import pyarrow as pa
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

LEGAL = "inc llc ltd limited gmbh sa bv pvt corp corporation co company".split()


def fold(text):
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = [word for word in re.split(r"[^a-z0-9]+", text) if word and word not in LEGAL]
    return " ".join(words) or text


def main():
    path, table = sys.argv[1:3]
    rows = [row for row in csv.DictReader(open(path, newline="")) if row["table"] == table]
    columns = {"unique_id": [], "name": [], "domain": [], "country": [], "city": [], "founded_year": [], "lei": []}
    for row in rows:
        columns["unique_id"].append(row["id"])
        columns["name"].append(fold(row["name"]))
        for column in ("domain", "country", "city", "founded_year", "lei"):
            value = row[column].lower()
            columns[column].append(None if value in ("", "0") else value)
    database = DuckDBAPI(duckdb.connect())
    frame = database.register(pa.table(columns))
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            cl.JaroWinklerAtThresholds("name", [0.95, 0.88]).configure(term_frequency_adjustments=True),
            cl.ExactMatch("domain"),
            cl.ExactMatch("city").configure(term_frequency_adjustments=True),
            cl.ExactMatch("country"),
            cl.ExactMatch("founded_year"),
            cl.ExactMatch("lei"),
        ],
        blocking_rules_to_generate_predictions=[
            block_on("name"),
            block_on("domain"),
            block_on("lei"),
            block_on("city", "substr(name, 1, 4)"),
            block_on("substr(name, 1, 7)"),
        ],
    )
    started = time.time()
    linker = Linker(frame, settings)
    linker.training.estimate_probability_two_random_records_match([block_on("name", "city"), block_on("domain")], recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=2e6, seed=1)
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("name"))
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("domain"))
    found = linker.inference.predict(threshold_match_probability=0.2).as_record_list()
    print(f"{len(rows)} records, {time.time() - started:.0f} s")

    truth = {row["id"]: row for row in rows}
    counted = {row["id"] for row in rows if row["held"] == "0"}
    sizes = {}
    for row in rows:
        if row["held"] == "0":
            sizes[row["entity"]] = sizes.get(row["entity"], 0) + 1
    possible = sum(size * (size - 1) // 2 for size in sizes.values())
    for threshold in (0.5, 0.9, 0.99, 0.999, 0.9999):
        right = wrong = 0
        for pair in found:
            left, right_id = pair["unique_id_l"], pair["unique_id_r"]
            if pair["match_probability"] < threshold or left not in counted:
                continue
            one, two = truth[left], truth[right_id]
            if one["entity"] == two["entity"]:
                right += 1
            elif one["group"] != two["group"]:
                wrong += 1
        precision = right / max(1, right + wrong)
        print(f"{table} >= {threshold}: precision {precision:.4f} ({wrong} wrong), recall {right / possible:.4f}")


main()
