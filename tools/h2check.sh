#!/usr/bin/env bash
# Crawls nginx, nghttpd and h2o over HTTP/2, and judges what the archive has. All of them run on loopback.
#
#   tools/h2check.sh
#
# The site is 300 files of the Go tree, one of 3 MB and an empty one. nginx and h2o compress them, nghttpd sends padding
# and trailers, and would push. nginx ends a connection after 50 requests, and gives robots.txt (404) a head of 40 KB.
# For each server there is a line for each of these:
#
#   pages      every file has status 200
#   payloads   their digests are those over HTTP/1.1; nghttpd has HTTP/2 alone: they are those of the files
#   protocol   each record of an exchange has WARC-Protocol: h2, or http/1.1 without --http2
#   verify     orbweaver warc verify has no complaint
#   kept       nine of ten requests use a connection that was kept
#   restart    the server stops in mid-crawl and starts again: no page is lost, none is fetched twice, and HTTP/2 goes
#              on; before that, nginx replaces the process that serves three times (reload)
#   refresh    with --refresh, each page is unchanged (304), over HTTP/2
#
# Then other people's readers judge all archives, if Node.js and npm are there (tools/warccheck). Exit status: 0 all
# holds, 1 something does not, 2 something is missing. A server that is not installed is left out. It takes three
# minutes and root. The servers run in a network namespace that has loopback and nothing else. Logs are in
# build/h2check.
set -euo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
cd "$(dirname "$0")/.."
work=$PWD/build/h2check pages=303 port=8443 url=https://127.0.0.1:8443/
missing() { echo "h2check: $*" >&2; exit 2; }

server= # process of the server

