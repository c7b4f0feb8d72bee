#!/usr/bin/env bash
# Search over HTTP against a fixed body of the same server, in turn: rates, latencies and their ratio. No response comes
# from the response cache. `new` sends each text once, so that each search is computed; `known` sends the texts again, as
# pages, filters and other users do: their matches are at hand.
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
python3 "$here/queries.py" "$base" "$KEY" >"$work/new"
head -4000 "$work/new" >"$work/known"
echo /healthz >"$work/fixed"
echo "$(wc -l <"$work/new") texts, $clients clients, $rounds rounds of $seconds s each"
skip=4000
run() { # paths [skip]
  PATHS="$work/$1" SKIP=${2:-0} wrk -t1 -c"$clients" -d"${seconds}s" -s "$here/paths.lua" "$base" | grep RESULT
}
FRESH=1 run known >/dev/null
for _ in $(seq "$rounds"); do
  read -r _ fixed _ <<<"$(run fixed)"
  for paths in new known; do
    at=0 && [ $paths = new ] && at=$skip
    read -r _ rate p50 p99 errors requests <<<"$(FRESH=1 run $paths "$at")"
    [ $paths = new ] && skip=$((skip + requests))
    awk -v n=$paths -v f="$fixed" -v r="$rate" -v p50="$p50" -v p99="$p99" -v e="$errors" \
      'BEGIN { printf "fixed %.0f/s  %-5s %.0f/s  ratio %.3f  p50 %.2f ms  p99 %.2f ms  errors %d\n", f, n, r, r / f, p50, p99, e }'
  done
done
[ "$skip" -le "$(wc -l <"$work/new")" ] || echo 'some texts were sent twice: use fewer or shorter rounds'
