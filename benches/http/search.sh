#!/usr/bin/env bash
# Search over HTTP against a fixed body of the same server, in turn: rates, latencies and their ratio. Each search is
# computed; a cached response is faster.
#
#   benches/http/search.sh BASE KEY [CLIENTS] [SECONDS] [ROUNDS]
#
# BASE is a running server on loopback, KEY one of its keys without a limit. Needs wrk and python3.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
base=$1 KEY=$2 clients=${3:-8} seconds=${4:-4} rounds=${5:-5}
export KEY
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/queries.py" "$base" "$KEY" >"$work/search"
echo /healthz >"$work/fixed"
echo "$(wc -l <"$work/search") queries, $clients clients, $rounds rounds of $seconds s each"
run() { PATHS="$work/$1" wrk -t1 -c"$clients" -d"${seconds}s" -s "$here/paths.lua" "$base" | grep RESULT; }
FRESH=1 run search >/dev/null
for _ in $(seq "$rounds"); do
  read -r _ fixed _ _ _ <<<"$(run fixed)"
  read -r _ search p50 p99 errors <<<"$(FRESH=1 run search)"
  awk -v f="$fixed" -v s="$search" -v p50="$p50" -v p99="$p99" -v e="$errors" \
    'BEGIN { printf "fixed %.0f/s  search %.0f/s  ratio %.3f  p50 %.2f ms  p99 %.2f ms  errors %d\n", f, s, s / f, p50, p99, e }'
done
