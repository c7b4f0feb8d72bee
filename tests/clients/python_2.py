"""Lists and calls all six tools with the Python client `mcp` 2.x, in each way it connects: python python_2.py URL"""

import asyncio
import json
import pathlib
import sys

from mcp import Client

CALLS = json.loads((pathlib.Path(__file__).parent / "calls.json").read_text())
MODES = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


async def main(url: str) -> None:
    for mode, version in MODES.items():
        async with Client(url, mode=mode) as client:
            assert client.protocol_version == version, (mode, client.protocol_version)
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == set(CALLS), tools
            for name, arguments in CALLS.items():
                result = await client.call_tool(name, arguments)
                assert not result.is_error, (name, result.content)
                assert result.structured_content, name
            wrong = await client.call_tool("search_vcs", {"sector": "fintec"})
            assert wrong.is_error and "fintech" in wrong.content[0].text, wrong
            print("mode", mode, "protocol", client.protocol_version, "calls", len(CALLS), "tools")


asyncio.run(main(sys.argv[1]))
