#!/bin/sh
# Crawls a made-up museum on loopback on two days, packs the archive as one WACZ and as several, and opens these and
# the crawl with orbweaver view --replayweb, in Debian's Chromium.
#
#   tools/replaycheck/run.sh DIR
#
# DIR must not exist. ReplayWeb.page (AGPL) comes from npm into build/, and is no part of Orbweaver.
# Exit status: 0 all pages are as they were, 1 one is not, 2 wrong usage or a tool is missing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
orbweaver=$here/../../bin/orbweaver
player=$here/../../build/replaywebpage
die() { echo "replaycheck: $*" >&2; exit 2; }
fail() { echo "replaycheck: COMPLAINT: $*"; exit 1; }

[ $# -eq 1 ] && [ ! -e "$1" ] || die "usage: $0 DIR (which must not exist)"
for tool in node npm chromium; do
	command -v "$tool" >/dev/null || die "$tool is missing: please install it (Debian: apt-get install nodejs npm chromium)"
done
[ -d "$here/../dashboardcheck/node_modules" ] ||
	npm ci --silent --ignore-scripts --no-audit --no-fund --prefix "$here/../dashboardcheck" || die "npm ci failed"
if [ ! -f "$player/package/sw.js" ]; then
	mkdir -p "$player" && (
		cd "$player" && npm pack --silent replaywebpage@2.5.3 >/dev/null && sha512sum --check --quiet "$here/replaywebpage.sha512" &&
			tar xzf replaywebpage-2.5.3.tgz
	) || die "replaywebpage 2.5.3 could not be fetched"
fi
mkdir -p "$1" || die "$1 cannot be made"
dir=$(cd "$1" && pwd)

# The museum ends with its standard input.
mkfifo "$dir/days" "$dir/said"
node "$here/museum.mjs" <"$dir/days" >"$dir/said" &
museum=$!
trap 'kill $museum 2>/dev/null' EXIT
exec 3>"$dir/days" 4<"$dir/said"
read -r port <&4 || die "the museum does not begin"
crawl() {
	"$orbweaver" crawl --dir "$dir/crawl" --proxy "http://127.0.0.1:$port" --resolver hashed --contact curator@museum.test \
		--host-delay 10ms --ip-delay 1ms --max-time 1m --progress none "$@" 2>>"$dir/crawl.log" ||
		{ cat "$dir/crawl.log"; fail "the crawl failed"; }
}
crawl http://museum.test/
sleep 1.1 # two captures of one second are one to a replay program: index lines have seconds
echo next >&3
read -r day <&4 || die "the museum has ended"
crawl --refresh
echo "replaycheck: crawled until $day"
"$orbweaver" wacz "$dir/crawl" -o "$dir/one.wacz" --main-page http://museum.test/ || fail "wacz"
"$orbweaver" wacz "$dir/crawl" -o "$dir/parts.wacz" --split 1 || fail "wacz --split"
[ -f "$dir/parts-0002.wacz" ] || fail "--split has made one file"
"$orbweaver" wacz "$dir/crawl" -o "$dir/named.wacz" --split 1 --originals name || fail "wacz --originals name"
"$orbweaver" warc verify "$dir/one.wacz" "$dir/parts.json" "$dir/named.json" || fail "warc verify"
timeout 2400 node "$here/check.mjs" "$player/package" "$dir/crawl" "$dir/pictures" "$dir/one.wacz" "$dir/parts.json" \
	"$dir/named.json" "$dir/crawl"
