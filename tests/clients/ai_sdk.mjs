// Lists and calls all six tools with the AI SDK's `@ai-sdk/mcp`. Run it in a folder in which that package is installed:
// node ai_sdk.mjs URL SPENT_URL
import assert from 'node:assert/strict';
import { assertTools, calls, load, quotaSays, said, spentUrl, url, wrong } from './expected.mjs';

const { createMCPClient } = await load('@ai-sdk/mcp');
const connect = address => createMCPClient({ transport: { type: 'http', url: address } });
const options = { messages: [], toolCallId: '1' };

const client = await connect(url);
const tools = await client.tools();
assertTools(Object.keys(tools));
for (const [name, args] of Object.entries(calls)) {
  const result = await tools[name].execute(args, options);
  assert.ok(!result.isError && result.structuredContent, name);
}
const text = await said(() => tools[wrong.name].execute(wrong.arguments, options));
assert.ok(text.includes(wrong.says), text);
await client.close();

const spent = await connect(spentUrl);
const spentTools = await spent.tools();
const quota = await said(() => spentTools.get_platform_stats.execute({}, options));
assert.ok(quota.includes(quotaSays), quota);
await spent.close();
console.log('ai-sdk: calls', Object.keys(calls).length, 'tools');
