// Connects a client that starts programs (stdio) with the MCP endpoint of a service: each line of standard input is a message,
// which is sent with POST, and each answer is a line of standard output.
"use strict";
const { createInterface } = require("node:readline");

// A client may leave the placeholder of a value that nobody entered.
const value = (name) => ((text) => (text.startsWith("${") ? "" : text))((process.env[name] ?? "").trim());
const [endpoint, key] = [value("VENTUREDEX_ENDPOINT"), value("VENTUREDEX_KEY")];
// The revision of the handshake; newer clients name theirs in each message.
let revision;

function headersOf({ method, params }) {
  const version = params?._meta?.["io.modelcontextprotocol/protocolVersion"] ?? (method === "initialize" ? undefined : revision);
  const name = params?.name ?? params?.uri;
  return {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...(key && { Authorization: `Bearer ${key}` }),
    ...(version && { "MCP-Protocol-Version": version, "Mcp-Method": method }),
    ...(version && typeof name === "string" && { "Mcp-Name": name }),
  };
}

async function answer(line) {
  let message;
  try {
    message = JSON.parse(line);
    const response = await fetch(endpoint, { method: "POST", headers: headersOf(message), body: line });
    const text = (await response.text()).trim();
    if (text === "") return "";
    const reply = JSON.parse(text);
    if (reply.jsonrpc !== "2.0") throw new Error(reply.detail ?? `status ${response.status}`);
    if (message.method === "initialize") revision = reply.result?.protocolVersion ?? revision;
    return JSON.stringify(reply);
  } catch (error) {
    if (message && message.id === undefined) return "";
    const problem = message ? { code: -32603, message: `${endpoint}: ${error.cause?.message ?? error.message}` } : { code: -32700, message: "not JSON" };
    return JSON.stringify({ jsonrpc: "2.0", id: message?.id ?? null, error: problem });
  }
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const text = line.trim() === "" ? "" : await answer(line);
  if (text !== "") process.stdout.write(`${text}\n`);
});
