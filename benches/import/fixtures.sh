#!/usr/bin/env bash
# From a folder of a preset's files to a served release, in at most five commands, for the fixture of every preset:
# `benches/import/fixtures.sh INDEXER VENTUREDEX`. Reports the time of each.
set -euo pipefail
indexer=$(realpath "$1") server=$(realpath "$2")
fixtures=$(realpath "$(dirname "$0")/../../tests/fixtures/import")
work=$(mktemp -d)
pid=
finish() {
  [ -n "$pid" ] && kill "$pid" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

for fixture in "$fixtures"/*; do
  preset=$(basename "$fixture")
  cd "$(mktemp -d -p "$work")"
  start=$(date +%s%N)
  # The three commands of a stranger.
  "$indexer" import "$preset" "$fixture/input" --dataset dataset --on 2026-11-20 >/dev/null 2>&1
  "$indexer" build --dataset dataset >/dev/null 2>&1
  "$server" --listen 127.0.0.1:0 --data data >serve.log 2>&1 &
  pid=$!
  base=
  for _ in $(seq 100); do
    base=$(grep -o 'http://127.0.0.1:[0-9]*' serve.log | head -1) && [ -n "$base" ] && break
    sleep 0.1
  done
  answer=$(curl -fsS -H 'Content-Type: application/json' "$base/api/mcp" \
    -d '{"jsonrpc":"2.0","id":1,"method":"resources/list"}')
  took=$((($(date +%s%N) - start) / 1000000))
  for file in dataset/*.csv dataset/snapshot.toml; do
    cmp "$file" "$fixture/dataset/$(basename "$file")"
  done
  version=$(curl -fsS "$base/data" | grep -o '2026-11-20\.1' | head -1)
  [ "$version" = 2026-11-20.1 ] && [ -n "$answer" ]
  echo "$preset: served after 3 commands and $took ms"
  kill "$pid"
  wait "$pid" || true
  pid=
done
