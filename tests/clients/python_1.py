"""Lists and calls all six tools with the Python client `mcp` 1.x: python python_1.py URL SPENT_URL

This client ends the whole session on HTTP 429 and drops the body, so its model reads our sentence only in the notes of
the last calls before.
"""

import asyncio

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

from expected import CALLS, SPENT_URL, URL, WRONG_ARGUMENTS, WRONG_SAYS, WRONG_TOOL, messages


async def main() -> None:
    async with streamablehttp_client(URL) as (read, write, _), ClientSession(read, write) as session:
        server = await session.initialize()
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == set(CALLS), tools
        for name, arguments in CALLS.items():
            # The session validates the result against the output schema.
            result = await session.call_tool(name, arguments)
            assert not result.isError, (name, result.content)
            assert result.structuredContent, name
        wrong = await session.call_tool(WRONG_TOOL, WRONG_ARGUMENTS)
        assert wrong.isError and WRONG_SAYS in wrong.content[0].text, wrong
    print("mcp 1: protocol", server.protocolVersion, "calls", len(CALLS), "tools")

    try:
        async with streamablehttp_client(SPENT_URL) as (read, write, _), ClientSession(read, write) as session:
            await session.initialize()
            await session.call_tool("get_platform_stats", {})
    except BaseException as error:
        assert "429" in messages(error), messages(error)
    else:
        raise AssertionError("the quota was not used up")
    async with streamablehttp_client(SPENT_URL) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        assert len((await session.list_tools()).tools) == len(CALLS)
    print("mcp 1: a used quota ends the session with HTTP 429; a new session connects and lists")


asyncio.run(main())
