"""Lists and calls all six tools with LlamaIndex: python llama_index_client.py URL SPENT_URL"""

import asyncio

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

from expected import CALLS, QUOTA_SAYS, SPENT_URL, URL, WRONG_ARGUMENTS, WRONG_SAYS, WRONG_TOOL, said


async def tools_of(url: str):
    return {tool.metadata.name: tool for tool in await McpToolSpec(client=BasicMCPClient(url)).to_tool_list_async()}


async def main() -> None:
    tools = await tools_of(URL)
    assert set(tools) == set(CALLS), tools
    for name, arguments in CALLS.items():
        output = await tools[name].acall(**arguments)
        assert not output.is_error and "snapshot" in str(output), (name, output)
    wrong = await tools[WRONG_TOOL].acall(**WRONG_ARGUMENTS)
    assert WRONG_SAYS in str(wrong), wrong

    tools = await tools_of(SPENT_URL)
    text = await said(tools["get_platform_stats"].acall())
    assert QUOTA_SAYS in text, text
    print("llama-index: calls", len(CALLS), "tools")


asyncio.run(main())
