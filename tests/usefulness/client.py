"""Calls to an MCP endpoint: JSON-RPC over POST, with nothing but the standard library."""

import argparse
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


def options_of(description, only, verbose):
    """The options of a script that asks a server about the data that it serves; `only` and `verbose` say what those do."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mcp", required=True, help="address of the MCP endpoint")
    options.add_argument("--data", required=True, help="folder of the CSV files that it serves")
    options.add_argument("--only", help=only)
    options.add_argument("--verbose", action="store_true", help=verbose)
    return options.parse_args()
