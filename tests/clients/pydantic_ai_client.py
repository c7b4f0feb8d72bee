"""Lists and calls all six tools with Pydantic AI's client: python pydantic_ai_client.py URL SPENT_URL"""

import asyncio

from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.mcp import MCPToolset

from expected import CALLS, QUOTA_SAYS, SPENT_URL, URL, WRONG_ARGUMENTS, WRONG_SAYS, WRONG_TOOL, messages


async def main() -> None:
    async with MCPToolset(URL) as server:
        tools = {tool.name for tool in await server.list_tools()}
        assert tools == set(CALLS), tools
        for name, arguments in CALLS.items():
            assert await server.direct_call_tool(name, arguments), name
        try:
            await server.direct_call_tool(WRONG_TOOL, WRONG_ARGUMENTS)
            raise AssertionError("an invalid argument was accepted")
        except ModelRetry as retry:
            # The message of a retry is what the model reads.
            assert WRONG_SAYS in str(retry), retry
    try:
        async with MCPToolset(SPENT_URL) as server:
            said = str(await server.direct_call_tool("get_platform_stats", {}))
    except BaseException as error:
        said = messages(error)
    assert QUOTA_SAYS in said, said
    print("pydantic-ai: calls", len(CALLS), "tools")


asyncio.run(main())
