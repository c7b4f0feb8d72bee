"""Random requests to a running server, with the answers and the notes on coverage computed from the CSV files that it serves.
It shares no code with the product: sets of rows are whole numbers, with a bit for each row.

    python3 tests/oracle/run.py --base URL --key KEY --data DIR [--requests 20000] [--seed 1] [--verbose]

Kinds of requests: lists with any filters, bounds, exclusions, `known` and `unknown`, orders and cursors; aggregates; facets;
single records; the tools of MCP. Of each note on coverage the numbers and years are computed, and that a note is there if, and
only if, the documented rule asks for it. Exits with 1 at any disagreement.
"""

import argparse
import bisect
import collections
import http.client
import json
import pathlib
import random
import re
import sys
import unicodedata
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "usefulness"))
from truth import Truth, several  # noqa: E402

CONVENTIONAL = {"01-01", "06-30", "07-01", "12-31"}


LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ð": "d",
                         "'": "", "’": "", "‘": "", "`": ""})


def fold(text):
    text = unicodedata.normalize("NFKD", text).casefold().translate(LETTERS).replace("&", " and ")
    return re.sub(r"[\W_]+", " ", "".join(char for char in text if not unicodedata.combining(char))).strip()


BITS = [[bit for bit in range(8) if byte >> bit & 1] for byte in range(256)]


def bits(rows):
    value = bytearray((max(rows, default=0) >> 3) + 1)
    for row in rows:
        value[row >> 3] |= 1 << (row & 7)
    return int.from_bytes(value, "little")


