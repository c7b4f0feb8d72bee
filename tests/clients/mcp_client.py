"""Lists and calls all six tools with the official Python client, as an assistant would."""

import asyncio
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

CALLS = {
    "search_vcs": {"query": "capital", "stage": ["seed", "Series A"], "limit": 3},
    "get_vc_profile": {"name": "Alder Capital"},
    "search_startups": {"sector": "fintech", "limit": 3},
    "get_funding_rounds": {"stage": "seed", "since": "2025-01-01", "limit": 3},
    "get_platform_stats": {},
    "search_people": {"query": "anna", "limit": 3},
}


async def main(url: str) -> None:
    async with streamablehttp_client(url) as (read, write, _), ClientSession(read, write) as session:
        told = await session.initialize()
        print("server", told.serverInfo.name, told.serverInfo.version, "protocol", told.protocolVersion)
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == set(CALLS), tools
        for name, arguments in CALLS.items():
            result = await session.call_tool(name, arguments)
            assert not result.isError, (name, result.content)
            assert result.structuredContent, name
            print(name, "answers", sorted(result.structuredContent))
        wrong = await session.call_tool("search_vcs", {"sector": "fintec"})
        assert wrong.isError and "fintech" in wrong.content[0].text, wrong
        print("a wrong argument is told:", wrong.content[0].text.splitlines()[-1])


asyncio.run(main(sys.argv[1]))
