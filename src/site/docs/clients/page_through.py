"""Prints every record of a list, one JSON line per record: python3 page_through.py vcs 'stage=seed&country=DE'"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ["VENTUREDEX_URL"]
KEY = os.environ["VENTUREDEX_KEY"]


def get(path, query):
    """The response to one request. After a 429 or 503 it waits as long as `Retry-After` says and tries again."""
    request = urllib.request.Request(
        f"{URL}/api/v3/{path}?{urllib.parse.urlencode(query)}",
        headers={"Authorization": f"Bearer {KEY}"},
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            wait = int(error.headers.get("Retry-After", 1))
            if error.code not in (429, 503) or wait > 3600:
                raise
            time.sleep(wait)


def records(path, query=()):
    """Every record of a list, each exactly once."""
    seen, cursor = set(), None
    while True:
        page = [*query, ("limit", 100)] + ([("cursor", cursor)] if cursor else [])
        try:
            response = get(path, page)
        except urllib.error.HTTPError as error:
            if error.code != 410:
                raise
            cursor = None  # The release has expired: restart, without records that were already returned.
            continue
        for record in response["data"]:
            name = record.get("slug") or record["id"]
            if name not in seen:
                seen.add(name)
                yield record
        cursor = response["pagination"]["next_cursor"]
        if not cursor:
            return


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "vcs"
    filters = urllib.parse.parse_qsl(sys.argv[2]) if len(sys.argv) > 2 else []
    try:
        for record in records(path, filters):
            print(json.dumps(record, ensure_ascii=False))
    except urllib.error.HTTPError as error:
        problem = json.load(error)
        sys.exit(f"{problem['status']} {problem['code']}: {problem['detail']}")
