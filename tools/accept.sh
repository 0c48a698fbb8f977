#!/usr/bin/env bash
# The acceptance programs: Orbweaver as a whole, before judges from outside. Most need programs that CI does not have.
#
#   tools/accept.sh [NAME]     runs one; without a name it lists all
#
# A program is a function below; the comment above it says what it shows, and what it needs. make accept NAME=... calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export GO=${GO:-go} CGO_ENABLED=${CGO_ENABLED:-0}
export GOFLAGS=${GOFLAGS:--trimpath}
SEED=${SEED:-1}

# fresh NAME: an empty directory below build.
fresh() { rm -rf "build/$1" && mkdir -p "build/$1"; }

# gone NAME: no such directory below build, which the program makes.
gone() { rm -rf "build/$1" && mkdir -p build; }

# small NAME: a small crawl in build/NAME/demo.
small() { fresh "$1" && bin/orbweaver demo --small --dir "build/$1/demo" --progress none; }

# foreign tools read the archive of a small crawl (Node.js, npm; says so when they are missing)
accept_judge() { small judge && tools/warccheck/run.sh build/judge/demo/warc; }

# DuckDB reads what derive makes of a small crawl (Node.js, npm; QUERIES=dir of SQL)
accept_outputs() { small outputs && tools/outputcheck/run.sh build/outputs/demo build/outputs/out "${QUERIES:-}"; }

# fastText judges the languages that derive finds (fasttext, zstd, Node.js, npm)
accept_languages() { small languages && tools/languagecheck/run.sh build/languages/demo build/languages/out; }

# s3rver takes a crawl, killed and with a store that is down, and s3cmd reads it (Node.js, npm, s3cmd)
accept_upload() { gone upload && tools/uploadcheck/run.sh build/upload; }

# ReplayWeb.page opens WACZ files in Chromium; five minutes (Node.js, npm, chromium)
accept_replay() { gone replay && tools/replaycheck/run.sh build/replay; }

# orbweaver view shows an archive to Chromium and Firefox: is a foreign server contacted? 15 minutes (root)
accept_view() { tools/viewcheck/run.sh; }

# what people do with the dashboard, in Chromium (Node.js, npm; says so when one is missing)
accept_dashboard() { tools/dashboardcheck/run.sh; }

# Debian's documentation and applications on loopback: is a page lost? 30 minutes (Linux, root; REALSITE=names)
accept_realsite() { tools/realsite/run.sh ${REALSITE:-}; }

# unbound, dnsmasq and Knot DNS resolve names, also behind middleboxes that drop questions; half a minute (Linux)
accept_dns() { tools/dnscheck/run.sh; }

# nginx, nghttpd and h2o over HTTP/2: payloads, records, restarts, a refresh, other readers; three minutes (Linux, root)
accept_http2() { tools/h2check.sh; }

# a site whose nginx stops, answers 503 or stays away, and sites behind squid and tinyproxy that fail, on loopback
accept_outage() { tools/outage.sh && tools/proxies.sh; }

# other crawlers and ours on one simulated web, in a network namespace; 25 minutes (Linux)
accept_others() { tools/others/install.sh && tools/others/run.sh; }

# published test suites (DATA=dir; tools/conformance/doc.go says where to get them)
accept_conformance() {
	test -d "${DATA:-}" || { echo "DATA=dir: a directory with the suites, as tools/conformance/doc.go lays it out" >&2; exit 2; }
	mkdir -p build && "$GO" run ./tools/conformance "$DATA" build/conformance.md
}

# every hostile input, scored by family, with a page in build; files of others that cost much, with each command
accept_hostile() {
	mkdir -p build && "$GO" -C bench run ./cmd/hostilescore ../build/hostile.md &&
		"$GO" test ./cmd/orbweaver -count=1 -v -timeout 1h -run '^TestBombs$|^TestForged' -large-bombs -all-forged
}

# 10^6 requests in a web of faults, over ten restarts, against the outside log; five minutes of a core
accept_polite() { "$GO" -C bench test -tags scenario ./scenario/crawl -count=1 -v -timeout 2h -run TestPolite_ -requests 1000000 -seed "$SEED"; }

# kills a crawl at each change of the disk, and the program 200 times (CRASH: how much of it; -floor 0 is all)
accept_crash() {
	cd bench/crash && "$GO" test -vet=off -tags 'invariants scenario' -count=1 -timeout 4h -seed "$SEED" \
		${CRASH:--seeds 4 -per-class 6 -floor 3 -kills 200}
}

# a crawl in cgroups with as much memory as it asks for, and with a tenth (Linux, root)
accept_pressure() { tools/pressure.sh; }

# half an hour at full speed: does anything grow or slow down?
accept_soak() { bin/orbweaver-bench soak; }

# one million pages of 50,000 hosts at 10,000 addresses, with full politeness
accept_million() {
	bin/orbweaver-bench throughput --hosts 50000 --ips 10000 --per-host 40 --mean 21 --host-delay 4s --ip-delay 500ms
}

# a first crawl on a fresh Debian, by the guide alone: writes build/newcomer.md and its pictures (root, mmdebstrap, a mirror)
accept_newcomer() { make --no-print-directory deb && tools/newcomer/run.sh build/orbweaver_*.deb; }

# the package in a fresh Debian, its service in a booted systemd; five minutes (root, mmdebstrap, a mirror)
accept_package() { make --no-print-directory deb && tools/package/test.sh build/orbweaver_*.deb; }

# the program, built for every platform without a C compiler (PLATFORMS="darwin/arm64")
accept_cross() {
	for p in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}; do
		local suffix=
		[ "${p%/*}" != windows ] || suffix=.exe
		echo "$p"
		GOOS=${p%/*} GOARCH=${p#*/} "$GO" build -o "build/cross/orbweaver-${p%/*}-${p#*/}$suffix" ./cmd/orbweaver
	done
}

# the types of the program on other platforms, in seconds (PLATFORMS="darwin/arm64")
accept_types() { "$GO" -C tools/devtools run ./crosscheck ../.. ${PLATFORMS:-linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64}; }

# known vulnerabilities, by govulncheck; says so where its database cannot be reached
accept_vuln() { tools/vuln.sh; }

# list prints each program with the comment above it.
list() { grep -B 1 '^accept_' "$0" | sed -nE 's/^# (.*)/\1/;T next;h;d;:next;s/^accept_([a-z]+)\(.*/\1/;T;G;s/(.*)\n(.*)/  \1\t\2/p' | expand -t 16; }

name=${1:-}
if [ -z "$name" ]; then
	echo "make accept NAME=..., one of:"
	list
	exit
fi
if ! declare -F "accept_$name" >/dev/null; then
	echo "there is no acceptance program $name; those there are:" >&2
	list >&2
	exit 2
fi
"accept_$name"
