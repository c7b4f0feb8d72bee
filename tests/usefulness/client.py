"""Calls to an MCP endpoint: JSON-RPC over POST, with nothing but the standard library."""

import json
import urllib.error
import urllib.request


class Refused(Exception):
    """The endpoint gave no result; the text is what an assistant would read."""


class Mcp:
    def __init__(self, url):
        self.url = url
        self.calls = 0

    def request(self, method, params=None):
        self.calls += 1
        message = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params or {}}
        request = urllib.request.Request(self.url, json.dumps(message).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            raise Refused(f"HTTP {error.code}: {error.read().decode(errors='replace')}") from error
        if "error" in answer:
            raise Refused(answer["error"]["message"])
        return answer["result"]

    def call(self, tool, arguments):
        """The structured content of a result."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise Refused("\n".join(part.get("text", "") for part in result["content"]))
        return result["structuredContent"]
