"""What schemathesis cannot know: values that depend on the snapshot, cursors, and contradictions.

The documents do not enumerate what depends on the release (sectors, cities, slugs). Here they get values from the
service, so that everything generated from them must be accepted. A cursor contains its query: next to one, only `limit`,
`fields` and `explain` are sent. A match needs at least one property of the startup, and a look-up something that names the
record. v3 rejects conditions that no record can meet together (`stage=seed&not_stage=seed`), which OpenAPI cannot express;
nor can it tie a parameter to a media type: of `POST /resolve`, `name_column` and its like belong to tables, `fields` to JSON.
"""

import collections
import csv
import functools
import io
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request

import schemathesis
from schemathesis import GenerationMode

BASE = os.environ["VENTUREDEX_URL"]
KEY = os.environ["VENTUREDEX_KEY"]


def get(path, **query):
    address = f"{BASE}{path}?{urllib.parse.urlencode(query)}"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def column(path, name, **query):
    """Values of a field, none of which contains another: a job title matches all titles that have its words."""
    rows = get(f"/api/v3/{path}", limit=25, fields=name, **query)["data"]
    values = sorted({row[name] for row in rows if row[name] and "," not in row[name]})
    words = {value: set(re.findall(r"\w+", value.lower())) for value in values}
    return [value for value in values if not any(words[value] > words[other] for other in values)]


def identifiers(path):
    rows = get(f"/api/v3/{path}", limit=25, fields="identifiers", known="identifier")["data"]
    return sorted({f"{found['scheme']}:{found['value']}" for row in rows for found in row["identifiers"]})


FIRMS = column("vcs", "slug")
STARTUPS = column("startups", "slug")
SECTORS = column("sectors", "slug")
RELEASES = [release["version"] for release in get("/api/v3/snapshots")["data"]]
VALUES = {
    **dict.fromkeys(["sector", "parent"], SECTORS),
    **dict.fromkeys(["vc", "investor", "lead", "organization"], FIRMS),
    "startup": STARTUPS,
    **dict.fromkeys(["snapshot", "from", "to"], RELEASES),
    # Days before the first release have none.
    "as_of": [release[:10] for release in RELEASES],
}
LISTS = {
    "vcs": {
        "slug": FIRMS, "like": FIRMS, "city": column("vcs", "city"), "website": column("vcs", "website"), "id": identifiers("vcs")
    },
    "startups": {
        "slug": STARTUPS, "like": STARTUPS, "city": column("startups", "city"), "website": column("startups", "website"),
        "id": identifiers("startups"),
    },
    "people": {
        "slug": column("people", "slug"), "city": column("vcs", "city"), "title": column("people", "title"), "id": identifiers("people")
    },
    "sectors": {"slug": SECTORS},
    "funding-rounds": {"id": column("funding-rounds", "id"), "city": column("startups", "city", min_rounds=1)},
    "reviews": {"id": column("reviews", "id")},
}
LISTS |= {"portfolio": LISTS["startups"], "rounds": LISTS["funding-rounds"], "resolve": {"id": identifiers("vcs")}}
# For each path of v3 the names of its parameters, and those of all paths with the same rows.
NAMES = {}
# Whether the document is that of v3.
strict = False


def field(name):
    """The property that a parameter of values is about."""
    return name.removeprefix("not_").removesuffix("_all")


@schemathesis.hook
def before_load_schema(context, schema):
    global strict
    strict = "/api/v3" in schema["servers"][0]["url"]
    of_rows = collections.defaultdict(set)
    for path, item in schema["paths"].items():
        parameters = [parameter for operation in item.values() for parameter in operation["parameters"]]
        segments = path.split("/")
        values = VALUES | LISTS.get(next((part for part in reversed(segments) if part in LISTS), None), {})
        for parameter in parameters:
            name, value = parameter["name"], parameter["schema"]
            if parameter["in"] == "path":
                value["enum"] = LISTS[segments[1]][name]
            elif name != "as_of" and value.get("pattern", "").endswith("-Q[1-4])?$"):
                # Days that every month has; dates of different forms are not ordered as text.
                value["pattern"] = "^[12][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$"
            elif not strict and value["type"] == "array":
                # v1 and v2 accept any text for a list with a warning: no mutation is rejected.
                parameter["schema"] = {"anyOf": [value, {"type": "string"}]}
            elif strict and field(name) in values:
                value.get("items", value)["enum"] = values[field(name)]
            elif strict and name == "sort" and "items" in value:
                # It cannot be combined with others.
                keys = schema["components"]["schemas"][value["items"]["$ref"].rsplit("/", 1)[1]]["enum"]
                value["items"] = {"type": "string", "enum": [key for key in keys if key != "relevance"]}
        if strict:
            schemas = {parameter["name"]: parameter["schema"] for parameter in parameters if parameter["in"] == "query"}
            rows = of_rows[schemas["known"]["items"]["$ref"] if "known" in schemas else path]
            rows |= set(schemas)
            NAMES[path] = (set(schemas), rows)


