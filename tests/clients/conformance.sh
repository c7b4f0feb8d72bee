#!/usr/bin/env bash
# The official conformance suite: conformance.sh URL REFERENCE CONFORMANCE, where REFERENCE is the URL of the same endpoint
# with the tools, resources and prompts of the reference server (tests/it/mcp/reference.rs), and CONFORMANCE the path of the
# installed `conformance`. The baselines list features that the endpoint does not have; they may only shrink.
set -euo pipefail
url=$1
reference=$2
conformance=$3
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp)
trap 'rm -f "$out"' EXIT
run() {
  echo "conformance $*"
  "$conformance" server "$@" >"$out" 2>&1 || { cat "$out"; exit 1; }
}
for revision in 2025-11-25 2026-07-28; do
  run --url "$reference" --requirements "$revision" --expected-failures "$here/baseline-$revision.yml"
done
of_the_server() { # scenarios of a revision that need nothing of the reference server
  for scenario in "${@:2}"; do
    run --url "$url" --scenario "$scenario" --spec-version "$1"
    grep -Eq 'Passed: ([0-9]+)/\1, 0 failed, 0 warnings' "$out" || { cat "$out"; exit 1; }
  done
}
of_the_server 2025-06-18 server-initialize ping tools-list resources-list prompts-list
of_the_server 2025-11-25 server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection
of_the_server 2026-07-28 tools-list resources-list prompts-list caching sep-2164-resource-not-found \
  dns-rebinding-protection http-header-validation input-required-result-unsupported-methods
echo 'conformance: all as required'
