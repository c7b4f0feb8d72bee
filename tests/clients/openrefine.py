"""Reconciles 1,000 rows with OpenRefine, extends them, and compares what it finds with the API.

    VENTUREDEX_KEY=vdx_… openrefine.py OPENREFINE VENTUREDEX    the addresses of a headless OpenRefine and of a server

The rows are startups of the server with their names as people write them: in other letter case, with a legal form, with two
letters swapped. OpenRefine must match at least 95 % of those with the right letters, and none wrongly. A name with swapped
letters may be another company: it is not matched, and the first candidate of 95 % is the right one.
"""

import csv
import io
import json
import os
import sys
import time
import urllib.parse
import urllib.request
import uuid

REFINE, SERVER = (address.rstrip("/") for address in sys.argv[1:3])
SERVICE = f"{SERVER}/reconcile"
ROWS = 1_000


def fetch(address, data=None, headers={}):
    with urllib.request.urlopen(urllib.request.Request(address, data, headers)) as response:
        return response.geturl(), response.read().decode()


def api(path):
    return json.loads(fetch(f"{SERVER}/api/v3/{path}", headers={"Authorization": f"Bearer {os.environ['VENTUREDEX_KEY']}"})[1])


def command(name, **parameters):
    """A command that changes a project; they want a token each."""
    token = json.loads(fetch(f"{REFINE}/command/core/get-csrf-token")[1])["token"]
    data = urllib.parse.urlencode(parameters | {"csrf_token": token}).encode()
    answer = json.loads(fetch(f"{REFINE}/command/core/{name}", data)[1])
    assert answer["code"] in ("ok", "pending"), (name, answer)
    until = time.time() + 600
    while json.loads(fetch(f"{REFINE}/command/core/get-processes?project={parameters['project']}")[1])["processes"]:
        assert time.time() < until, f"{name} takes longer than ten minutes"
        time.sleep(0.5)


def upload(text):
    """A new project with the rows of a CSV file; its id."""
    token = json.loads(fetch(f"{REFINE}/command/core/get-csrf-token")[1])["token"]
    boundary = uuid.uuid4().hex
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="'
    body = (
        f'{part}project-name"\r\n\r\nstartups\r\n{part}format"\r\n\r\ntext/line-based/*sv\r\n'
        f'{part}options"\r\n\r\n{json.dumps({"separator": ",", "processQuotes": True})}\r\n'
        f'{part}project-file"; filename="startups.csv"\r\nContent-Type: text/csv\r\n\r\n{text}\r\n--{boundary}--\r\n'
    )
    address = f"{REFINE}/command/core/create-project-from-upload?csrf_token={urllib.parse.quote(token)}"
    url, _ = fetch(address, body.encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"})
    return urllib.parse.parse_qs(urllib.parse.urlparse(url).query)["project"][0]


def has_swapped(name, number):
    """Whether two letters of the written name are swapped."""
    return number % 4 == 3 and len(name) > 9 and name[4:6].isalpha() and name[4] != name[5]


def written(name, number):
    """A name as people write it."""
    if number % 4 == 1:
        return name.upper()
    if number % 4 == 2:
        return f"{name} Ltd"
    if has_swapped(name, number):
        return f"{name[:4]}{name[5]}{name[4]}{name[6:]}"
    return name


startups, cursor = [], ""
while len(startups) < ROWS:
    page = api(f"startups?fields=slug,name,country,city,founded_year&limit=100{cursor}")
    startups += page["data"]
    cursor = f"&cursor={page['pagination']['next_cursor']}"
startups = startups[:ROWS]
text = io.StringIO()
table = csv.writer(text)
table.writerow(["company", "land", "slug"])
table.writerows(
    [written(startup["name"], number), startup["country"] or "", startup["slug"]] for number, startup in enumerate(startups)
)

manifest = json.loads(fetch(SERVICE)[1])
project = upload(text.getvalue())
engine = json.dumps({"facets": [], "mode": "row-based"})
started = time.time()
command(
    "reconcile",
    project=project,
    columnName="company",
    engine=engine,
    config=json.dumps(
        {
            "mode": "standard-service",
            "service": SERVICE,
            "identifierSpace": manifest["identifierSpace"],
            "schemaSpace": manifest["schemaSpace"],
            "type": {"id": "startup", "name": "Startup"},
            "autoMatch": True,
            "columnDetails": [{"column": "land", "propertyName": "Country", "propertyID": "country"}],
            "limit": 3,
        }
    ),
)
seconds = time.time() - started
properties = [{"id": "city", "name": "City"}, {"id": "founded_year", "name": "Founded year"}]
command(
    "extend-data",
    project=project,
    engine=engine,
    baseColumnName="company",
    endpoint=SERVICE,
    identifierSpace=manifest["identifierSpace"],
    schemaSpace=manifest["schemaSpace"],
    extension=json.dumps({"properties": properties}),
    columnInsertIndex="1",
)
for name, expression in {
    "found": 'if(cell.recon.judgment == "matched", cell.recon.match.id, "")',
    "first": 'if(cell.recon.best == null, "", cell.recon.best.id)',
}.items():
    command(
        "add-column",
        project=project,
        engine=engine,
        baseColumnName="company",
        expression=f"grel:{expression}",
        newColumnName=name,
        columnInsertIndex="1",
        onError="set-to-blank",
    )
query = urllib.parse.urlencode({"project": project, "format": "csv", "engine": engine})
_, exported = fetch(f"{REFINE}/command/core/export-rows/rows.csv?{query}", b"")
rows = list(csv.DictReader(io.StringIO(exported)))
assert len(rows) == ROWS, len(rows)
matched = [(row, startup) for row, startup in zip(rows, startups) if row["found"]]
wrong = [(row["company"], row["found"], row["slug"]) for row, _ in matched if row["found"] != f"startups/{row['slug']}"]
assert not wrong, wrong[:5]
swapped = [has_swapped(startup["name"], number) for number, startup in enumerate(startups)]
assert 0.1 * ROWS < sum(swapped) < 0.3 * ROWS, sum(swapped)
found = [(row["company"], row["found"]) for row, is_swapped in zip(rows, swapped) if is_swapped and row["found"]]
assert not found, found
assert len(matched) >= 0.95 * (ROWS - sum(swapped)), len(matched)
first = [row["first"] == f"startups/{row['slug']}" for row, is_swapped in zip(rows, swapped) if is_swapped]
assert sum(first) >= 0.95 * len(first), (sum(first), len(first))
for row, startup in matched:
    year = "" if startup["founded_year"] is None else str(startup["founded_year"])
    assert (row["City"], row["Founded year"]) == (startup["city"] or "", year), (row, startup)
print(
    f"OpenRefine matches {len(matched)} of {ROWS - sum(swapped)} rows in {seconds:.0f} s, none wrongly, and extends them; "
    f"{sum(first)} of {len(first)} misspelled names have the right first candidate"
)
