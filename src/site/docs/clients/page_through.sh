#!/bin/sh
# Prints every record of a list, one JSON line per record: sh page_through.sh vcs 'stage=seed&country=DE'
set -eu
: "${VENTUREDEX_URL:?the URL of the service}" "${VENTUREDEX_KEY:?your API key}"
list=${1:-vcs}
query=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/seen"
cursor=
while :; do
  status=$(curl -sS -G "$VENTUREDEX_URL/api/v3/$list?$query" --data-urlencode "limit=100" ${cursor:+-d "cursor=$cursor"} \
    -H "Authorization: Bearer $VENTUREDEX_KEY" -o "$work/body" -D "$work/head" -w '%{http_code}')
  case $status in
    200) ;;
    429 | 503)
      wait=$(tr -d '\r' <"$work/head" | awk 'tolower($1) == "retry-after:" { print $2 }')
      if [ "${wait:-1}" -gt 3600 ]; then
        echo "the daily quota is exhausted; it resets in $wait seconds" >&2
        exit 1
      fi
      sleep "${wait:-1}"
      continue
      ;;
    410) # The release has expired: restart, without records that were already printed.
      cursor=
      continue
      ;;
    *)
      jq -r '"\(.status) \(.code): \(.detail)"' "$work/body" >&2
      exit 1
      ;;
  esac
  jq -r '.data[] | "\(.slug // .id)\t\(tojson)"' "$work/body" |
    awk -F '\t' -v seen="$work/seen" 'BEGIN { while ((getline id < seen) > 0) known[id] } !($1 in known) { print $2; print $1 >> seen }'
  cursor=$(jq -r '.pagination.next_cursor // ""' "$work/body")
  [ -n "$cursor" ] || break
done
