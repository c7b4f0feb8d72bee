"""Lists and calls all six tools with the OpenAI Agents SDK: python openai_agents_client.py URL SPENT_URL"""

import asyncio

from agents.mcp import MCPServerStreamableHttp, MCPUtil

from expected import CALLS, QUOTA_SAYS, SPENT_URL, URL, WRONG_ARGUMENTS, WRONG_SAYS, WRONG_TOOL, messages


def server(url: str) -> MCPServerStreamableHttp:
    return MCPServerStreamableHttp(params={"url": url}, name="venturedex", use_structured_content=True)


async def main() -> None:
    async with server(URL) as client:
        tools = await client.list_tools()
        assert {tool.name for tool in tools} == set(CALLS), tools
        for strict in [True, False]:
            for tool in tools:
                function = MCPUtil.to_function_tool(tool, client, strict)
                assert function.strict_json_schema == strict, f"{tool.name} has no strict schema"
        for name, arguments in CALLS.items():
            result = await client.call_tool(name, arguments)
            assert not result.is_error and result.structured_content, name
        wrong = await client.call_tool(WRONG_TOOL, WRONG_ARGUMENTS)
        assert wrong.is_error and WRONG_SAYS in wrong.content[0].text, wrong
    try:
        async with server(SPENT_URL) as client:
            said = str(await client.call_tool("get_platform_stats", {}))
    except BaseException as error:
        said = messages(error)
    assert QUOTA_SAYS in said, said
    print("openai-agents: calls", len(CALLS), "tools")


asyncio.run(main())
