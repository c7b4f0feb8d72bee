"""Lists and calls all six tools with the Python client `mcp` 1.x: python python_1.py URL"""

import asyncio
import json
import pathlib
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

CALLS = json.loads((pathlib.Path(__file__).parent / "calls.json").read_text())


async def main(url: str) -> None:
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        server = await session.initialize()
        print("server", server.serverInfo.name, server.serverInfo.version, "protocol", server.protocolVersion)
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == set(CALLS), tools
        for name, arguments in CALLS.items():
            result = await session.call_tool(name, arguments)
            assert not result.isError, (name, result.content)
            assert result.structuredContent, name
            print(name, "returns", sorted(result.structuredContent))
        wrong = await session.call_tool("search_vcs", {"sector": "fintec"})
        assert wrong.isError and "fintech" in wrong.content[0].text, wrong
        print("an invalid argument is explained:", wrong.content[0].text.splitlines()[-1])


asyncio.run(main(sys.argv[1]))
