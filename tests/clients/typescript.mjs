// Lists and calls all six tools with `@modelcontextprotocol/client`, in each way it connects. Run it in a folder in which
// that package is installed: node typescript.mjs URL SPENT_URL
import assert from 'node:assert/strict';
import { assertServes, calls, load, quotaSays, said, spentUrl, url } from './expected.mjs';

const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');

async function connect(address, versionNegotiation) {
  const client = new Client({ name: 'test', version: '1' }, versionNegotiation && { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(new URL(address)));
  return client;
}

const modes = { default: undefined, auto: { mode: 'auto' }, pinned: { mode: { pin: '2026-07-28' } } };
for (const [mode, versionNegotiation] of Object.entries(modes)) {
  const client = await connect(url, versionNegotiation);
  await assertServes(client);
  console.log('client 2: mode', mode, 'protocol', client.getNegotiatedProtocolVersion?.(), 'calls', Object.keys(calls).length, 'tools');
  await client.close();

  const spent = await connect(spentUrl, versionNegotiation);
  const text = await said(() => spent.callTool({ name: 'get_platform_stats', arguments: {} }));
  assert.ok(text.includes(quotaSays), text);
  await spent.close();
}
