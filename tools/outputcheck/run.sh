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
if [ ! -d "$here/node_modules/@duckdb" ] || [ ! -d "$here/node_modules/warcio" ]; then
	echo "outputcheck: installing DuckDB and warcio"
	(cd "$here" && npm ci --silent --no-audit --no-fund) || die "npm ci failed"
fi
status=0
"$orbweaver" derive --parquet --graph --wet --wat --corpus --minhash --crawl demo --out "$2" --quiet "$1" || exit 1
node "$here/columns.mjs" "$2" "$1/warc" "${3:-}" || status=1
complain() { echo "outputcheck: COMPLAINT: $*"; status=1; }

# Names and arcs are sorted, as WebGraph and Common Crawl's tools expect. Each arc is in the BV graph too.
gzip -dc "$2/graph/demo.urls.gz" | LC_ALL=C sort -cu || complain "URLs are not sorted"
for arcs in demo.arcs demo-host-edges.txt demo-domain-edges.txt; do
	gzip -dc "$2/graph/$arcs.gz" | sort -c -u -k1,1n -k2,2n || complain "$arcs is not sorted"
	base=${arcs%.arcs}; base=${base%-edges.txt}
	said=$(sed -n 's/^arcs=//p' "$2/graph/$base.properties")
	[ "$said" = "$(gzip -dc "$2/graph/$arcs.gz" | wc -l)" ] || complain "$base has $said arcs in its properties"
done
"$orbweaver" graph stats "$2" || complain "graph stats"
# WET and WAT files are WARC files.
for f in "$2"/wet/*.gz "$2"/wat/*.gz; do
	gzip -t "$f" || complain "gzip -t $f"
	"$orbweaver" warc ls "$f" >/dev/null || complain "warc ls $f"
	"$here/node_modules/.bin/warcio" index "$f" >/dev/null || complain "warcio index $f"
done
# Each row of the corpus is an object with text.
for f in "$2"/corpus/*.jsonl.gz; do
	gzip -dc "$f" | node -e 'let n = 0; require("readline").createInterface({input: process.stdin}).on("line", (l) => {
		const r = JSON.parse(l); if (!r.text || !r.id || !r.url) process.exit(1); n++;
	}).on("close", () => console.log(`outputcheck: ${n} rows of the corpus`))' || complain "rows of $f"
done
node "$here/clusters.mjs" "$2/minhash" || status=1
exit $status
