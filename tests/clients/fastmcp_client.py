"""Lists and calls all six tools with `fastmcp`: python fastmcp_client.py URL SPENT_URL"""

import asyncio

from fastmcp import Client
from fastmcp.exceptions import ToolError

from expected import CALLS, QUOTA_SAYS, SPENT_URL, URL, WRONG_ARGUMENTS, WRONG_SAYS, WRONG_TOOL, said


async def main() -> None:
    for mode in ["auto", "legacy"]:
        async with Client(URL, mode=mode) as client:
            tools = {tool.name for tool in await client.list_tools()}
            assert tools == set(CALLS), tools
            for name, arguments in CALLS.items():
                result = await client.call_tool(name, arguments)
                assert result.structured_content, name
                # `data` is an object of the classes that the client makes of the output schema: it drops what that lacks.
                lost = lost_fields(result.structured_content, result.data)
                assert not lost, f"{name}: not in the output schema: {sorted(lost)}"
            try:
                await client.call_tool(WRONG_TOOL, WRONG_ARGUMENTS)
                raise AssertionError("an invalid argument was accepted")
            except ToolError as error:
                assert WRONG_SAYS in str(error), error
        async with Client(SPENT_URL, mode=mode) as client:
            text = await said(client.call_tool("get_platform_stats", {}))
            assert QUOTA_SAYS in text, (mode, text)
        print("fastmcp: mode", mode, "calls", len(CALLS), "tools")


def lost_fields(value, data, path=""):
    """The keys of a result that the typed object does not have."""
    if isinstance(value, list):
        found = zip(value, data, strict=True) if isinstance(data, list) else []
        return {lost for item, typed in found for lost in lost_fields(item, typed, path)}
    if not isinstance(value, dict) or isinstance(data, dict):
        return set()
    lost = set()
    for key, inner in value.items():
        name = key.replace("-", "_")
        if not hasattr(data, name):
            lost.add(f"{path}/{key}")
        else:
            lost |= lost_fields(inner, getattr(data, name), f"{path}/{key}")
    return lost


asyncio.run(main())
