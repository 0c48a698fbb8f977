#!/bin/sh
# Makes all outputs of `orbweaver derive` from a crawl directory, and lets other people's tools read them.
#
#   tools/outputcheck/run.sh CRAWL OUT [QUERIES]
#
# QUERIES is a directory of SQL files, such as src/sql/examples/cc-index of commoncrawl/cc-index-table.
# Exit status: 0 no complaint, 1 a complaint, 2 wrong usage or a tool is missing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
orbweaver=$here/../../bin/orbweaver
die() { echo "outputcheck: $*" >&2; exit 2; }

[ $# -ge 2 ] || die "usage: $0 CRAWL OUT [QUERIES]"
for tool in node npm; do
	command -v "$tool" >/dev/null || die "$tool is missing: please install it (node 20, npm)"
done
if [ ! -d "$here/node_modules/@duckdb" ]; then
	echo "outputcheck: installing DuckDB"
	(cd "$here" && npm ci --silent --no-audit --no-fund) || die "npm ci failed"
fi
status=0
"$orbweaver" derive --parquet --crawl demo --out "$2" --quiet "$1" || exit 1
node "$here/columns.mjs" "$2" "$1/warc" "${3:-}" || status=1
exit $status
