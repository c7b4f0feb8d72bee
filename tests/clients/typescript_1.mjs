// Lists and calls all six tools with `@modelcontextprotocol/sdk` 1.x. Run it in a folder in which that package is
// installed: node typescript_1.mjs URL SPENT_URL
import assert from 'node:assert/strict';
import { assertTools, calls, load, quotaSays, said, spentUrl, url, wrong } from './expected.mjs';

const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');

async function connect(address) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(address)));
  return client;
}

const client = await connect(url);
assertTools((await client.listTools()).tools.map(tool => tool.name));
for (const [name, args] of Object.entries(calls)) {
  // The client validates the result against the output schema that it has listed.
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError && result.structuredContent, name);
}
const answer = await client.callTool({ name: wrong.name, arguments: wrong.arguments });
assert.ok(answer.isError && answer.content[0].text.includes(wrong.says));
await client.close();

const spent = await connect(spentUrl);
const text = await said(() => spent.callTool({ name: 'get_platform_stats', arguments: {} }));
assert.ok(text.includes(quotaSays), text);
await spent.close();
console.log('sdk 1: calls', Object.keys(calls).length, 'tools');
