#!/usr/bin/env bash
# A crawl of one site on loopback, whose nginx is stopped in mid-crawl and started again; then one that answers 503 with Retry-After; then one that does not
# come back, whose crawl stalls and is run again. No page may be lost, and none fetched twice. nginx is this machine's ($NGINX), or Debian's package.
set -euo pipefail
cd "$(dirname "$0")/.."
work=build/outage pages=200 port=${PORT:-18917}
rm -rf "$work" && mkdir -p "$work/docs" "$work/tmp"
work=$PWD/$work

missing() { echo "outage: $*" >&2; exit 1; }

# nginx: this machine's, or that of Debian's packages, unpacked below build/.
libraries=""
nginx=${NGINX:-$(PATH=$PATH:/usr/sbin command -v nginx || true)}
if [ -z "$nginx" ]; then
	cache=$PWD/build/outage-nginx
	if [ ! -x "$cache/usr/sbin/nginx" ]; then
		mkdir -p "$cache"
		list=$(apt-get install -s --no-install-recommends nginx | awk '/^Inst/ && $3 !~ /^\[/ { print $2 }') || missing "please run apt-get update"
		# shellcheck disable=SC2086 # names of packages, one a word
		(cd "$cache" && timeout 300 apt-get download -qq -o APT::Sandbox::User="$(id -un)" $list) || missing "apt-get cannot fetch nginx"
		for deb in "$cache"/*.deb; do dpkg-deb -x "$deb" "$cache"; done
		rm -f "$cache"/*.deb
	fi
	nginx=$cache/usr/sbin/nginx
	libraries=$(find "$cache" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
fi

for i in $(seq "$pages"); do echo "<title>$i</title><p>page $i of the site" >"$work/docs/$i.html"; done
for i in $(seq "$pages"); do echo "<a href=$i.html>$i</a>"; done >"$work/docs/index.html"

# site STATUS: begins nginx, which answers with its pages, or with 503 and Retry-After for all of them.
server=
site() {
	local answer="root $work/docs;"
	[ "$1" = 503 ] && answer='add_header Retry-After 5 always; return 503;'
	cat >"$work/nginx.conf" <<CONF
daemon off; master_process off; pid $work/tmp/pid; error_log $work/tmp/error.log;
events { worker_connections 64; }
http {
  default_type text/html; access_log $work/access; client_body_temp_path $work/tmp; proxy_temp_path $work/tmp; fastcgi_temp_path $work/tmp;
  uwsgi_temp_path $work/tmp; scgi_temp_path $work/tmp;
  server { listen 127.0.0.1:$port; location / { $answer } }
}
CONF
	LD_LIBRARY_PATH=$libraries "$nginx" -p "$work/" -c "$work/nginx.conf" -e "$work/tmp/error.log" &
	server=$!
}
down() { kill "$server" && wait "$server" || true; server=; }
crawler=
end() {
	[ -z "$server" ] || down
	[ -z "$crawler" ] || { kill "$crawler" && wait "$crawler"; } 2>/dev/null || true
}
trap end EXIT

crawl() { # DIR FLAG...: 25 pages a second
	local dir=$1
	shift
	bin/orbweaver crawl --dir "$dir" --allow-net 127.0.0.0/8 --allow-port "$port" --host-delay 40ms --ip-delay 0 --fetchers 4 --progress plain \
		--workbench-memory 4Mi --cache-memory 1Mi --sieve-memory 1Mi "$@" "http://127.0.0.1:$port/" 2>>"$work/log"
}

report() { sed -nE "s/^  \"$2\": \"?([^\",]*)\"?,?\$/\\1/p" "$1/report.json"; }

# begin NAME FLAG...: a crawl that has some of its pages.
begin() {
	site pages
	crawl "$work/$1" "${@:2}" &
	crawler=$!
	for _ in $(seq 600); do
		[ "$(wc -l 2>/dev/null <"$work/$1/logs/crawl.log" || echo 0)" -ge 20 ] && return
		sleep 0.1
	done
	missing "$1: the crawl does not begin"
}

# complete NAME: the crawl has every page, and has fetched none twice.
complete() {
	local dir=$work/$1 twice
	[ "$(report "$dir" state)" = finished ] && [ "$(report "$dir" urls_queued)" = 0 ] &&
		[ "$(report "$dir" pages_stored)" = $((pages + 1)) ] || { grep -E '"(state|reason|urls_queued|pages_stored)"' "$dir/report.json"; missing "$1: not complete"; }
	twice=$(awk '$3 == 200 || $2 == 200 { print $4 }' "$dir/logs/crawl.log" | sort | uniq -d | head -3)
	[ -z "$twice" ] || missing "$1: fetched twice: $twice"
	bin/orbweaver fsck "$dir" >/dev/null 2>>"$work/log" || missing "$1: fsck complains"
	printf '%-36s %s pages, %s s\n' "$1" "$(report "$dir" pages_stored)" "$(report "$dir" wall_seconds)"
}

begin stopped
down
sleep 20
site pages
wait "$crawler"
crawler=
complete stopped
down

begin unavailable
down
site 503
sleep 4
down
site pages
wait "$crawler"
crawler=
complete unavailable
down

begin stalled --stall-wait 5s
down
status=0
wait "$crawler" || status=$?
crawler=
[ "$status" = 3 ] && [ "$(report "$work/stalled" state)" = stalled ] || missing "stalled: exit status $status, $(report "$work/stalled" state)"
grep -q 'failing site' "$work/log" || missing "stalled: no line for the site"
site pages
crawl "$work/stalled"
complete stalled
