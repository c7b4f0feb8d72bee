#!/usr/bin/env bash
# Runs each fuzz target under libFuzzer, or only the named ones, for VENTUREDEX_FUZZ_SECONDS (600). Stable Rust and a C++ compiler.
#
# Coverage comes from options of rustc that are stable, so that neither nightly Rust nor another program is needed. What a target
# finds is kept in target/fuzz/findings: put it into tests/fuzz/corpus/TARGET, which `cargo test` replays.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
target_dir=${CARGO_TARGET_DIR:-$root/target/fuzz}
seconds=${VENTUREDEX_FUZZ_SECONDS:-600}
triple=$(rustc -vV | sed -n 's/^host: //p')
[ $# -gt 0 ] || set -- $(ls tests/fuzz/corpus)

# The versions of the service, and libFuzzer's in addition.
cp Cargo.lock tests/fuzz/Cargo.lock
coverage='-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares'
# With `--target`, build scripts and procedural macros are compiled without coverage.
CARGO_INCREMENTAL=0 RUSTFLAGS=$(echo $coverage) cargo build --release --target "$triple" \
  --manifest-path tests/fuzz/Cargo.toml --target-dir "$target_dir"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
failed=
for target in "$@"; do
  findings=$target_dir/findings/$target
  mkdir -p "$findings" "$work/$target"
  if VENTUREDEX_FUZZ=$target "$target_dir/$triple/release/fuzz" "$work/$target" "tests/fuzz/corpus/$target" \
    -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$findings/" >"$work/$target.log" 2>&1; then
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$work/$target.log" | tail -1)
    echo "$target: $count inputs in $seconds s, $edges edges, no finding"
  else
    grep -E -A2 'panicked at|ERROR: libFuzzer' "$work/$target.log" | tail -12
    echo "$target: FAILED, see $findings"
    failed=1
  fi
done
[ -z "$failed" ]
