"""A dataset's CSV files as SQLite tables, to compute the right answers. It shares no code with the product.

Tables: firms, startups, rounds, people, reviews and sectors have the columns of their files, empty fields as NULL, and
what the documentation says is derived from them. Links: firm_stages, firm_sectors, startup_sectors (each with all
ancestors of a sector), investments (one row per round and investor; `lead` is NULL if the round names none).
"""

import collections
import csv
import pathlib
import sqlite3
import statistics
import tomllib

WHOLE_NUMBERS = {
    "amount_usd", "aum_usd", "check_max_usd", "check_min_usd", "fairness", "founded_year", "rating", "responsiveness", "value_add",
}
PORTFOLIO_SECTORS = 8

VIEWS = """
CREATE VIEW firms AS SELECT f.*, count(i.round) investment_count, count(DISTINCT i.startup) portfolio_count,
    max(r.announced_on) last_investment_on
  FROM firms_csv f LEFT JOIN investments i ON i.firm = f.slug LEFT JOIN rounds_csv r ON r.id = i.round GROUP BY f.slug;
CREATE VIEW startups AS SELECT s.*, sum(r.amount_usd) total_raised_usd, count(r.id) round_count, max(r.announced_on) last_round_on
  FROM startups_csv s LEFT JOIN rounds_csv r ON r.startup = s.slug GROUP BY s.slug;
CREATE VIEW rounds AS SELECT r.*, s.country, s.city, s.name startup_name, cast(substr(r.announced_on, 1, 4) AS INTEGER) year
  FROM rounds_csv r JOIN startups_csv s ON s.slug = r.startup;
CREATE VIEW people AS SELECT p.slug, p.name, p.title, p.organization_kind, p.organization,
    coalesce(p.country, s.country, f.country) country, coalesce(s.city, f.city) city, p.country own_country
  FROM people_csv p LEFT JOIN startups_csv s ON p.organization_kind = 'startup' AND s.slug = p.organization
    LEFT JOIN firms_csv f ON p.organization_kind = 'firm' AND f.slug = p.organization;
CREATE VIEW reviews AS SELECT * FROM reviews_csv WHERE status = 'approved';
CREATE VIEW ghosting AS SELECT firm, count(*) answers, round(100.0 * sum(ghosted) / count(*), 1) rate
  FROM reviews WHERE ghosted IS NOT NULL GROUP BY firm HAVING count(*) >= 3;
CREATE INDEX investments_firm ON investments (firm);
CREATE INDEX investments_round ON investments (round);
CREATE INDEX rounds_startup ON rounds_csv (startup);
"""


class Median:
    """The SQL aggregate `median`: NULLs are left out."""

    def __init__(self):
        self.values = []

    def step(self, value):
        if value is not None:
            self.values.append(value)

    def finalize(self):
        return statistics.median(self.values) if self.values else None


class Truth:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.invented = tomllib.loads((self.folder / "snapshot.toml").read_text()).get("invented", False)
        self.db = sqlite3.connect(":memory:")
        self.db.create_aggregate("median", 1, Median)
        parents = {row["slug"]: row["parent"] for row in self.load("sectors", "slug")}
        startups, rounds = self.load("startups", "slug"), self.load("funding_rounds", "id", "rounds")
        self.load("people", "slug")
        self.load("reviews", "id")
        firms = self.load("firms", "slug")

        def with_ancestors(sectors):
            found = set()
            for sector in sectors:
                while sector and sector not in found:
                    found.add(sector)
                    sector = parents[sector]
            return found

        sectors_of = {row["slug"]: several(row["sectors"]) for row in startups}
        self.link("startup_sectors", "startup, sector", (
            (slug, sector) for slug, own in sectors_of.items() for sector in with_ancestors(own)))
        investments, stages, portfolio = [], collections.defaultdict(set), collections.defaultdict(set)
        for row in rounds:
            leads = several(row["lead_investors"])
            for firm in dict.fromkeys(leads + several(row["investors"])):
                investments.append((row["id"], row["startup"], firm, int(firm in leads) if leads else None))
                stages[firm].add(row["stage"])
                portfolio[firm].add(row["startup"])
        self.link("investments", "round, startup, firm, lead", investments)

        def sectors_of_firm(row):
            own = several(row["sectors"])
            if not own:
                counts = collections.Counter(sector for startup in portfolio[row["slug"]] for sector in set(sectors_of[startup]))
                own = sorted(counts, key=lambda sector: (-counts[sector], sector))[:PORTFOLIO_SECTORS]
            return with_ancestors(own)

        self.link("firm_stages", "firm, stage", (
            (row["slug"], stage) for row in firms for stage in set(several(row["stages"])) or stages[row["slug"]]))
        self.link("firm_sectors", "firm, sector", ((row["slug"], sector) for row in firms for sector in sectors_of_firm(row)))
        self.leave_out_suspect_amounts()
        self.db.executescript(VIEWS)

    def leave_out_suspect_amounts(self):
        """An amount above ten times what 99 % of the amounts of its stage do not exceed is documented to be left out.

        It counts as known all the same, so the table `suspect_amounts` keeps it."""
        self.db.execute("CREATE TABLE suspect_amounts (amount_usd)")
        stages = collections.defaultdict(list)
        for stage, amount in self.db.execute("SELECT stage, amount_usd FROM rounds_csv WHERE amount_usd IS NOT NULL ORDER BY 2"):
            stages[stage].append(amount)
        for stage, amounts in stages.items():
            limit = 10 * amounts[-(-99 * len(amounts) // 100) - 1]
            above = "FROM rounds_csv WHERE stage = ? AND amount_usd > ?"
            self.db.execute(f"INSERT INTO suspect_amounts SELECT amount_usd {above}", (stage, limit))
            self.db.execute("UPDATE rounds_csv SET amount_usd = NULL WHERE stage = ? AND amount_usd > ?", (stage, limit))

    def load(self, file, key, table=None):
        """Reads a file into the table `…_csv` and returns its rows as texts."""
        with open(self.folder / f"{file}.csv", newline="", encoding="utf-8") as lines:
            reader = csv.DictReader(lines)
            rows, columns = list(reader), reader.fieldnames
        table = f"{table or file}_csv"
        types = ", ".join(f"{column} {'PRIMARY KEY' if column == key else ''}" for column in columns)
        self.db.execute(f"CREATE TABLE {table} ({types})")
        marks = ", ".join("?" * len(columns))
        self.db.executemany(f"INSERT INTO {table} VALUES ({marks})", ([typed(name, row[name]) for name in columns] for row in rows))
        return rows

    def link(self, table, columns, rows):
        self.db.execute(f"CREATE TABLE {table} ({columns})")
        self.db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns.split(',')))})", rows)

    def rows(self, sql, values=()):
        return [list(row) for row in self.db.execute(sql, values)]


def several(field):
    return [value for value in field.split("|") if value]


def typed(column, field):
    if field == "":
        return None
    if column in WHOLE_NUMBERS:
        return int(field)
    if column == "ghosted":
        return int(field.lower() in ("true", "yes", "1"))
    return field
