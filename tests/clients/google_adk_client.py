"""Lists and calls all six tools with Google's Agent Development Kit: python google_adk_client.py URL SPENT_URL"""

import asyncio
from unittest.mock import MagicMock

from google.adk.tools.mcp_tool import McpToolset, StreamableHTTPConnectionParams

from expected import CALLS, QUOTA_SAYS, SPENT_URL, URL, WRONG_ARGUMENTS, WRONG_SAYS, WRONG_TOOL, said


async def tools_of(url: str):
    toolset = McpToolset(connection_params=StreamableHTTPConnectionParams(url=url))
    return toolset, {tool.name: tool for tool in await toolset.get_tools()}


async def main() -> None:
    toolset, tools = await tools_of(URL)
    assert set(tools) == set(CALLS), tools
    # Only an agent makes a context; the tools read nothing from it.
    context = MagicMock()
    for name, arguments in CALLS.items():
        assert tools[name]._get_declaration().name == name
        result = await tools[name].run_async(args=arguments, tool_context=context)
        assert not result.get("isError") and result["structuredContent"], (name, result)
    wrong = await tools[WRONG_TOOL].run_async(args=WRONG_ARGUMENTS, tool_context=context)
    assert WRONG_SAYS in str(wrong), wrong
    await toolset.close()

    toolset, tools = await tools_of(SPENT_URL)
    text = await said(tools["get_platform_stats"].run_async(args={}, tool_context=context))
    assert QUOTA_SAYS in text, text
    await toolset.close()
    print("google-adk: calls", len(CALLS), "tools")


asyncio.run(main())
