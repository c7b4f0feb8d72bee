"""Prints search paths for a load: names of a running server's startups as people half remember them.

    queries.py BASE KEY [COUNT]
"""

import json
import random
import sys
import urllib.parse
import urllib.request

base, key = sys.argv[1:3]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
pick = random.Random(1)


def get(path):
    request = urllib.request.Request(base + path, headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def half_remembered(name):
    """One of the ways in which a name comes out wrong."""
    way = pick.randrange(8)
    at = pick.randrange(len(name))
    if way == 0:
        return name
    if way == 1:
        return name[:at] + name[at + 1 :]
    if way == 2:
        return name[:at] + pick.choice("aeiourstln") + name[at:]
    if way == 3:
        return name[: max(3, at)]
    if way == 4:
        return name.replace(" ", "")
    if way == 5:
        return " ".join(reversed(name.split()))
    if way == 6:
        return name.split()[0]
    return name[:at] + pick.choice("aeiourstln") + name[at + 1 :]


names = []
cursor = ""
while True:
    page = get("/api/v3/startups?limit=100&fields=name" + cursor)
    names += [row["name"] for row in page["data"]]
    if page["pagination"]["next_cursor"] is None:
        break
    cursor = "&cursor=" + page["pagination"]["next_cursor"]
texts = set()
while len(texts) < count and names:
    before = len(texts)
    texts.update(half_remembered(name) for name in names)
    if len(texts) == before:
        break
for text in pick.sample(sorted(texts), min(count, len(texts))):
    query = urllib.parse.urlencode({"q": text, "limit": 10, "fields": "slug,name"})
    print("/api/v3/startups?" + query)
