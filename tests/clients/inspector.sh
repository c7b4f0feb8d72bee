#!/usr/bin/env bash
# Lists and calls all six tools with the official inspector's CLI in its three eras: inspector.sh URL SPENT_URL INSPECTOR,
# where INSPECTOR is the path of the installed `mcp-inspector`, and the quota of SPENT_URL is used up.
set -euo pipefail
url=$1
spent=$2
inspector=$3
here=$(cd "$(dirname "$0")" && pwd)
inspect() { "$inspector" --cli "${address:-$url}" --transport http --format json --quiet "$@"; }
for era in legacy auto modern; do
  inspect --protocol-era "$era" --method tools/list --strict 2>/dev/null |
    python3 -c 'import json, sys; answer = json.load(sys.stdin); tools = answer.get("tools") or answer["result"]["tools"]; assert len(tools) == 6, tools'
  python3 -c 'import json, sys; [print(name, json.dumps(arguments), sep="\t") for name, arguments in json.load(open(sys.argv[1])).items()]' "$here/calls.json" |
    while IFS=$'\t' read -r name arguments; do
      inspect --protocol-era "$era" --method tools/call --tool-name "$name" --tool-args-json "$arguments" |
        python3 -c 'import json, sys; answer = json.load(sys.stdin); answer = answer.get("result", answer); assert answer["structuredContent"] and not answer.get("isError"), answer'
    done
  # A failed call ends the inspector with an error.
  fails() { (inspect --protocol-era "$era" --method tools/call "$@" 2>&1 || true); }
  fails --tool-name search_vcs --tool-args-json '{"sector":"fintec"}' | grep -q fintech
  address=$spent fails --tool-name get_platform_stats --tool-args-json '{}' | grep -q 'daily quota of'
  echo "inspector, era $era: lists and calls six tools"
done
