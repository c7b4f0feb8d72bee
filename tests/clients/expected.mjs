// What every client is to get: the calls, a wrong one with what the model must read, and a used quota with the same.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The endpoint, and one whose quota of tool calls is used up.
export const [url, spentUrl] = process.argv.slice(2);
export const calls = JSON.parse(readFileSync(new URL('calls.json', import.meta.url)));
export const wrong = { name: 'search_vcs', arguments: { sector: 'fintec' }, says: 'fintech' };
export const quotaSays = 'daily quota of';

// A package that is installed in the current folder.
export async function load(name) {
  return import(pathToFileURL(createRequire(`${process.cwd()}/`).resolve(name)));
}

export function assertTools(names) {
  assert.deepEqual([...names].sort(), Object.keys(calls).sort());
}

// Lists the tools and calls each, then one with a wrong argument, with the client of an SDK.
export async function assertServes(client) {
  assertTools((await client.listTools()).tools.map(tool => tool.name));
  for (const [name, args] of Object.entries(calls)) {
    // The client validates the result against the output schema that it has listed.
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError && result.structuredContent, name);
  }
  const answer = await client.callTool({ name: wrong.name, arguments: wrong.arguments });
  assert.ok(answer.isError && answer.content[0].text.includes(wrong.says));
}

// What the model reads: the text of a result or of an error, whichever the client gives.
export async function said(call) {
  try {
    return JSON.stringify(await call());
  } catch (error) {
    return [error, error.cause].filter(Boolean).map(String).join(' / ');
  }
}
