"""Lists and calls all six tools with `fastmcp`: python fastmcp_client.py URL"""

import asyncio
import json
import pathlib
import sys

from fastmcp import Client
from fastmcp.exceptions import ToolError

CALLS = json.loads((pathlib.Path(__file__).parent / "calls.json").read_text())


async def main(url: str) -> None:
    for mode in ["auto", "legacy"]:
        async with Client(url, mode=mode) as client:
            tools = {tool.name for tool in await client.list_tools()}
            assert tools == set(CALLS), tools
            for name, arguments in CALLS.items():
                result = await client.call_tool(name, arguments)
                assert result.structured_content, name
            try:
                await client.call_tool("search_vcs", {"sector": "fintec"})
                raise AssertionError("an invalid argument was accepted")
            except ToolError as error:
                assert "fintech" in str(error), error
            print("mode", mode, "calls", len(CALLS), "tools")


asyncio.run(main(sys.argv[1]))
