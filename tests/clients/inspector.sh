#!/usr/bin/env bash
# Lists and calls all six tools with the official inspector's CLI in its three eras: inspector.sh URL INSPECTOR, where
# INSPECTOR is the path of the installed `mcp-inspector`.
set -euo pipefail
url=$1
inspector=$2
here=$(cd "$(dirname "$0")" && pwd)
inspect() { "$inspector" --cli "$url" --transport http --format json --quiet "$@"; }
for era in legacy auto modern; do
  inspect --protocol-era "$era" --method tools/list --strict 2>/dev/null |
    python3 -c 'import json, sys; answer = json.load(sys.stdin); tools = answer.get("tools") or answer["result"]["tools"]; assert len(tools) == 6, tools'
  python3 -c 'import json, sys; [print(name, json.dumps(arguments), sep="\t") for name, arguments in json.load(open(sys.argv[1])).items()]' "$here/calls.json" |
    while IFS=$'\t' read -r name arguments; do
      inspect --protocol-era "$era" --method tools/call --tool-name "$name" --tool-args-json "$arguments" |
        python3 -c 'import json, sys; answer = json.load(sys.stdin); answer = answer.get("result", answer); assert answer["structuredContent"] and not answer.get("isError"), answer'
    done
  echo "inspector, era $era: lists and calls six tools"
done
