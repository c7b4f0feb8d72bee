"""Reads lists to their end."""

import time
from collections.abc import Iterator
from typing import Any

from .client import AuthenticatedClient
from .types import UNSET

MAX_WAIT = 60
"""Seconds: a server that names a longer time is not waited for."""


class Refused(Exception):
    """The server refused a request. `status` is that of HTTP, `problem` the parsed error, or `None`."""

    def __init__(self, status: int, problem: Any, content: bytes) -> None:
        detail = getattr(problem, "detail", None) or content.decode(errors="replace")
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.problem = problem


def rows(endpoint: Any, client: AuthenticatedClient, **parameters: Any) -> Iterator[Any]:
    """Every record of a list, from one release of the data: `rows(list_vcs, client, country=[CountryFilter.DE])`.

    `endpoint` is a module of `venturedex_client.api` with a list that has cursors. Raises `Refused`.
    """
    while True:
        page = endpoint.sync_detailed(client=client, **parameters)
        wait = page.headers.get("retry-after", "")
        if page.status_code in (429, 503) and wait.isdigit() and int(wait) <= MAX_WAIT:
            time.sleep(int(wait))
            continue
        if page.status_code != 200:
            raise Refused(page.status_code, page.parsed, page.content)
        yield from page.parsed.data
        cursor = page.parsed.pagination.next_cursor
        if cursor is None or cursor is UNSET:
            return
        # The other parameters are in the cursor, but for those that may change between pages.
        kept = {name: parameters[name] for name in ("fields", "limit") if name in parameters}
        parameters = {"cursor": cursor, **kept}
