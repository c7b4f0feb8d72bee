#!/bin/sh
# Makes a data set from sources that are in the public domain or CC0.
#
#   deploy/public-data.sh DOWNLOADS SOURCES INDEX [DATE]
#
# DOWNLOADS has a folder for each source, with its files as they are published:
#
#   sec-form-d      quarterly zips: https://www.sec.gov/data-research/sec-markets-data/form-d-data-sets
#   sec-form-adv    monthly CSV of registered and of exempt advisers, unzipped:
#                   https://www.sec.gov/data-research/sec-markets-data/information-about-registered-investment-advisers-exempt-reporting-advisers
#   sbir            award data without abstracts: https://www.sbir.gov/awards
#   gleif           golden copy, level 1, CSV: https://www.gleif.org/en/lei-data/gleif-golden-copy
#   wikidata-csv    startups.csv and firms.csv: https://query.wikidata.org, with the query in `indexer import` (docs)
#
# Missing folders are skipped. SOURCES keeps what each source said; run the script again after a new download. A person should
# read the terms of each publisher before the data set is passed on.
set -eu
if [ $# -lt 3 ]; then
  sed -n '2,17s/^# \{0,1\}//p' "$0"
  exit 2
fi
downloads=$1 sources=$2 index=$3 date=${4:-$(date -u +%Y-%m-%d)}
indexer=${INDEXER:-indexer}
found=0
for preset in sec-form-d sec-form-adv sbir gleif wikidata-csv; do
  [ -d "$downloads/$preset" ] || continue
  found=1
  "$indexer" import "$preset" "$downloads/$preset" --sources "$sources" --on "$date"
done
if [ "$found" = 0 ]; then
  echo "$downloads has none of the folders sec-form-d, sec-form-adv, sbir, gleif, wikidata-csv" >&2
  exit 1
fi
"$indexer" build --sources "$sources" --index "$index" --licenses "$(
  # Only what is in the public domain or CC0, whatever else is in the folder of sources.
  sed -n 's/^license = "\(CC0-1.0\|LicenseRef-US-Government-Work\)"$/\1/p' "$sources"/*/source.toml | sort -u | paste -sd, -
)"
