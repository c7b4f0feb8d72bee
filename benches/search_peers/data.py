"""The names that are searched, the queries with their right answers, and how an answer is scored."""

import collections
import csv
import json
import random
import re
import unicodedata

KINDS = ("firms", "startups", "people")
ROWS = 12  # Records that an engine is to return: the first ten count, without those that are neutral.


def fold(text):
    """Letter case, diacritics and punctuation folded: what every peer indexes and is asked. No transliteration."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(char for char in text if not unicodedata.combining(char)).replace("&", " and ")
    return " ".join(re.findall(r"\w+", re.sub("['’]", "", text)))


def rows_of(dataset, table):
    with open(dataset / f"{table}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Names:
    """The names and aliases of one kind, the most prominent records first: a name's place decides between equal scores.

    Prominence is the number of rounds, then the money in them: raised by a startup, joined by a firm; a person has that
    of the organization.
    """

    def __init__(self, dataset, kind):
        rounds, money = collections.Counter(), collections.Counter()
        for line in rows_of(dataset, "funding_rounds"):
            investors = {*line["investors"].split("|"), *line["lead_investors"].split("|")} - {""}
            for record in [("startup", line["startup"]), *(("firm", slug) for slug in investors)]:
                rounds[record] += 1
                money[record] += int(line["amount_usd"] or 0)

        def prominence(row):
            if kind == "people":
                record = (row["organization_kind"], row["organization"])
            else:
                record = (kind.removesuffix("s"), row["slug"])
            return (rounds[record], money[record])

        self.name = {}
        self.slugs, self.folded = [], []
        for row in sorted(rows_of(dataset, kind), key=prominence, reverse=True):
            self.name[row["slug"]] = row["name"]
            spellings = [row["name"], *row.get("aliases", "").split("|")]
            for text in dict.fromkeys(filter(None, map(fold, spellings))):
                self.slugs.append(row["slug"])
                self.folded.append(text)

    def records(self, places):
        """The first records among names that were found."""
        return list(dict.fromkeys(self.slugs[place] for place in places))[:ROWS]


def queries_of(folder, kind, sample, seed):
    """The queries without filters, at most `sample` of each class; a class of fewer than ten says too little."""
    by_class = collections.defaultdict(list)
    for line in (folder / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        if not query.get("filters"):
            by_class[query["class"]].append(query)
    chosen = []
    for name, queries in by_class.items():
        if len(queries) >= 10:
            if sample and sample < len(queries):
                queries = random.Random(f"{seed} {folder.name} {kind} {name}").sample(queries, sample)
            chosen += queries
    return chosen


def score(query, slugs, names):
    """r@1: the first record is right. r@10: the share of the right ones, at most ten, that the first ten have."""
    slugs = [slug for slug in slugs if slug not in query.get("also", ())][:10]
    if query.get("rule") == "prefix":
        right = [fold(names.name[slug]).startswith(fold(query["query"])) for slug in slugs]
        total = query["total"]
    else:
        right = [slug in query["relevant"] for slug in slugs]
        total = len(query["relevant"])
    return float(right[:1] == [True]), sum(right) / min(10, total)
