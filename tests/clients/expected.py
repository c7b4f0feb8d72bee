"""What every client is to get: the calls, a wrong one with what the model must read, and a used quota with the same."""

import json
import pathlib
import sys

CALLS = json.loads((pathlib.Path(__file__).parent / "calls.json").read_text())
WRONG_TOOL, WRONG_ARGUMENTS, WRONG_SAYS = "search_vcs", {"sector": "fintec"}, "fintech"
QUOTA_SAYS = "daily quota of"
# The endpoint, and one whose quota of tool calls is used up.
URL, SPENT_URL = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")


def messages(error):
    """The text of an exception, of all that an `ExceptionGroup` holds, and of what caused them."""
    inner = [*getattr(error, "exceptions", []), *filter(None, [error.__cause__])]
    return " / ".join([f"{type(error).__name__}: {error}", *map(messages, inner)])


async def said(call):
    """What the model reads: the text of a result or of an error, whichever the client gives."""
    try:
        return str(await call)
    except BaseException as error:
        return messages(error)
