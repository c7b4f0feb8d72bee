#!/usr/bin/env bash
# CSV by VentureDex and DuckDB, side by side: see README.md here. The options are those of compare.py.
#
#   benches/export_peers/run.sh --server target/release/venturedex --dataset DIR [--rounds N]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" || echo "not installed: DuckDB" >&2
"$work/venv/bin/python" "$here/compare.py" --work "$work" "$@"
