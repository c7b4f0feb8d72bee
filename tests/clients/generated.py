"""Uses the client that `openapi-python-client` generates from the v3 document.

    openapi-python-client generate --path v3.json --output-path FOLDER
    VENTUREDEX_URL=http://… VENTUREDEX_KEY=vdx_… python generated.py FOLDER
"""

import importlib
import os
import pathlib
import sys

package = next(path.parent for path in pathlib.Path(sys.argv[1]).glob("*/client.py"))
sys.path.insert(0, str(package.parent))
generated = importlib.import_module(package.name)
models = importlib.import_module(f"{package.name}.models")
UNSET = importlib.import_module(f"{package.name}.types").UNSET


def operation(tag, name):
    return importlib.import_module(f"{package.name}.api.{tag}.{name}").sync_detailed


client = generated.AuthenticatedClient(base_url=f"{os.environ['VENTUREDEX_URL']}/api/v3", token=os.environ["VENTUREDEX_KEY"])
list_vcs = operation("firms", "list_vcs")

seen, cursor = [], UNSET
while cursor is not None:
    query = {"cursor": cursor}
    if cursor is UNSET:
        query = {
            "limit": 30,
            "stage": [models.Stage.SEED, models.Stage.SERIES_A],
            "sort": [models.FirmSort.NAME_DESCENDING],
            "fields": [models.FirmField.SLUG, models.FirmField.COUNTRY, models.FirmField.SCORE_VALUE],
        }
    page = list_vcs(client=client, **query)
    assert page.status_code == 200, page.content
    seen += page.parsed.data
    cursor = page.parsed.pagination.next_cursor
assert len({firm.slug for firm in seen}) == len(seen) == page.parsed.pagination.total > 60
assert seen[0].name is UNSET, "`fields` is not part of the cursor"

# Values of results are accepted as parameters.
country = next(firm.country for firm in seen if firm.country)
assert list_vcs(client=client, country=[country]).parsed.pagination.total > 0
assert list_vcs(client=client, check_usd=5_000_000_000).status_code == 200

leaderboard = operation("firms", "get_leaderboard")
first = leaderboard(client=client, metric=models.Metric.RESPONSIVENESS, limit=3)
second = leaderboard(client=client, cursor=first.parsed.pagination.next_cursor)
assert (second.status_code, second.parsed.data[0].rank_value) <= (200, first.parsed.data[0].rank_value), second.content

missing = operation("firms", "get_vc")("nobody-at-all", client=client)
assert (missing.status_code, missing.parsed.code) == (404, "not_found")
invalid = list_vcs(client=client, sector=["fintec"])
assert invalid.parsed.errors[0].did_you_mean == "fintech"
firm = operation("firms", "get_vc")(seen[0].slug, client=client).parsed.data
assert firm.to_dict() == type(firm).from_dict(firm.to_dict()).to_dict()
print(f"a generated client in Python pages through {len(seen)} firms and reads errors")
