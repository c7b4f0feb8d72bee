// Lists and calls all six tools through `mcp-remote`, the bridge for hosts that start servers as programs. Run it in a
// folder in which it and `@modelcontextprotocol/sdk` are installed: node mcp_remote.mjs URL SPENT_URL
import assert from 'node:assert/strict';
import { assertServes, calls, load, quotaSays, said, spentUrl, url } from './expected.mjs';

const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');

async function connect(address) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['node_modules/mcp-remote/dist/proxy.js', address, '--allow-http', '--transport', 'http-only'],
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr.on('data', part => (log += part));
  await client.connect(transport);
  return { client, log: () => log };
}

const { client } = await connect(url);
await assertServes(client);
await client.close();

// The bridge does not always pass the answer on, but has it in its log, which hosts show.
const spent = await connect(spentUrl);
const text = await said(() => spent.client.callTool({ name: 'get_platform_stats', arguments: {} }, undefined, { timeout: 5000 }));
assert.ok((text + spent.log()).includes(quotaSays), text + spent.log());
await spent.client.close();
console.log('mcp-remote: calls', Object.keys(calls).length, 'tools');
