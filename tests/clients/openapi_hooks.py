"""What schemathesis cannot know: values that the snapshot decides on, and cursors.

The documents leave open what a release decides (sectors, cities, slugs). Here they are closed with values that the
service itself names, so that whatever is generated from them must be accepted. A cursor carries its query: beside one,
only `limit`, `fields` and `explain` are kept. A match needs to be told something of the startup.
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
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


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
SLUGS = {"vcs": FIRMS, "startups": VALUES["startup"], "people": column("people", "slug")}


@schemathesis.hook
def before_load_schema(context, schema):
    strict = "/api/v3" in schema["servers"][0]["url"]
    for path, item in schema["paths"].items():
        for parameter in item["get"]["parameters"]:
            if parameter["name"] == "slug":
                parameter["schema"]["enum"] = SLUGS[path.split("/")[1]]
            elif not strict and parameter["schema"]["type"] == "array":
                # v1 and v2 take any text for a list, and warn of it: no mutation of one is refused.
                parameter["schema"] = {"anyOf": [parameter["schema"], {"type": "string"}]}
            elif strict and parameter["name"] in VALUES:
                parameter["schema"]["items"]["enum"] = VALUES[parameter["name"]]
            elif strict and parameter["name"] == "sort":
                # It stands alone.
                name = parameter["schema"]["items"]["$ref"].rsplit("/", 1)[1]
                keys = schema["components"]["schemas"][name]["enum"]
                parameter["schema"]["items"] = {"type": "string", "enum": [key for key in keys if key != "relevance"]}


def is_empty_in_part(value):
    parts = value if isinstance(value, list) else [value]
    return any(not str(piece).strip() for part in parts for piece in str(part).split(","))


@schemathesis.hook
def filter_case(context, case):
    """Empty values are as none, in lists as well: what is wrong only in having them is rightly accepted."""
    mode = case.meta.generation.mode if case.meta else None
    if mode == GenerationMode.POSITIVE:
        return True
    return not any(is_empty_in_part(value) for value in (case.query or {}).values())


@functools.lru_cache(maxsize=None)
def cursor(path):
    told = {"sector": "fintech"} if path.endswith("/match") else {}
    try:
        return get(path, limit=1, **told)["pagination"]["next_cursor"]
    except urllib.error.HTTPError:
        return None


def says_something(query):
    values = (query.get(name) for name in ("stage", "sector", "country", "raise_usd"))
    return any(any(value) if isinstance(value, list) else value for value in values)


@schemathesis.hook
def map_case(context, case):
    mode = case.meta.generation.mode if case.meta else None
    if mode != GenerationMode.POSITIVE:
        return case
    if case.path == "/match" and not says_something(case.query or {}):
        case.query = (case.query or {}) | {"raise_usd": 1_000_000}
    if case.query and "cursor" in case.query:
        path = "/api/v3" + case.formatted_path
        made = cursor(path)
        kept = {name: value for name, value in case.query.items() if name in ("limit", "fields", "explain")}
        case.query = kept | ({"cursor": made} if made else {})
    return case
