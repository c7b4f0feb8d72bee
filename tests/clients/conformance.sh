#!/usr/bin/env bash
# The official conformance suite: conformance.sh URL CONFORMANCE, where CONFORMANCE is the path of the installed
# `conformance`. The baselines list what does not apply to a server without the reference tools, prompts and resources; they
# may only shrink.
set -euo pipefail
url=$1
conformance=$2
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp)
trap 'rm -f "$out"' EXIT
run() {
  echo "conformance $*"
  "$conformance" server --url "$url" "$@" >"$out" 2>&1 || { cat "$out"; exit 1; }
}
for revision in 2025-11-25 2026-07-28; do
  run --requirements "$revision" --expected-failures "$here/baseline-$revision.yml"
done
run --scenario http-header-validation --spec-version 2026-07-28
grep -q 'Passed: 14/14, 0 failed, 0 warnings' "$out" || { cat "$out"; exit 1; }
for scenario in server-initialize ping tools-list; do
  run --scenario "$scenario" --spec-version 2025-06-18
  grep -Eq 'Passed: ([0-9]+)/\1, 0 failed, 0 warnings' "$out" || { cat "$out"; exit 1; }
done
echo 'conformance: all as required'
