"""Lists and calls all six tools with the Python client `mcp` 2.x, in each way it connects: python python_2.py URL SPENT_URL"""

import asyncio

from mcp import Client

from expected import CALLS, QUOTA_SAYS, SPENT_URL, URL, WRONG_ARGUMENTS, WRONG_SAYS, WRONG_TOOL, said

MODES = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}


async def main() -> None:
    for mode, version in MODES.items():
        async with Client(URL, mode=mode) as client:
            assert client.protocol_version == version, (mode, client.protocol_version)
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == set(CALLS), tools
            for name, arguments in CALLS.items():
                # The client validates the result against the output schema.
                result = await client.call_tool(name, arguments)
                assert not result.is_error, (name, result.content)
                assert result.structured_content, name
            wrong = await client.call_tool(WRONG_TOOL, WRONG_ARGUMENTS)
            assert wrong.is_error and WRONG_SAYS in wrong.content[0].text, wrong
        async with Client(SPENT_URL, mode=mode) as client:
            text = await said(client.call_tool("get_platform_stats", {}))
            assert QUOTA_SAYS in text, (mode, text)
        print("mcp 2: mode", mode, "protocol", version, "calls", len(CALLS), "tools")


asyncio.run(main())
