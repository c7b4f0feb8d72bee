#!/usr/bin/env bash
# Lists and calls all six tools with plain curl, with and without `Accept`: curl.sh URL
set -euo pipefail
url=$1
here=$(cd "$(dirname "$0")" && pwd)
for accept in 'Accept:' 'Accept: */*' 'Accept: application/json' 'Accept: application/json, text/event-stream'; do
  post() { curl -fsS -H 'Content-Type: application/json' -H "$accept" -d "$1" "$url"; }
  post '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' |
    python3 -c 'import json, sys; tools = json.load(sys.stdin)["result"]["tools"]; assert len(tools) == 6'
  python3 -c '
import json, sys
for name, arguments in json.load(open(sys.argv[1])).items():
    print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}))
' "$here/calls.json" |
    while read -r message; do
      post "$message" |
        python3 -c 'import json, sys; result = json.load(sys.stdin)["result"]; assert result["structuredContent"] and not result["isError"]'
    done
  echo "curl, $accept lists and calls six tools"
done
