#!/usr/bin/env bash
# VentureDex and its peers, side by side: see README.md here. The options are those of compare.py; after `--texts`, of texts.py.
#
#   benches/search_peers/run.sh --server target/release/venturedex --dataset DIR --queries DIR [--queries DIR] [--sample N]
#   benches/search_peers/run.sh --texts --server target/release/venturedex --dataset DIR
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
script=compare.py
if [ "${1:-}" = --texts ]; then
  script=texts.py
  shift
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 711 "$work" # PostgreSQL does not run as root; the user that it runs as must reach its files.
export PYTHONDONTWRITEBYTECODE=1
python3 -m venv "$work/venv"
# One by one: a package that cannot be had here leaves out its engine, not the others.
while read -r package; do
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check "$package" || echo "not installed: $package" >&2
done <"$here/requirements.txt"
"$work/venv/bin/python" "$here/$script" --work "$work" "$@"
