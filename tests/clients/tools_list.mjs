// The size of the list of tools, which assistants read with every conversation: node tools_list.mjs URL PACKAGES, where
// PACKAGES is the folder `node_modules` with `gpt-tokenizer`. The bytes are limited by the tests of `.ci/run`
// (`MAX_LIST_BYTES` in src/mcp/tool.rs), so that the tokens grow beyond their limit only if they get shorter.
import { strict as assert } from 'node:assert';
import { pathToFileURL } from 'node:url';

const [url, packages] = process.argv.slice(2);
const { countTokens } = await import(pathToFileURL(`${packages}/gpt-tokenizer/esm/encoding/o200k_base.js`));
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
const text = await response.text();
const bytes = Buffer.byteLength(text);
const tokens = countTokens(JSON.stringify(JSON.parse(text).result.tools));
assert(tokens <= 4_500, `${bytes} bytes, ${tokens} tokens`);
console.log(`tools/list: ${bytes} bytes, ${tokens} tokens`);
