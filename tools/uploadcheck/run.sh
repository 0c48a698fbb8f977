#!/bin/sh
# Sends a crawl of the simulated web to s3rver, on loopback, while it is killed and the store goes down, and lets s3cmd
# read the bucket.
#
#   tools/uploadcheck/run.sh DIR
#
# DIR must not exist. Exit status: 0 no complaint, 1 a complaint, 2 wrong usage or a tool is missing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
orbweaver=$here/../../bin/orbweaver
port=${PORT:-24568}
die() { echo "uploadcheck: $*" >&2; exit 2; }
status=0
complain() { echo "uploadcheck: COMPLAINT: $*"; status=1; }

[ $# -eq 1 ] && [ ! -e "$1" ] || die "usage: $0 DIR (which must not exist)"
for tool in node npm s3cmd; do
	command -v "$tool" >/dev/null || die "$tool is missing: please install it (node 20, npm, s3cmd)"
done
if [ ! -d "$here/node_modules/s3rver" ]; then
	echo "uploadcheck: installing s3rver"
	(cd "$here" && npm ci --silent --no-audit --no-fund) || die "npm ci failed"
fi
mkdir -p "$1/objects" "$1/here" "$1/there" || die "$1 cannot be made"
dir=$(cd "$1" && pwd)
export AWS_ACCESS_KEY_ID=S3RVER AWS_SECRET_ACCESS_KEY=S3RVER

store=
start_store() {
	"$here/node_modules/.bin/s3rver" -d "$dir/objects" -a 127.0.0.1 -p "$port" --silent --configure-bucket archive &
	store=$!
	for _ in $(seq 50); do
		node -e "require('net').connect($port, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))" &&
			return
	done
	die "s3rver does not listen on port $port"
}
stop_store() {
	[ -z "$store" ] || kill "$store" 2>/dev/null
	wait "$store" 2>/dev/null
	store=
}
web=
trap 'stop_store; [ -z "$web" ] || kill "$web" 2>/dev/null' EXIT

echo '{"Seed": 1, "Hosts": 600, "Validators": 1}' >"$dir/world.json"
"$orbweaver" sim --proxy 127.0.0.1:$((port + 1)) --world "$dir/world.json" >"$dir/sim.log" 2>&1 &
web=$!
crawl() {
	pages=$1
	wait=$2
	shift 2
	"$orbweaver" crawl --dir "$dir/crawl" --proxy "http://127.0.0.1:$((port + 1))" --resolver hashed:8 --scope all \
		--host-delay 10ms --ip-delay 0 --progress none --warc-size 12MiB --warc-compression none --upload-part 5MiB --checkpoint 1s --max-pages "$pages" \
		--upload s3://archive/check/one --upload-endpoint "http://127.0.0.1:$port" --upload-wait "$wait" "$@" \
		http://h0.sim.test/ http://h1.sim.test/
}
# The store is down: the crawl ends all the same, and says what is left.
crawl 2000 1s 2>"$dir/down.log"
[ $? -eq 4 ] || complain "a crawl whose store is down does not end with status 4"
grep -q "WARC files are not sent yet" "$dir/down.log" || complain "the crawl does not say that files are left"
start_store
# Killed while it sends: the next command continues.
"$orbweaver" upload "$dir/crawl" >"$dir/killed.log" 2>&1 &
sending=$!
node -e 'setTimeout(() => {}, 150)'
kill -9 "$sending" 2>/dev/null
wait "$sending" 2>/dev/null
timeout 60 "$orbweaver" upload "$dir/crawl" || complain "upload"
# It goes on crawling, and sends the new files.
crawl 4000 1m 2>"$dir/more.log" || complain "the crawl does not go on"
"$orbweaver" fsck --quiet --remote "$dir/crawl" || complain "fsck --remote"

s3() {
	s3cmd --config=/dev/null --access_key=S3RVER --secret_key=S3RVER --no-ssl --host="127.0.0.1:$port" \
		--host-bucket="127.0.0.1:$port" "$@"
}
mkdir -p "$dir/back"
s3 get --quiet --recursive s3://archive/check/one/ "$dir/back/" || complain "s3cmd get"
for f in "$dir"/crawl/warc/orbweaver-*; do
	cmp -s "$f" "$dir/back/$(basename "$f")" || complain "$(basename "$f") differs in the bucket"
done
[ "$(find "$dir/back" -maxdepth 1 -type f | wc -l)" -eq "$(ls "$dir"/crawl/warc/orbweaver-* | wc -l)" ] ||
	complain "other files"
"$orbweaver" warc verify "$dir"/back/*.warc || complain "warc verify"
cp "$dir"/back/crawl-*/manifest-sha256.txt "$dir/back" || complain "no manifest"
(cd "$dir/back" && sha256sum -c --quiet manifest-sha256.txt) || complain "sha256sum"
[ -s "$(echo "$dir"/back/crawl-*/crawl.log)" ] || complain "no crawl log"

# A file that somebody changes in the bucket is found.
one=$(basename "$(find "$dir/crawl/warc" -name '*.warc' | head -1)")
echo damage >"$dir/damage"
s3 put --quiet "$dir/damage" "s3://archive/check/one/$one" || complain "s3cmd put"
if "$orbweaver" fsck --quiet --remote "$dir/crawl" >"$dir/damage.log"; then
	complain "a changed object is not found"
fi
grep -q "the object differs from the file" "$dir/damage.log" || complain "the finding does not say what is wrong"
s3 put --quiet "$dir/back/$one" "s3://archive/check/one/$one" || complain "s3cmd put"

# Records of the first WARC file, to be read again when it is only in the bucket.
first=$(find "$dir/crawl/warc" -name '*.warc' | sort | head -1)
"$orbweaver" warc --json ls "$first" | node -e '
	const lines = require("fs").readFileSync(0, "utf8").trim().split("\n").map(JSON.parse)
	const pages = lines.filter((l) => l.type === "response" && l.uri.startsWith("http"))
	for (let i = 0; i < 20; i++) console.log(pages[Math.floor(i * pages.length / 20)].uri)' | sort -u >"$dir/urls"
[ "$(wc -l <"$dir/urls")" -ge 10 ] || complain "no URLs to read"
read_records() {
	mkdir -p "$1"
	n=0
	while read -r url; do
		n=$((n + 1))
		"$orbweaver" warc get --dir "$dir/crawl" --record "$url" >"$1/$n.record" || complain "warc get --record $url"
		"$orbweaver" warc get --dir "$dir/crawl" "$url" >"$1/$n.payload" 2>/dev/null || complain "warc get $url"
	done <"$dir/urls"
}
read_records "$dir/before"
derive() {
	"$orbweaver" derive --corpus --wat --graph --quiet --out "$@" "$dir/crawl"
}
derive "$dir/derived-here" >"$dir/derive.log" 2>&1 || complain "derive"
"$orbweaver" wacz --out "$dir/here/site.wacz" "$dir/crawl" || complain "wacz"
"$orbweaver" wacz --split 15MB --out "$dir/here/parts.wacz" "$dir/crawl" >"$dir/split.log" || complain "wacz --split"

# The files are removed here, while the sender is killed. fsck still knows them, and s3cmd or upload brings them back.
for wait in 0.040 0.045 0.050 0.055 0.060 0.070; do
	"$orbweaver" upload --upload-then delete "$dir/crawl" >>"$dir/delete.log" 2>&1 &
	sending=$!
	sleep $wait
	kill -9 "$sending" 2>/dev/null
	wait "$sending" 2>/dev/null
done
timeout 60 "$orbweaver" upload --upload-then delete "$dir/crawl" || complain "upload --upload-then delete"
[ "$(find "$dir/crawl/warc" -name '*.warc' | wc -l)" -eq 1 ] || complain "files are left"
"$orbweaver" fsck --quiet --remote "$dir/crawl" || complain "fsck --remote of removed files"

# Single records come from the bucket, byte for byte. If the store is down, the error names object and remedy.
[ ! -e "$first" ] || complain "the first file is still here"
read_records "$dir/after"
diff -r "$dir/before" "$dir/after" || complain "warc get reads other bytes from the bucket"

# What reads whole files leaves out what was removed, and says so; with --from-store it reads each object once.
if derive "$dir/derived" >"$dir/derive.log" 2>&1; then
	complain "derive leaves files out with exit status 0"
fi
grep -q "left out: .*$(basename "$first") (.*) is in s3://archive/check/one/" "$dir/derive.log" ||
	complain "derive does not name what it leaves out"
[ "$(find "$dir/derived/corpus" -name '*.gz' | wc -l)" -eq 1 ] || complain "derive does not use the file that is here"
derive "$dir/derived" --from-store >"$dir/derive.log" 2>&1 || complain "derive --from-store"
grep -q "files, .* were read from the object store" "$dir/derive.log" || complain "derive does not say what it read"
for kind in corpus graph; do
	diff -r "$dir/derived-here/$kind" "$dir/derived/$kind" || complain "derive --from-store makes another $kind"
done
[ "$(ls "$dir/derived/wat")" = "$(ls "$dir/derived-here/wat")" ] || complain "derive --from-store makes other WAT files"
if "$orbweaver" wacz --out "$dir/there/site.wacz" "$dir/crawl" 2>"$dir/wacz.log" || [ -e "$dir/there/site.wacz" ]; then
	complain "a WACZ without the removed files"
fi
"$orbweaver" wacz --from-store --out "$dir/there/site.wacz" "$dir/crawl" 2>>"$dir/wacz.log" || complain "wacz --from-store"
"$orbweaver" wacz --from-store --split 15MB --out "$dir/there/parts.wacz" "$dir/crawl" >"$dir/split.log" 2>&1 ||
	complain "wacz --from-store --split"
for one in here there; do
	"$orbweaver" warc verify "$dir/$one/site.wacz" "$dir/$one/parts.json" >"$dir/verify.log" || complain "warc verify of the WACZ"
	sed 's/^[^:]*: //; s/ bytes [0-9]*,//' "$dir/verify.log" >"$dir/$one.sums"
done
cmp "$dir/here.sums" "$dir/there.sums" || complain "wacz --from-store packs other files"
url=$(head -1 "$dir/urls")
stop_store
if "$orbweaver" warc get --dir "$dir/crawl" "$url" >/dev/null 2>"$dir/unreachable.log"; then
	complain "warc get without a store"
fi
for word in "s3://archive/check/one/$(basename "$first")" "connection refused" "orbweaver upload --fetch-back $dir/crawl"; do
	grep -q "$word" "$dir/unreachable.log" || complain "the error does not say: $word"
done
start_store
"$orbweaver" upload --fetch-back "$dir/crawl" || complain "upload --fetch-back"
(cd "$dir/crawl/warc" && sha256sum -c --quiet manifest-sha256.txt) || complain "sha256sum of fetched files"

# A refresh of removed pages: their heads and, if they are unchanged, their links come from the bucket.
timeout 60 "$orbweaver" upload --upload-then delete "$dir/crawl" 2>>"$dir/delete.log" || complain "upload --upload-then delete"
crawl 300 1m --refresh --refresh-from-store 2>"$dir/refresh.log" || complain "crawl --refresh --refresh-from-store"
grep -q " not-modified [0-9][0-9]" "$dir/refresh.log" || complain "a refresh from the bucket asks without conditions"
"$orbweaver" fsck --quiet --remote "$dir/crawl" || complain "fsck --remote after a refresh"
[ $status -eq 0 ] && echo "uploadcheck: no complaint: $(find "$dir/back" -type f | wc -l) objects"
exit $status
