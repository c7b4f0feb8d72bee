"""What schemathesis cannot know: values that depend on the snapshot, and cursors.

The documents do not enumerate what depends on the release (sectors, cities, slugs). Here they get values from the
service, so that everything generated from them must be accepted. A cursor contains its query: next to one, only `limit`,
`fields` and `explain` are sent. A match needs at least one property of the startup.
"""

import functools
import json
import os
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
    rows = get(f"/api/v3/{path}", limit=25, **query)["data"]
    return sorted({row[name] for row in rows if row[name]})


FIRMS = column("vcs", "slug")
VALUES = {
    "sector": column("sectors", "slug"),
    "parent": column("sectors", "slug"),
    "city": column("vcs", "city"),
    "vc": FIRMS,
    "investor": FIRMS,
    "organization": FIRMS,
    "startup": column("startups", "slug"),
}
SLUGS = {
    "vcs": FIRMS,
    "startups": VALUES["startup"],
    "people": column("people", "slug"),
    "sectors": column("sectors", "slug"),
}
IDS = {"funding-rounds": column("funding-rounds", "id"), "reviews": column("reviews", "id")}


@schemathesis.hook
def before_load_schema(context, schema):
    strict = "/api/v3" in schema["servers"][0]["url"]
    for path, item in schema["paths"].items():
        for parameter in item["get"]["parameters"]:
            if parameter["name"] == "slug" and parameter["in"] == "path":
                parameter["schema"]["enum"] = SLUGS[path.split("/")[1]]
            elif parameter["name"] == "id" and parameter["in"] == "path":
                parameter["schema"]["enum"] = IDS[path.split("/")[1]]
            elif not strict and parameter["schema"]["type"] == "array":
                # v1 and v2 accept any text for a list with a warning: no mutation is rejected.
                parameter["schema"] = {"anyOf": [parameter["schema"], {"type": "string"}]}
            elif strict and parameter["name"] in VALUES:
                parameter["schema"]["items"]["enum"] = VALUES[parameter["name"]]
            elif strict and parameter["name"] == "sort" and "items" in parameter["schema"]:
                # It cannot be combined with others.
                name = parameter["schema"]["items"]["$ref"].rsplit("/", 1)[1]
                keys = schema["components"]["schemas"][name]["enum"]
                parameter["schema"]["items"] = {"type": "string", "enum": [key for key in keys if key != "relevance"]}


def is_empty_in_part(value):
    parts = value if isinstance(value, list) else [value]
    return any(not str(piece).strip() for part in parts for piece in str(part).split(","))


@schemathesis.hook
def filter_case(context, case):
    """Empty values count as absent, in lists too: a request that is invalid only because of them is accepted."""
    mode = case.meta.generation.mode if case.meta else None
    if mode == GenerationMode.POSITIVE:
        return True
    return not any(is_empty_in_part(value) for value in (case.query or {}).values())


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


@schemathesis.hook
def map_case(context, case):
    mode = case.meta.generation.mode if case.meta else None
    if mode != GenerationMode.POSITIVE:
        return case
    if case.path == "/match" and not has_property(case.query or {}):
        case.query = (case.query or {}) | {"raise_usd": 1_000_000}
    if case.query and "cursor" in case.query:
        path = "/api/v3" + case.formatted_path
        value = cursor(path)
        others = {name: text for name, text in case.query.items() if name in ("limit", "fields", "explain")}
        case.query = others | ({"cursor": value} if value else {})
    return case
