"""Uses the installed package that `deploy/clients/build` makes of the v3 document.

    VENTUREDEX_URL=http://… VENTUREDEX_KEY=vdx_… python generated.py
"""

import importlib
import os

from venturedex_client import AuthenticatedClient, models
from venturedex_client.paging import Refused, rows
from venturedex_client.types import UNSET


def module(tag, name):
    return importlib.import_module(f"venturedex_client.api.{tag}.{name}")


def operation(tag, name):
    return module(tag, name).sync_detailed


client = AuthenticatedClient(base_url=f"{os.environ['VENTUREDEX_URL']}/api/v3", token=os.environ["VENTUREDEX_KEY"])
list_vcs = operation("firms", "list_vcs")

query = {
    "stage": [models.StageFilter.SEED, models.StageFilter.SERIES_A],
    "sort": [models.FirmSort.NAME_DESCENDING],
    "fields": [models.FirmField.SLUG, models.FirmField.COUNTRY, models.FirmField.SCORE_VALUE],
}
seen = list(rows(module("firms", "list_vcs"), client, limit=30, **query))
total = list_vcs(client=client, **query).parsed.pagination.total
assert len({firm.slug for firm in seen}) == len(seen) == total > 60
assert all(firm.name is UNSET for firm in seen), "`fields` holds for every page"
try:
    list(rows(module("firms", "list_vcs"), client, cursor="nonsense"))
    raise SystemExit("a refused request gives no rows")
except Refused as error:
    assert (error.status, error.problem.code) == (400, "invalid_cursor"), error

# Values of results, which are open, are accepted as parameters.
country = next(firm.country for firm in seen if firm.country)
assert list_vcs(client=client, country=[models.CountryFilter(country)]).parsed.pagination.total > 0
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
