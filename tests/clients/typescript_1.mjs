// Lists and calls all six tools with `@modelcontextprotocol/sdk` 1.x. Run it in a folder in which that package is
// installed: node typescript_1.mjs URL SPENT_URL
import assert from 'node:assert/strict';
import { assertServes, calls, load, quotaSays, said, spentUrl, url } from './expected.mjs';

const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');

async function connect(address) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(address)));
  return client;
}

const client = await connect(url);
await assertServes(client);
await client.close();

const spent = await connect(spentUrl);
const text = await said(() => spent.callTool({ name: 'get_platform_stats', arguments: {} }));
assert.ok(text.includes(quotaSays), text);
await spent.close();
console.log('sdk 1: calls', Object.keys(calls).length, 'tools');
