// Lists and calls all six tools with `@modelcontextprotocol/client`, in each way it connects. Run it where that package
// is installed: node typescript.mjs URL
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import assert from 'node:assert/strict';

const installed = createRequire(`${process.cwd()}/`).resolve('@modelcontextprotocol/client');
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(installed));
const calls = JSON.parse(readFileSync(new URL('calls.json', import.meta.url)));

const modes = { default: undefined, auto: { mode: 'auto' }, pinned: { mode: { pin: '2026-07-28' } } };
for (const [mode, versionNegotiation] of Object.entries(modes)) {
  const client = new Client({ name: 'test', version: '1' }, versionNegotiation && { versionNegotiation });
  await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(tool => tool.name).sort(), Object.keys(calls).sort());
  for (const [name, args] of Object.entries(calls)) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError && result.structuredContent, name);
  }
  const wrong = await client.callTool({ name: 'search_vcs', arguments: { sector: 'fintec' } });
  assert.ok(wrong.isError && wrong.content[0].text.includes('fintech'));
  console.log('mode', mode, 'protocol', client.getNegotiatedProtocolVersion?.(), 'calls', Object.keys(calls).length, 'tools');
  await client.close();
}
