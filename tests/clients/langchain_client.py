"""Lists and calls all six tools with LangChain's adapters: python langchain_client.py URL SPENT_URL

They use `mcp` 1.x, whose session ends on HTTP 429 without the sentence: see python_1.py.
"""

import asyncio

from langchain_mcp_adapters.client import MultiServerMCPClient

from expected import CALLS, SPENT_URL, URL, WRONG_ARGUMENTS, WRONG_SAYS, WRONG_TOOL, said


async def tools_of(url: str):
    client = MultiServerMCPClient({"venturedex": {"transport": "streamable_http", "url": url}})
    return {tool.name: tool for tool in await client.get_tools()}


def call(name: str, arguments: dict):
    return {"type": "tool_call", "id": "1", "name": name, "args": arguments}


async def main() -> None:
    tools = await tools_of(URL)
    assert set(tools) == set(CALLS), tools
    for name, arguments in CALLS.items():
        message = await tools[name].ainvoke(call(name, arguments))
        assert message.status == "success" and message.artifact["structured_content"], message
    text = await said(tools[WRONG_TOOL].ainvoke(call(WRONG_TOOL, WRONG_ARGUMENTS)))
    assert WRONG_SAYS in text, text
    print("langchain: calls", len(CALLS), "tools")

    tools = await tools_of(SPENT_URL)
    text = await said(tools["get_platform_stats"].ainvoke(call("get_platform_stats", {})))
    assert "429" in text, text
    print("langchain: a used quota ends the session with HTTP 429")


asyncio.run(main())