def parts(value):
    return [piece for part in (value if isinstance(value, list) else [value]) for piece in str(part).split(",")]


def is_ignored(value):
    """Whether a value is empty and counts as absent. v3 rejects one without any other part."""
    empty = [not piece.strip() for piece in parts(value)]
    return any(empty) and not (strict and all(empty))


@schemathesis.hook
def filter_case(context, case):
    """A request that is invalid only because of an empty value that counts as absent is accepted."""
    mode = case.meta.generation.mode if case.meta else None
    if mode == GenerationMode.POSITIVE:
        return True
    return not any(is_ignored(value) for value in (case.query or {}).values())


# The words by which the names of the lower and of the upper bound of a field differ.
BOUNDS = {"min": "max", "from": "to", "since": "until"}


def is_bound(name):
    return any(word in BOUNDS or word in BOUNDS.values() for word in name.split("_"))


def keep(query, name, is_kept):
    values = [value for value in parts(query.pop(name, "")) if value and is_kept(value)]
    return query | ({name: ",".join(values)} if values else {})


def without_contradictions(query, path, slug):
    """The conditions of a query that a record can meet together, by the names of the parameters."""
    for low in list(query):
        high = "_".join(BOUNDS.get(word, word) for word in low.split("_"))
        if high != low and high in query and query[low] > query[high]:
            query |= {low: query[high], high: query[low]}
    directions = {}
    query = keep(query, "sort", lambda key: directions.setdefault(key.removeprefix("-"), key) == key)
    names, of_rows = NAMES[path]
    # What other lists of these rows take as a parameter is the slug in the path.
    settled = of_rows - names if slug else set()
    for name in [name for name in query if name.startswith("not_")]:
        included = parts(query.get(field(name), "")) + parts(query.get(f"{field(name)}_all", ""))
        if field(name) in settled:
            included.append(slug)
        query = keep(query, name, lambda value: value not in included)
    # The documents do not name the property that a bound is about; it is none of those that have a filter by value.
    conditions = {field(name) for name in query} | set(parts(query.get("known", ""))) | settled
    if "id" in query:
        conditions.add("identifier")
    has_bound = any(is_bound(name) for name in query)
    return keep(query, "unknown", lambda name: name not in conditions and (name in of_rows or not has_bound))


@functools.lru_cache(maxsize=None)
def cursor(path):
    query = {"sector": "fintech"} if path.endswith("/match") else {}
    try:
        return get(path, limit=1, **query)["pagination"]["next_cursor"]
    except urllib.error.HTTPError:
        return None


def has_property(query):
    values = (query.get(name) for name in ("stage", "sector", "country", "raise_usd"))
    return any(any(value) if isinstance(value, list) else value for value in values)


@schemathesis.serializer("text/csv")
def table(context, value):
    return str(value).encode()


def with_table(case):
    """The case with a table that has the columns which its parameters name. NUL is a sign of UTF-16, which is rejected."""
    query = {name: value for name, value in (case.query or {}).items() if name != "fields"}
    query |= {name: value.replace("\0", "_") for name, value in query.items() if name.endswith("_column")}
    columns = {name: value for name, value in query.items() if name.endswith("_column")}
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["name", *columns.values()])
    rows.writerow([case.body, *columns])
    case.query, case.body = query, text.getvalue()
    return case


@schemathesis.hook
def map_case(context, case):
    mode = case.meta.generation.mode if case.meta else None
    if mode != GenerationMode.POSITIVE:
        return case
    if case.path == "/resolve" and case.method == "POST":
        if case.media_type == "text/csv":
            case = with_table(case)
        else:
            case.query = {name: value for name, value in (case.query or {}).items() if not name.endswith("_column")}
    if case.path == "/match" and not has_property(case.query or {}):
        case.query = (case.query or {}) | {"raise_usd": 1_000_000}
    if case.path == "/resolve" and case.method == "GET" and not any((case.query or {}).get(name) for name in ("name", "website", "id")):
        case.query = (case.query or {}) | {"name": "Alder Capital"}
    if case.query and case.path == "/alerts":
        # The number of a search of the account, which has none.
        case.query.pop("saved", None)
    if case.query and "cursor" in case.query:
        path = "/api/v3" + case.formatted_path
        value = cursor(path)
        others = {name: text for name, text in case.query.items() if name in ("limit", "fields", "explain")}
        case.query = others | ({"cursor": value} if value else {})
    elif case.query and strict:
        slug = (case.path_parameters or {}).get("slug")
        # Both select the release.
        if "snapshot" in case.query:
            case.query = {name: value for name, value in case.query.items() if name != "as_of"}
        case.query = without_contradictions(dict(case.query), case.path, slug)
    return case


@schemathesis.hook
def before_add_examples(context, examples):
    """The examples of all parameters are sent together; they do not pass `map_case` otherwise."""
    examples[:] = [map_case(context, case) for case in examples]
