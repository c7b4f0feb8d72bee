#!/usr/bin/env bash
# A tool call against the same answer on a plain REST route, in turn: CPU time of the server per answer, and the ratio.
#
#   benches/http/mcp.sh BASE KEY PID [CLIENTS] [SECONDS] [ROUNDS]
#
# BASE is a running server on loopback, KEY one of its keys without a limit, PID its process. Needs wrk and Linux.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
base=$1 KEY=$2 pid=$3 clients=${4:-8} seconds=${5:-4} rounds=${6:-5}
export KEY
ticks=$(getconf CLK_TCK)
cpu() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
# Prints: microseconds of CPU per answer, bytes per answer, errors.
run() {
  local before told
  before=$(cpu)
  told=$(wrk -t1 -c"$clients" -d"${seconds}s" -s "$here/mcp.lua" "$base" | grep RESULT)
  awk -v before="$before" -v after="$(cpu)" -v ticks="$ticks" \
    '{ printf "%.2f %.0f %d\n", (after - before) / ticks * 1e6 / $2, $4 / $2, $3 }' <<<"$told"
}
compare() { # name, path, tool, arguments
  local call
  call='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'$3'","arguments":'$4'}}'
  for _ in $(seq "$rounds"); do
    read -r plain plain_bytes plain_errors <<<"$(PATH_ASKED=$2 run)"
    read -r tool tool_bytes tool_errors <<<"$(CALL=$call run)"
    awk -v n="$1" -v p="$plain" -v t="$tool" -v pb="$plain_bytes" -v tb="$tool_bytes" -v e="$((plain_errors + tool_errors))" \
      'BEGIN { printf "%-10s plain %6.1f µs %6d bytes  tool call %6.1f µs %6d bytes  ratio %.2f  errors %d\n", n, p, pb, t, tb, t / p, e }'
  done
}
echo "$clients clients, $rounds rounds of $seconds s each"
compare firms '/api/v3/vcs?stage=seed&country=US&limit=10' search_vcs '{"stage":"seed","country":"US"}'
compare search '/api/v3/vcs?q=sequoia&limit=10' search_vcs '{"query":"sequoia"}'
compare rounds '/api/v3/funding-rounds?stage=seed&limit=10' get_funding_rounds '{"stage":"seed"}'
compare stats '/api/v3/stats' get_platform_stats '{}'