def rows_of(value):
    found = []
    for place, byte in enumerate(value.to_bytes((value.bit_length() + 7) // 8, "little")):
        if byte:
            found += [place * 8 + bit for bit in BITS[byte]]
    return found


def days_of(date):
    """The first and the last day of a date as whole numbers."""
    parts = [int(part) for part in date.split("-")]
    year, month = parts[0], parts[1] if len(parts) > 1 else 0
    last_month = month or 12
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    last_day = 31 - (last_month in (4, 6, 9, 11)) - (3 - leap) * (last_month == 2)
    day = parts[2] if len(parts) > 2 else 0
    return year * 10_000 + (month or 1) * 100 + (day or 1), year * 10_000 + last_month * 100 + (day or last_day)


class Numbers:
    """Values of a property by row, for bounds: rows in order of their values, with the sets of every thousandth."""

    STEP = 1_000

    def __init__(self, values):
        self.of = values
        self.order = sorted((value, row) for row, value in values.items())
        self.sets, rows = [0], []
        for place, (_, row) in enumerate(self.order, 1):
            rows.append(row)
            if place % self.STEP == 0:
                self.sets.append(self.sets[-1] | bits(rows))
                rows = []
        self.known = self.sets[-1] | bits(rows)

    def below(self, bound):
        """Rows with a value less than a bound."""
        end = bisect.bisect_left(self.order, (bound, -1))
        full = end // self.STEP
        return self.sets[full] | bits([row for _, row in self.order[full * self.STEP:end]])

    def between(self, low, high):
        return (self.known if high is None else self.below(high + 1)) & ~(0 if low is None else self.below(low))


class Table:
    def __init__(self, name, ids):
        self.name, self.ids = name, ids
        self.row_of = {one: row for row, one in enumerate(ids)}
        self.all = (1 << len(ids)) - 1
        self.has, self.known, self.values, self.numbers = {}, {}, {}, {}
        self.amount = None

    def facet(self, name, pairs):
        by_value, of_row = collections.defaultdict(set), collections.defaultdict(set)
        for one, value in pairs:
            if value:
                by_value[value].add(self.row_of[one])
                of_row[self.row_of[one]].add(value)
        self.has[name] = {value: bits(rows) for value, rows in by_value.items()}
        self.known[name] = bits(list(of_row))
        self.values[name] = of_row

    def number(self, name, pairs):
        values = {self.row_of[one]: value for one, value in pairs if value is not None}
        self.numbers[name] = Numbers(values)
        self.known[name] = self.numbers[name].known

    def date(self, name, pairs):
        """Two numbers: the first and the last day. Both bounds hold for the whole of a date."""
        dates = [(one, days_of(date)) for one, date in pairs if date]
        self.number(name, ((one, days[0]) for one, days in dates))
        self.numbers[name + " last"] = Numbers({self.row_of[one]: days[1] for one, days in dates})


class Coverage:
    """Which years of which countries are covered, by the rules of the documentation of `data::coverage`."""

    def __init__(self, rounds):
        self.years = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
        self.markets = collections.Counter()
        for market, year, has_investors in rounds:
            counts = self.years[year][market]
            counts[0] += 1
            counts[1] += has_investors
            self.markets[market] += 1
        sparse = self.sparse(self.markets)
        usual = collections.Counter()
        for year, (_, is_whole) in sparse.items():
            if is_whole:
                usual.update({market: counts[0] for market, counts in self.years[year].items()})
        if usual:
            sparse = self.sparse(usual)
        whole = {year: self.rounds(year) if sparse[year][1] else 0 for year in self.years}
        dense = self.dense(whole)
        self.scope = {}
        for year, (missing, is_whole) in sparse.items():
            if is_whole:
                self.scope[year] = set(self.markets) - missing if year in dense else set()
                continue
            known = set()
            for market in self.markets:
                own = {other: self.years[other][market][0] for other in self.years if market in self.years[other]}
                if own.get(year, 0) >= 20 and market not in missing and year in self.dense(own):
                    known.add(market)
            self.scope[year] = known
        self.known_whole = {year for year, (_, is_whole) in sparse.items() if is_whole and year in dense}

    def rounds(self, year):
        return sum(counts[0] for counts in self.years.get(year, {}).values())

    def sparse(self, usual):
        total, found = sum(usual.values()), {}
        for year in self.years:
            of_year = self.rounds(year)
            missing = {market for market, rounds in usual.items()
                       if self.years[year].get(market, (0,))[0] < rounds * of_year // max(total, 1) // 5}
            found[year] = (missing, sum(usual[market] for market in missing) * 3 <= total)
        return found

    @staticmethod
    def dense(rounds):
        peak, found = max(rounds.values(), default=0), set()
        for year, own in rounds.items():
            around = min(rounds.get(year - 1, 0), rounds.get(year + 1, 0))
            if own > 0 and own * 20 >= peak and not (around >= 10 and own * 5 < around):
                found.add(year)
        return found

    def counts(self, year, is_asked):
        chosen = [counts for market, counts in self.years.get(year, {}).items() if is_asked(market)]
        return sum(counts[0] for counts in chosen), sum(counts[1] for counts in chosen)

    def covers(self, year, is_asked, of_investors):
        """2: known, 1: of some countries, 0: not."""
        if year not in self.years:
            return 0
        asked = {market: rounds for market, rounds in self.markets.items() if is_asked(market)}
        total = sum(asked.values())
        covered = sum(rounds for market, rounds in asked.items() if market in self.scope[year])
        if total == 0:
            level = 2 if year in self.known_whole else 0
        elif covered == 0:
            level = 0
        else:
            level = 2 if (total - covered) * 3 <= total else 1
        if level and of_investors:
            own, known = self.counts(year, is_asked)
            if own < 20:
                own, known = self.counts(year, lambda _: True)
            level = min(level, 2 if known and known * 2 >= own else 1 if known and known * 20 >= own else 0)
        return level


def with_known_precision(rounds):
    """Dates of which a source knew the year only: one day for nine of ten rounds of a country and year."""
    groups = collections.defaultdict(collections.Counter)
    for market, date in rounds:
        if date and len(date) == 10:
            groups[None, date[:4]][date[5:]] += 1
            groups[(market,), date[:4]][date[5:]] += 1

    def only_day(days):
        total = sum(days.values())
        return next((day for day, count in days.items() if total >= 20 and count * 10 >= total * 9), None)

    repeated = collections.Counter((scope, only_day(days)) for (scope, _), days in groups.items() if only_day(days))

    def known(market, date):
        if not date or len(date) != 10:
            return date
        scope = (market,) if sum(groups[(market,), date[:4]].values()) >= 20 else None
        days = groups[scope, date[:4]]
        only, total = only_day(days), sum(days.values())
        if only and (only in CONVENTIONAL or repeated[scope, only] > 1):
            return date[:4] if date[5:] == only else date
        firsts = sum(count for day, count in days.items() if day.endswith("-01"))
        if date.endswith("-01") and not only and total >= 20 and firsts * 10 >= total * 9:
            return date[:7]
        return date

    return known


class Data:
    def __init__(self, folder):
        truth = Truth(folder)
        query = truth.rows
        self.tables = {name: Table(name, [one for one, in query(f"SELECT {key} FROM {source} ORDER BY {key}")])
                       for name, key, source in (("vcs", "slug", "firms_csv"), ("startups", "slug", "startups_csv"),
                                                 ("funding-rounds", "id", "rounds_csv"), ("people", "slug", "people_csv"))}
        firms, startups, rounds, people = self.tables.values()
        known = with_known_precision(query("SELECT country, announced_on FROM rounds"))
        date_of = {one: known(country, date) for one, country, date in query("SELECT id, country, announced_on FROM rounds")}
        with_investors = {one for one, in query("SELECT DISTINCT round FROM investments")}
        self.coverage = Coverage((country, int(date_of[one][:4]), one in with_investors)
                                 for one, country in query("SELECT id, country FROM rounds") if date_of[one])

        founded = query("SELECT country, founded_year FROM startups_csv")
        self.founding = Coverage((country, int(year), False) for country, year in founded if country and year)

        def newest(pairs):
            dates = {}
            for one, date in pairs:
                if date and (one not in dates or days_of(date) > days_of(dates[one])):
                    dates[one] = date
            return dates

        last_of_firm = newest((firm, date_of[one]) for firm, one in query("SELECT firm, round FROM investments"))
        last_of_startup = newest((startup, date_of[one]) for startup, one in query("SELECT startup, id FROM rounds"))
        self.joined = collections.defaultdict(list)
        for firm, one in query("SELECT firm, round FROM investments"):
            if date_of[one]:
                self.joined[firms.row_of[firm]].append(days_of(date_of[one]))
        for table, source in ((firms, "firms_csv"), (startups, "startups_csv")):
            table.facet("country", query(f"SELECT slug, country FROM {source}"))
            table.facet("city", ((one, fold(city or "")) for one, city in query(f"SELECT slug, city FROM {source}")))
            table.number("founded_year", query(f"SELECT slug, founded_year FROM {source}"))
        firms.facet("stage", query("SELECT firm, stage FROM firm_stages"))
        firms.facet("sector", query("SELECT firm, sector FROM firm_sectors"))
        firms.facet("kind", query("SELECT slug, kind FROM firms_csv"))
        firms.number("portfolio_count", query("SELECT slug, portfolio_count FROM firms"))
        firms.number("investment_count", query("SELECT slug, investment_count FROM firms"))
        firms.date("last_investment_on", last_of_firm.items())
        startups.facet("stage", query("SELECT slug, stage FROM startups_csv"))
        startups.facet("sector", query("SELECT startup, sector FROM startup_sectors"))
        startups.facet("status", query("SELECT slug, status FROM startups_csv"))
        startups.facet("investor", query("SELECT DISTINCT startup, firm FROM investments"))
        startups.number("total_raised_usd", query("SELECT slug, total_raised_usd FROM startups"))
        startups.number("round_count", query("SELECT slug, round_count FROM startups"))
        startups.date("last_round_on", last_of_startup.items())
        startups.amount = startups.numbers["total_raised_usd"].of
        rounds.facet("stage", query("SELECT id, stage FROM rounds"))
        rounds.facet("country", query("SELECT id, country FROM rounds"))
        rounds.facet("city", ((one, fold(city or "")) for one, city in query("SELECT id, city FROM rounds")))
        rounds.facet("startup", query("SELECT id, startup FROM rounds"))
        rounds.facet("sector", query("SELECT r.id, s.sector FROM rounds r JOIN startup_sectors s ON s.startup = r.startup"))
        rounds.facet("investor", query("SELECT round, firm FROM investments"))
        rounds.facet("lead", query("SELECT round, firm FROM investments WHERE lead"))
        rounds.facet("kind", query("SELECT i.round, f.kind FROM investments i JOIN firms_csv f ON f.slug = i.firm"))
        rounds.number("amount_usd", query("SELECT id, amount_usd FROM rounds"))
        rounds.date("announced_on", date_of.items())
        rounds.facet("year", ((one, date[:4]) for one, date in date_of.items() if date))
        by_month = {one: date for one, date in date_of.items() if date and len(date) > 4}
        rounds.facet("quarter", ((one, f"{date[:4]}-Q{(int(date[5:7]) + 2) // 3}") for one, date in by_month.items()))
        rounds.amount = rounds.numbers["amount_usd"].of
        for table in (firms, startups):
            years = table.numbers["founded_year"].of.items()
            table.facet("founded_year", ((table.ids[row], str(year)) for row, year in years))
        people.facet("kind", query("SELECT slug, organization_kind FROM people"))
        people.facet("country", query("SELECT slug, country FROM people"))
        people.facet("city", ((one, fold(city or "")) for one, city in query("SELECT slug, city FROM people")))


# For each list: filters by value, with their modes; bounds as (parameter, property, is it a minimum).
VALUES = {
    "vcs": {"stage": "all not", "sector": "all not", "country": "not", "city": "not", "kind": "not"},
    "startups": {"stage": "not", "sector": "all not", "country": "not", "city": "not", "status": "not", "investor": "all not"},
    "funding-rounds": {"stage": "not", "sector": "all not", "country": "not", "city": "not", "startup": "not",
                       "investor": "all not", "kind": "all not"},
    "people": {"kind": "not", "country": "not", "city": "not"},
}
BOUNDS = {
    "vcs": [("min_portfolio", "portfolio_count", 1), ("max_portfolio", "portfolio_count", 0), ("founded_from", "founded_year", 1),
            ("founded_to", "founded_year", 0), ("active_since", "last_investment_on", 1), ("active_until", "last_investment_on", 0)],
    "startups": [("min_raised_usd", "total_raised_usd", 1), ("max_raised_usd", "total_raised_usd", 0), ("founded_from", "founded_year", 1),
                 ("founded_to", "founded_year", 0), ("min_rounds", "round_count", 1), ("max_rounds", "round_count", 0),
                 ("last_round_since", "last_round_on", 1), ("last_round_until", "last_round_on", 0)],
    "funding-rounds": [("min_amount_usd", "amount_usd", 1), ("max_amount_usd", "amount_usd", 0), ("since", "announced_on", 1),
                       ("until", "announced_on", 0), ("since", "announced_on", 1), ("until", "announced_on", 0)],
    "people": [],
}
SORTS = {
    "vcs": ["portfolio_count", "investment_count", "founded_year", "last_investment_on"],
    "startups": ["total_raised_usd", "round_count", "founded_year", "last_round_on"],
    "funding-rounds": ["amount_usd", "announced_on"],
    "people": [],
}
TOOLS = {"vcs": "search_vcs", "startups": "search_startups", "funding-rounds": "get_funding_rounds", "people": "search_people"}
NOUNS = {"vcs": "firms", "startups": "startups", "funding-rounds": "funding rounds", "people": "people"}
INVESTORS = {"investor", "lead", "kind"}
DATES = {"last_investment_on", "last_round_on", "announced_on"}


class Condition:
    def __init__(self, name, prop, rows, mode="any", values=(), bound=None):
        self.name, self.prop, self.rows, self.mode, self.values, self.bound = name, prop, rows, mode, values, bound


def span_years(text):
    """`2004 to 2013 and 2021` as a set."""
    years = set()
    for first, last in re.findall(r"\b(\d{4})(?: to (\d{4}))?", text):
        years |= set(range(int(first), int(last or first) + 1))
    return years


def number(text):
    return int(text.replace(",", ""))


class Run:
    def __init__(self, options):
        self.options = options
        self.data = Data(options.data)
        self.random = random.Random(options.seed)
        self.address = urllib.parse.urlsplit(options.base)
        self.connection = None
        self.counts, self.wrong = collections.Counter(), []
        states = (pathlib.Path(__file__).parent.parent.parent / "src/data/states.txt").read_text()
        self.states = {fold(name) for line in states.splitlines() for part in line.split("|")[1:2] for name in part.split(",")}

    def send(self, method, path, body=None):
        headers = {"Authorization": "Bearer " + self.options.key, "Content-Type": "application/json"}
        for attempt in (0, 1):
            try:
                self.connection = self.connection or http.client.HTTPConnection(self.address.netloc, timeout=60)
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt:
                    raise
        return answer.status, json.loads(text)

    def get(self, path, query=()):
        return self.send("GET", f"/api/v3/{path}?" + urllib.parse.urlencode(list(query)))

    def tool(self, name, arguments):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
        status, answer = self.send("POST", "/api/mcp", body)
        return status, answer.get("result") or answer

    def disagree(self, kind, what, *details):
        self.wrong.append((kind, what, details))
        if self.options.verbose or len(self.wrong) <= 20:
            print("DISAGREES", kind, what, *details, flush=True)

    def value_condition(self, table, name, modes):
        pick = self.random
        facet = table.has[name]
        rows = list(table.values[name]) if name not in ("stage", "kind", "status") else None
        chosen = []
        for _ in range(pick.choice((1, 1, 1, 2, 3))):
            if rows:
                chosen.append(pick.choice(sorted(table.values[name][pick.choice(rows)])))
            else:
                chosen.append(pick.choice(sorted(facet)))
        chosen = list(dict.fromkeys(chosen))
        if name == "city" and any(value in self.states or "," in value for value in chosen):
            return None
        mode = pick.choice(["any", "any"] + modes.split())
        sets = [facet[value] for value in chosen]
        if mode == "all":
            rows = table.all
            for one in sets:
                rows &= one
        else:
            rows = 0
            for one in sets:
                rows |= one
            if mode == "not":
                # An unknown value may be an excluded one.
                rows = table.known[name] & ~rows
        parameter = {"any": name, "all": name + "_all", "not": "not_" + name}[mode]
        return Condition(parameter, name, rows, mode, chosen)

    def bound_condition(self, table, bound):
        parameter, prop, is_min = bound
        of = table.numbers[prop].of
        if not of:
            return None
        value = self.random.choice(list(of.values()))
        if prop in DATES:
            text = f"{value // 10_000:04}-{value // 100 % 100:02}-{value % 100:02}"[:self.random.choice((4, 4, 7, 10))]
            value = days_of(text)[0 if is_min else 1]
        else:
            text = str(value)
        rows = table.numbers[prop].between(value, None) if is_min else \
            table.numbers[prop + " last" if prop in DATES else prop].between(None, value)
        return Condition(parameter, prop, rows, "bound", [text], (is_min, value))

    def conditions(self, table):
        found = []
        for _ in range(self.random.choice((0, 1, 1, 2, 2, 3))):
            bounds = BOUNDS[table.name]
            if bounds and self.random.random() < 0.4:
                one = self.bound_condition(table, self.random.choice(bounds))
            else:
                name = self.random.choice(list(VALUES[table.name]))
                one = self.value_condition(table, name, VALUES[table.name][name])
            if one and all(one.name != other.name for other in found):
                found.append(one)
        return found

    def rows(self, table, conditions):
        """The rows that meet all conditions. Both bounds of a firm's activity are one: a round between them."""
        active = [one for one in conditions if one.prop == "last_investment_on"]
        rows = table.all
        for one in conditions:
            if len(active) < 2 or one not in active:
                rows &= one.rows
        if len(active) == 2:
            low = next(one.bound[1] for one in active if one.bound[0])
            high = next(one.bound[1] for one in active if not one.bound[0])
            joined = self.data.joined.items()
            rows &= bits([row for row, dates in joined if any(low <= first and last <= high for first, last in dates)])
        return rows

    @staticmethod
    def is_contradictory(status, body):
        return status == 400 and "so that nothing matches" in json.dumps(body)

    # Notes on coverage

    def known_of(self, table, prop, conditions, own):
        """How many of the rows of the other conditions have a value, and how many these are."""
        of_investors = table.name == "funding-rounds"
        active = sum(one.prop == "last_investment_on" for one in conditions)
        base = table.all
        for one in conditions:
            is_same = one.prop == prop or (of_investors and prop in INVESTORS and one.prop in INVESTORS)
            if one is not own and not is_same and not (active == 2 and one.prop == "last_investment_on"):
                base &= one.rows
        return (base & table.known[prop]).bit_count(), base.bit_count()

    def expected_known(self, table, conditions, sort, groups):
        """For each parameter the numbers of its note."""
        expected = {}
        of_investors = set()
        active = sum(one.prop == "last_investment_on" for one in conditions)
        for one in conditions:
            if one.prop == "last_investment_on" or one.prop not in table.known or one.mode == "known":
                continue
            known, total = self.known_of(table, one.prop, conditions, one)
            unknown = total - known
            # Without a value a record does not meet a condition on the same field either.
            if one.mode == "not" and any(other.prop == one.prop and other.mode not in ("not", "known") for other in conditions):
                continue
            if one.mode == "not" and 0 < unknown < known:
                expected[one.name] = ("leaves out", unknown)
            elif unknown * 5 > total:
                if table.name == "funding-rounds" and one.prop in INVESTORS:
                    of_investors.add((known, total))
                else:
                    expected[one.name] = ("known", known, total)
        named = [one for one in conditions if one.prop == "startup" and one.mode == "any"]
        if table.name == "funding-rounds" and named and not any(one.prop in INVESTORS for one in conditions):
            known, total = self.known_of(table, "investor", conditions, None)
            if known < total:
                of_investors.add((known, total))
        if sort:
            known, total = self.known_of(table, sort, conditions, None)
            if (total - known) * 5 > total:
                expected["sort"] = ("known", known, total)
        for by in groups:
            if by in table.known and by not in ("year", "quarter", "founded_year"):
                known, total = self.known_of(table, by, conditions, None)
                if known * 2 < total:
                    expected["group_by"] = ("known", known, total)
        dates = [one for one in conditions if one.prop in DATES]
        if table.name == "vcs" and dates:
            rounds = self.data.tables["funding-rounds"]
            low = max((one.bound[1] for one in dates if one.bound[0]), default=None)
            high = min((one.bound[1] for one in dates if not one.bound[0]), default=None)
            period = rounds.numbers["announced_on"].between(low, None) & rounds.numbers["announced_on last"].between(None, high)
            known, total = (period & rounds.known["investor"]).bit_count(), period.bit_count()
            if known * 2 < total:
                of_investors.add((known, total))
        return expected, of_investors

    def expected_founding(self, table, conditions):
        """Founding years that are not covered, and the numbers of startups of then and of all; `None` without."""
        bounds = [one for one in conditions if one.prop == "founded_year"]
        low = max((one.bound[1] for one in bounds if one.bound[0]), default=None)
        if low is None or table.name != "startups":
            return None
        high = min((one.bound[1] for one in bounds if not one.bound[0]), default=10**6)
        is_asked, coverage = self.markets(table, conditions), self.data.founding
        years = sorted(coverage.years)
        covered = {year for year in years if coverage.covers(year, is_asked, False)}
        if not covered or high < min(covered) or high < low:
            return None
        low = max(low, min(covered))
        all_covered = [year for year in years if coverage.covers(year, lambda _: True, False)]
        uncovered = None
        if any(low <= year <= high for year in covered):
            within = range(max(low, all_covered[0]), min(high, all_covered[-1]) + 1)
            uncovered = {year for year in within if not coverage.covers(year, is_asked, False)}
            if not uncovered:
                return None
        of_then = sum(coverage.counts(year, is_asked)[0] for year in years if low <= year <= high and year not in covered)
        return uncovered, of_then, sum(coverage.counts(year, is_asked)[0] for year in years)

    def expected_years(self, table, conditions):
        """Years of the period that are not covered, and the numbers of dated rounds of then and of all; `None` without."""
        dates = [one for one in conditions if one.prop in DATES]
        if not dates or table.name == "people":
            return None
        low = max((one.bound[1] // 10_000 for one in dates if one.bound[0]), default=None)
        high = min((one.bound[1] // 10_000 for one in dates if not one.bound[0]), default=None)
        of_investors = table.name == "vcs" or (
            table.name == "funding-rounds" and any(one.prop in INVESTORS for one in conditions))
        is_asked = self.markets(table, conditions)
        coverage = self.data.coverage
        years = sorted(coverage.years)
        covered = {year for year in years if coverage.covers(year, is_asked, of_investors)}
        first, last = low if low is not None else -10**6, high if high is not None else 10**6
        if last < first or not covered:
            return None
        all_covered = [year for year in years if coverage.covers(year, lambda _: True, False)]
        within = range(max(first, all_covered[0]), min(last, all_covered[-1]) + 1)
        if any(first <= year <= last for year in covered):
            uncovered = {year for year in within if not coverage.covers(year, is_asked, of_investors)}
            if not uncovered:
                return None
        else:
            uncovered = None
        place = 1 if of_investors else 0
        of_then = sum(coverage.counts(year, is_asked)[place] for year in years if first <= year <= last and year not in covered)
        return uncovered, of_then, sum(coverage.counts(year, is_asked)[place] for year in years)

    def markets(self, table, conditions):
        if table.name in ("startups", "funding-rounds"):
            for one in sorted(conditions, key=lambda one: one.place):
                if one.prop == "country" and one.mode == "any":
                    return lambda market: market in one.values
                if one.prop == "country" and one.mode == "not":
                    return lambda market: market is not None and market not in one.values
        return lambda market: True

    def check_notes(self, kind, what, table, conditions, sort, groups, notes):
        """`notes`: pairs of a parameter, `None` if unknown, and a text."""
        expected, of_investors = self.expected_known(table, conditions, sort, groups)
        found, found_of_investors = {}, set()
        for parameter, text in notes:
            match = re.search(r"(?:are|is) known for ([\d,]+) of (?:these |the )?([\d,]+) ", text)
            if match:
                numbers = (number(match[1]), number(match[2]))
                names = {"funding-rounds": "investors?|leads?|kind", "vcs": "investors?"}.get(table.name)
                if names and parameter != "group_by" and re.match(f"`?({names})`? (is|are) known", text):
                    found_of_investors.add(numbers)
                else:
                    found[parameter or len(found)] = ("known", *numbers)
            match = re.search(r"`(\w+)` also leaves out ([\d,]+) ", text)
            if match:
                found[parameter or len(found)] = ("leaves out", number(match[2]))
        self.counts["notes"] += len(expected) + len(of_investors)
        # Of equal notes on two conditions the first one is enough.
        if set(found.values()) != set(expected.values()) or found_of_investors != of_investors:
            self.disagree(kind, what, "notes", found, found_of_investors, "expected", expected, of_investors, notes)
        named = [text for _, text in notes if " not covered" in text and not text.startswith("most rounds")]
        named = [text for text in named if "so that counts say little" not in text]
        founded = [text for text in named if "founding year" in text]
        named = [text for text in named if "founding year" not in text]
        self.check_years(kind, what, self.expected_founding(table, conditions), founded, "startups of known founding year and country", notes)
        self.check_years(kind, what, self.expected_years(table, conditions), named, "dated funding rounds", notes)

    def check_years(self, kind, what, years, named, records, notes):
        if years is None:
            if named:
                self.disagree(kind, what, "years", named, "expected none")
            return
        uncovered, of_then, total = years
        self.counts["years"] += 1
        if not named:
            self.disagree(kind, what, "no years", "expected", sorted(uncovered or ()), of_then, total, notes)
            return
        text = re.search(r"(?:^|; )([^;]*?) (?:is|are) not covered", named[0])[1]
        if uncovered is not None and span_years(text) != uncovered:
            self.disagree(kind, what, "years", named, "expected", sorted(uncovered))
        match = re.search(rf"([\d,]+) of ([\d,]+) {records}", named[0])
        if match and (number(match[1]), number(match[2])) != (of_then, total):
            self.disagree(kind, what, "counts", named, "expected", of_then, total)

    # Kinds of requests

    def draw(self):
        table = self.data.tables[self.random.choice(("vcs", "startups", "startups", "funding-rounds", "funding-rounds", "people"))]
        conditions = self.conditions(table)
        query = [(one.name, value) for one in conditions for value in one.values]
        if self.random.random() < 0.1:
            prop = self.random.choice([name for name in table.known if name not in ("year", "quarter", "founded_year", "startup")])
            is_known = self.random.random() < 0.5
            rows = table.known[prop] if is_known else table.all & ~table.known[prop]
            conditions.append(Condition("known" if is_known else "unknown", prop + " known", rows, "known", [prop]))
            query.append((conditions[-1].name, prop))
        names = ["known"] + [bound[0] for bound in BOUNDS[table.name]]
        for one in conditions:
            one.place = list(VALUES[table.name]).index(one.prop) * 3 + (one.mode == "not") if one.prop in VALUES[table.name] else 99
        return table, conditions, query, names

    @staticmethod
    def notes_of(body):
        warnings = (body.get("meta") or {}).get("warnings") or []
        return [(note["parameter"], note["detail"]) for note in warnings if note["code"] == "low_coverage"]

    def list(self):
        table, conditions, query, _ = self.draw()
        rows = self.rows(table, conditions)
        sort = self.random.choice(SORTS[table.name] + [None]) if SORTS[table.name] else None
        is_down = self.random.random() < 0.5
        key = "id" if table.name == "funding-rounds" else "slug"
        limit = self.random.choice((1, 3, 10, 30))
        asked = query + [("limit", limit), ("fields", key)] + ([("sort", ("-" if is_down else "") + sort)] if sort else [])
        what = (table.name, asked)
        status, body = self.get(table.name, asked)
        if self.is_contradictory(status, body):
            return rows and self.disagree("list", what, "contradictory, expected", rows.bit_count())
        if status != 200:
            return self.disagree("list", what, status, body.get("detail"), body.get("errors"))
        if body["pagination"]["total"] != rows.bit_count():
            self.disagree("list", what, "total", body["pagination"]["total"], "expected", rows.bit_count())
        found = [row[key] for row in body["data"]]
        cursor = body["pagination"].get("next_cursor")
        if cursor:
            _, more = self.get(table.name, [("cursor", cursor), ("limit", limit)])
            found += [row[key] for row in more["data"]]
            limit *= 2
        if sort:
            of = table.numbers[sort].of
            wanted = sorted(rows_of(rows), key=lambda row: (row not in of, (-of[row] if is_down else of[row]) if row in of else 0))
            values = [of.get(table.row_of[one]) for one in found]
            if values != [of.get(row) for row in wanted[:limit]] or len(set(found)) != len(found):
                self.disagree("list", what, "order", values, [of.get(row) for row in wanted[:limit]])
        if any(not rows >> table.row_of[one] & 1 for one in found) or len(found) != min(limit, rows.bit_count()):
            self.disagree("list", what, "rows", found)
        self.check_notes("list", what, table, conditions, sort, (), self.notes_of(body))

    def aggregate(self):
        table, conditions, query, _ = self.draw()
        rows = self.rows(table, conditions)
        by = self.random.choice([name for name in table.values if name not in ("startup", "lead")])
        limit = self.random.choice((1, 5, 20))
        asked = query + [("group_by", by), ("limit", limit)]
        what = (table.name + "/aggregate", asked)
        status, body = self.get(*what)
        if self.is_contradictory(status, body):
            return rows and self.disagree("aggregate", what, "contradictory, expected", rows.bit_count())
        if status != 200:
            return self.disagree("aggregate", what, status, body.get("detail"), body.get("errors"))
        data = body["data"]
        listed = rows_of(rows)
        groups = collections.defaultdict(list)
        for row in listed:
            for value in table.values[by].get(row, ()):
                groups[value].append(row)
        grouping = data["groups"][0]
        if data["total"] != len(listed):
            self.disagree("aggregate", what, "total", data["total"], len(listed))
        for name, amounts, of in [("all", data["amounts"], listed)] + [
                (group["value"], group["amounts"], groups.get(self.value(by, group["value"]), ())) for group in grouping["values"]]:
            if name != "all":
                count = next(group["count"] for group in grouping["values"] if group["value"] == name)
                if count != len(of):
                    self.disagree("aggregate", what, name, count, "expected", len(of))
            if table.amount is None:
                continue
            known = sorted(table.amount[row] for row in of if row in table.amount)
            expected = {"known": len(known), "unknown": len(of) - len(known), "sum_usd": sum(known) if known else None,
                        "median_usd": (known[(len(known) - 1) // 2] + known[len(known) // 2]) // 2 if known else None,
                        "mean_usd": (sum(known) + len(known) // 2) // len(known) if known else None,
                        "max_usd": known[-1] if known else None}
            if amounts != expected:
                self.disagree("aggregate", what, name, amounts, "expected", expected)
        counts = [group["count"] for group in grouping["values"]]
        if by in ("year", "quarter", "founded_year"):
            latest = sorted(groups, reverse=True)[:limit]
            if [group["value"] for group in grouping["values"]] != latest:
                self.disagree("aggregate", what, "groups", grouping["values"], "expected", latest)
        elif counts != sorted(map(len, groups.values()), reverse=True)[:limit]:
            self.disagree("aggregate", what, "counts", counts)
        shown = {self.value(by, group["value"]) for group in grouping["values"]}
        unknown = sum(1 for row in listed if row not in table.values[by])
        other = sum(1 for row in listed if row in table.values[by] and not table.values[by][row] & shown)
        if (grouping["unknown"]["count"], grouping["other"]["count"], grouping["other_values"]) != (
                unknown, other, len(groups) - len(shown)):
            self.disagree("aggregate", what, "rest", grouping["unknown"], grouping["other"], grouping["other_values"], "expected",
                          unknown, other, len(groups) - len(shown))
        self.check_notes("aggregate", what, table, conditions, None, (by,), self.notes_of(body))
        if by == "year" and shown:
            self.check_years_of_groups(what, table, conditions, {int(year) for year in shown}, self.notes_of(body))

    def check_years_of_groups(self, what, table, conditions, years, notes):
        """Years among the groups, or between them, that are not covered."""
        of_investors = any(one.prop in INVESTORS and one.mode != "known" for one in conditions)
        is_asked, coverage = self.markets(table, conditions), self.data.coverage
        covered = [year for year in coverage.years if coverage.covers(year, lambda _: True, False)]
        between = range(max(min(years), min(covered)), min(max(years), max(covered)) + 1)
        expected = {year for year in years | set(between) if not coverage.covers(year, is_asked, of_investors)}
        named = [text for _, text in notes if "so that counts say little" in text]
        found = span_years(named[0].split(" not covered")[0]) if named else set()
        if found != expected:
            self.disagree("aggregate", what, "years of groups", sorted(found), "expected", sorted(expected), notes)

    @staticmethod
    def value(by, value):
        return fold(value) if by == "city" else value

    def facets(self):
        table = self.data.tables["vcs"]
        conditions = self.conditions(table)
        rows = self.rows(table, conditions)
        asked = [(one.name, value) for one in conditions for value in one.values]
        status, body = self.get("vcs/facets", asked)
        if self.is_contradictory(status, body):
            return
        if status != 200 or body["data"]["total"] != rows.bit_count():
            return self.disagree("facets", asked, status, body.get("data", body), "expected", rows.bit_count())
        for name in ("stage", "country"):
            for group in body["data"].get(name) or ():
                expected = (table.has[name].get(group["value"], 0) & rows).bit_count()
                if group["count"] != expected:
                    self.disagree("facets", asked, name, group, "expected", expected)

    def record(self):
        table = self.data.tables[self.random.choice(("vcs", "startups", "funding-rounds"))]
        row = self.random.randrange(len(table.ids))
        status, body = self.get(f"{table.name}/{table.ids[row]}")
        data = body.get("data") or {}
        for name, of in table.numbers.items():
            if name.endswith(" last"):
                continue
            found = data.get(name)
            if name in DATES and found is not None:
                found = days_of(found)[0]
            expected = of.of.get(row)
            if name == "amount_usd" and data.get("suspect"):
                expected = found
            if status != 200 or found != expected:
                self.disagree("record", (table.name, table.ids[row]), name, found, "expected", expected)

    def mcp(self):
        table, conditions, query, _ = self.draw()
        rows = self.rows(table, conditions)
        arguments = collections.defaultdict(list)
        for name, value in query:
            arguments[name].append(value)
        arguments = {name: values if len(values) > 1 else values[0] for name, values in arguments.items()}
        what = (TOOLS[table.name], {**arguments, "limit": 1})
        _, result = self.tool(*what)
        body = result.get("structuredContent")
        if body is None or result.get("isError"):
            text = json.dumps(result)
            if "so that nothing matches" not in text or rows:
                self.disagree("mcp", what, text[:300], "expected", rows.bit_count())
            return
        if body["total"] != rows.bit_count():
            self.disagree("mcp", what, body["total"], "expected", rows.bit_count())
        notes = [(None, note) for note in body.get("notes") or () if "nothing matches all" not in note]
        self.check_notes("mcp", what, table, conditions, None, (), notes)

    def all(self):
        kinds = [self.list] * 5 + [self.aggregate] * 4 + [self.mcp] * 3 + [self.facets, self.record]
        for place in range(self.options.requests):
            kind = self.random.choice(kinds)
            self.counts[kind.__name__] += 1
            kind()
            if place % 1_000 == 999:
                print(place + 1, "requests,", len(self.wrong), "disagreements", flush=True)
        print(dict(self.counts), "disagreements:", len(self.wrong), dict(collections.Counter(kind for kind, *_ in self.wrong)))
        return 1 if self.wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--base", "--key", "--data"):
        parser.add_argument(option, required=True)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    sys.exit(Run(parser.parse_args()).all())
