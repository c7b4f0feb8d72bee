// The bundle for desktop clients, unpacked and started as such a client does it. `mcpb` of @anthropic-ai/mcpb checks the manifest.
// Runs in a folder in which it and `@modelcontextprotocol/sdk` are installed: node bundle.mjs URL SPENT_URL
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertServes, calls, load, quotaSays, said, spentUrl, url } from './expected.mjs';

const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');

const response = await fetch(new URL('/docs/venturedex.mcpb', url));
assert.equal(response.status, 200);
writeFileSync('venturedex.mcpb', new Uint8Array(await response.arrayBuffer()));
const folder = join(process.cwd(), 'bundle');
rmSync(folder, { recursive: true, force: true });
const mcpb = (...args) => execFileSync(process.execPath, ['node_modules/@anthropic-ai/mcpb/dist/cli/cli.js', ...args]);
mcpb('unpack', 'venturedex.mcpb', folder);
mcpb('validate', join(folder, 'manifest.json'));
const { server, user_config: config } = JSON.parse(readFileSync(join(folder, 'manifest.json')));
assert.equal(config.endpoint.default, url);

async function connect(endpoint) {
  const values = { endpoint, key: config.key.default };
  const filled = text => text.replace('${__dirname}', folder).replace(/\$\{user_config\.(\w+)\}/, (_, name) => values[name]);
  const env = Object.fromEntries(Object.entries(server.mcp_config.env).map(([name, text]) => [name, filled(text)]));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command: server.mcp_config.command, args: server.mcp_config.args.map(filled), env }));
  return client;
}

const client = await connect(config.endpoint.default);
await assertServes(client);
await client.close();
const spent = await connect(spentUrl);
const text = await said(() => spent.callTool({ name: 'get_platform_stats', arguments: {} }));
assert.ok(text.includes(quotaSays), text);
await spent.close();
console.log('bundle: calls', Object.keys(calls).length, 'tools');
