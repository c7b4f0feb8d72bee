// Lists and calls all six tools with LangChain's adapters for JavaScript. Run it in a folder in which
// `@langchain/mcp-adapters` and `@langchain/core` are installed: node langchain.mjs URL SPENT_URL
import assert from 'node:assert/strict';
import { assertTools, calls, load, quotaSays, said, spentUrl, url, wrong } from './expected.mjs';

const { MultiServerMCPClient } = await load('@langchain/mcp-adapters');

async function connect(address) {
  const client = new MultiServerMCPClient({
    mcpServers: { venturedex: { transport: 'http', url: address } },
    prefixToolNameWithServerName: false,
  });
  const tools = await client.getTools();
  return { client, tools: Object.fromEntries(tools.map(tool => [tool.name, tool])) };
}

const { client, tools } = await connect(url);
assertTools(Object.keys(tools));
for (const [name, args] of Object.entries(calls)) {
  const message = await tools[name].invoke({ type: 'tool_call', id: '1', name, args });
  assert.ok(message.status !== 'error' && JSON.stringify(message).includes('snapshot'), name);
}
const text = await said(() => tools[wrong.name].invoke(wrong.arguments));
assert.ok(text.includes(wrong.says), text);
await client.close();

const spent = await connect(spentUrl);
const quota = await said(() => spent.tools.get_platform_stats.invoke({}));
assert.ok(quota.includes(quotaSays), quota);
await spent.client.close();
console.log('langchain.js: calls', Object.keys(calls).length, 'tools');