# makeSite: pages - 3 files of the Go tree, a large one, an empty one, and the page with links to all of them.
makeSite() {
	local i=0 source f most=$((pages - 3))
	source=$(${GO:-go} env GOROOT)/src
	mkdir -p "$work/docs"
	for f in $(find "$source" -name '*.go' -size +2k | sort | awk -v most=$most 'NR % 7 == 1 && n++ < most'); do
		i=$((i + 1))
		cp "$f" "$work/docs/$i.txt"
	done
	head -c 3000000 < <(cat "$source"/cmd/compile/internal/ssa/*.go) >"$work/docs/large.txt"
	: >"$work/docs/empty.txt"
	(cd "$work/docs" && for f in *.txt; do echo "<a href=$f>$f</a>"; done >index.html)
	touch -d 2020-01-01 "$work"/docs/* # a young Last-Modified is no validator
}

# configure: the certificate, and the files that the servers read.
configure() {
	local long
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 \
		-addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
	long=$(for i in $(seq 10); do echo "add_header x-long-$i $(head -c 3000 /dev/urandom | base64 -w 0) always;"; done)
	cat >"$work/nginx.conf" <<-CONF
		daemon off; user root; worker_processes 1; pid $work/nginx.pid;
		events { worker_connections 64; }
		http {
		  default_type text/plain; access_log off; keepalive_requests 50; gzip on; gzip_types text/plain;
		  types { text/html html; }
		  server {
		    listen 127.0.0.1:$port ssl http2; root $work/docs;
		    ssl_certificate $work/cert.pem; ssl_certificate_key $work/key.pem;
		    location = /robots.txt {
		      $long
		    }
		  }
		}
	CONF
	cat >"$work/h2o.conf" <<-CONF
		user: root
		num-threads: 1
		http2-graceful-shutdown-timeout: 1
		compress: [gzip]
		file.mime.setdefaulttype: text/plain
		listen:
		  host: 127.0.0.1
		  port: $port
		  ssl: { certificate-file: $work/cert.pem, key-file: $work/key.pem, ocsp-update-interval: 0 }
		hosts:
		  default:
		    paths: { /: { file.dir: $work/docs } }
	CONF
}

# start NAME: begins a server, and waits until it listens.
start() {
	local -A command=(
		[nginx]="nginx -p $work/ -c $work/nginx.conf -e $work/nginx.log"
		[h2o]="h2o -c $work/h2o.conf"
		[nghttpd]="nghttpd -a 127.0.0.1 -d $work/docs --padding=200 --trailer=x-sum:1 --push=/=/1.txt
			$port $work/key.pem $work/cert.pem"
	)
	# shellcheck disable=SC2086 # words, none of which has a space
	${command[$1]} >>"$work/$1.log" 2>&1 &
	server=$!
	for _ in $(seq 100); do
		(: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null && return
		sleep 0.1
	done
	missing "$1 does not listen; its log is $work/$1.log"
}

# stop NAME: ends the server; nginx and h2o end their connections with GOAWAY.
stop() {
	local signal=TERM
	[ "$1" != nginx ] || signal=QUIT
	kill -s $signal "$server"
	wait "$server" || true
}

crawl() { # DIR FLAG...: a hundred pages a second
	local dir=$1
	shift
	timeout 60 bin/orbweaver crawl --dir "$dir" --allow-net 127.0.0.0/8 --allow-port "$port" \
		--host-delay 10ms --ip-delay 0 --fetchers 4 --novelty off --progress none \
		--workbench-memory 4Mi --cache-memory 1Mi --sieve-memory 1Mi "$@" "$url" >>"$dir.log" 2>&1
}

report() { sed -nE "s/^  \"$2\": \"?([^\",]*)\"?,?\$/\\1/p" "$1/report.json"; }

# payloads DIR: URL and digest of all pages, as crawl.log has them.
payloads() { awk -v url="$url" '$2 == 200 { sub(url, "", $4); print $4, $10 }' "$1/logs/crawl.log" | sort; }

# files: the same of the files.
files() {
	(cd "$work/docs" && for f in *; do
		[ -s "$f" ] && echo "${f#index.html} sha1:$(openssl dgst -sha1 -binary "$f" | base32)" || echo "$f -"
	done) | sort
}

# records DIR PROTOCOL: how many records of a response have the protocol, and how many there are.
records() {
	zcat "$1"/warc/*.warc.gz | tr -d '\r' | awk -v want="WARC-Protocol: $2" '
		/^WARC\/1\.[01]$/ { inHead = 1; type = ""; has = 0 }
		inHead && /^WARC-Type: / { type = $2 }
		inHead && $0 == want { has = 1 }
		inHead && /^$/ { inHead = 0; if (type == "response" || type == "revisit") { all++; good += has } }
		END { print good + 0, all + 0 }'
}

faults=0
# judge SERVER CHECK DETAIL COMMAND...: prints a line. The command says whether the check holds.
judge() {
	local result=ok
	"${@:4}" || { result=FAULT && faults=$((faults + 1)); }
	printf '%-8s %-9s %-6s %s\n' "$1" "$2" "$result" "$3"
}

# judgeRecords SERVER DIR PROTOCOL LEAST: all records of responses have the protocol, and there are enough.
judgeRecords() {
	local good all
	read -r good all < <(records "$2" "$3")
	judge "$1" protocol "$3 on $good of $all records" [ "$good $((all >= $4))" = "$all 1" ]
}

# restart NAME DIR: a crawl over HTTP/2 during which the server stops and starts again. The time is in DIR.stop.
restart() {
	crawl "$2" --http2 &
	local crawler=$!
	sleep 1
	for _ in 1 2 3; do
		[ "$1" != nginx ] || kill -s HUP "$server"
		sleep 0.3
	done
	date -u +%FT%T.%3NZ >"$2.stop"
	stop "$1"
	start "$1"
	wait "$crawler" || true
}

# aroundStop DIR: how many responses came before the server stopped, and after.
aroundStop() {
	awk -v at="$(cat "$1.stop")" '$2 > 0 { if ($1 < at) before++; else after++ } END { print before + 0, after + 0 }' \
		"$1/logs/crawl.log"
}

# try NAME: crawls a server, and judges.
try() {
	local name=$1 dir=$work/$1 over1=$work/$1-http1 count
	start "$name"
	crawl "$dir" --http2 || true
	payloads "$dir" >"$dir.payloads"
	count=$(wc -l <"$dir.payloads")
	judge "$name" pages "$count of $pages" [ "$count" = $pages ]
	judgeRecords "$name" "$dir" h2 $((pages + 1))
	count=$(report "$dir" connections_reused)
	judge "$name" kept "$count requests over kept connections" [ "$count" -ge $((pages * 9 / 10)) ]
	if [ "$name" = nghttpd ]; then
		files >"$over1.payloads"
	else
		crawl "$over1" || true
		payloads "$over1" >"$over1.payloads"
		judgeRecords "$name" "$over1" http/1.1 $((pages + 1))
	fi
	count=$(comm -12 "$dir.payloads" "$over1.payloads" | wc -l)
	judge "$name" payloads "$count of $pages are equal" [ "$count" = $pages ]
	crawl "$dir" --http2 --refresh || true
	count=$(grep -c 'duplicate:server-not-modified' "$dir/logs/crawl.log" || true)
	judge "$name" refresh "$count of $pages are unchanged" [ "$count" = $pages ]
	judgeRecords "$name" "$dir" h2 $((2 * pages + 2))
	tryRestart "$name" "$dir-restart" "$dir.payloads"
	stop "$name"
	judge "$name" verify "warc verify of all crawls" verify "$name"
}

verify() { bin/orbweaver warc verify "$work/$1"*/warc/*.warc.gz >>"$work/$1.log" 2>&1; }

# tryRestart NAME DIR PAYLOADS: judges a crawl with a restart. A try that follows a failure may be over HTTP/1.1.
tryRestart() {
	local good all before after same twice
	restart "$1" "$2"
	payloads "$2" >"$2.payloads"
	same=$(comm -12 "$3" "$2.payloads" | wc -l)
	twice=$(awk '{ print $1 }' "$2.payloads" | uniq -d | wc -l)
	read -r good all < <(records "$2" h2)
	read -r before after < <(aroundStop "$2")
	judge "$1" restart "after $before of $pages: $same are equal, $twice fetched twice, h2 on $good of $all records" \
		[ "$same $twice $((good >= all - 6)) $((before >= 10)) $((after >= 10))" = "$pages 0 1 1 1" ]
}

if [ "${1:-}" = --inside ]; then # inside the namespaces
	ip link set lo up
	for name in nginx nghttpd h2o; do
		if command -v "$name" >/dev/null; then
			try "$name"
		else
			echo "$name is not installed, and is left out (Debian's nginx, nghttp2-server, h2o)"
		fi
	done
	[ "$faults" = 0 ] && exit
	exit 1
fi
case ${1:-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit ;; esac

[ "$(uname)" = Linux ] || missing "this needs Linux's network namespaces"
[ "$(id -u)" -eq 0 ] || missing "this needs root"
for tool in unshare ip openssl base32; do command -v $tool >/dev/null || missing "$tool is missing"; done
servers="nginx, nghttp2-server or h2o"
command -v nginx nghttpd h2o >/dev/null || missing "no server is there: please install Debian's $servers"
[ -x bin/orbweaver ] || missing "bin/orbweaver is missing: please run make build"
rm -rf "$work" && mkdir -p "$work"
makeSite
configure
status=0
unshare --net --pid --fork --mount-proc --kill-child "$0" --inside || status=$?
if command -v node >/dev/null && command -v npm >/dev/null; then
	if tools/warccheck/run.sh "$work"/*/warc >"$work/warccheck.log" 2>&1; then
		echo "other readers: $(tail -1 "$work/warccheck.log")"
	else
		echo "other readers: $(grep -m 3 COMPLAINT "$work/warccheck.log" || tail -1 "$work/warccheck.log")"
		status=1
	fi
else
	echo "other readers: left out, Node.js or npm is missing"
fi
exit "$status"
