#!/usr/bin/env bash
# Crawls of six sites on loopback through real proxies, squid and tinyproxy, that fail in mid-crawl: they are stopped, want another password, are out of
# quota, or lead to a login page. They do until the log says so, and six seconds more. No page may be lost, none fetched twice, and no answer of a proxy
# may stand in the archive. Then a wrong password from the start, and a rule against one site. It needs Debian's packages nginx-light, squid, tinyproxy
# and openssl, and says so if one is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
pages=20 port=${PORT:-18927} proxy=${PROXY_PORT:-18928}
work=$PWD/build/proxies
rm -rf "$work" && mkdir -p "$work/tmp"
PATH=$PATH:/usr/sbin

fail() { echo "proxies: $*" >&2; exit 1; }
lacks=""
for program in nginx squid tinyproxy openssl; do command -v "$program" >/dev/null || lacks="$lacks $program"; done
if [ -n "$lacks" ]; then
	echo "proxies: not run, since these programs are missing:$lacks (apt-get install nginx-light squid tinyproxy openssl)"
	exit 0
fi

# Six sites, each with its address.
for s in 1 2 3 4 5 6; do
	mkdir -p "$work/docs/127.0.0.1$s"
	for i in $(seq "$pages"); do
		echo "<title>$s $i</title><p>page $i of site $s" >"$work/docs/127.0.0.1$s/$i.html"
		echo "<a href=$i.html>$s $i</a>" >>"$work/docs/127.0.0.1$s/index.html"
	done
	echo "http://127.0.0.1$s:$port/" >>"$work/seeds"
done
cat >"$work/nginx.conf" <<CONF
daemon off; master_process off; pid $work/tmp/nginx.pid; error_log $work/tmp/nginx.log;
events { worker_connections 64; }
http {
  default_type text/html; access_log off; client_body_temp_path $work/tmp; proxy_temp_path $work/tmp; fastcgi_temp_path $work/tmp;
  uwsgi_temp_path $work/tmp; scgi_temp_path $work/tmp;
  server { listen 0.0.0.0:$port; root $work/docs/\$host; }
}
CONF
nginx -p "$work/" -c "$work/nginx.conf" -e "$work/tmp/nginx.log" &
server=$!
running= crawler=
finish() {
	for process in $running $crawler $server; do kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true; done
}
trap finish EXIT

hash=$(openssl passwd -apr1 right)
other=$(openssl passwd -apr1 other)
ncsa=$(find /usr/lib/squid /usr/libexec/squid -name basic_ncsa_auth 2>/dev/null | head -1 || true)
[ -n "$ncsa" ] || fail "squid has no basic_ncsa_auth"
chmod 777 "$work/tmp" # squid and tinyproxy give up root

# start_squid STATE: begins squid, which is well, or in a state in which it answers itself.
start_squid() {
	local password=$hash rule="http_access allow user"
	case $1 in
	password) password=$other ;;
	quota) rule="http_access deny all" ;;
	login) rule="deny_info 302:http://127.0.0.99:$port/login.html all
http_access deny all" ;;
	rule) rule="acl refused dst 127.0.0.16
http_access deny refused
http_access allow user" ;;
	esac
	echo "user:$password" >"$work/tmp/users"
	cat >"$work/squid.conf" <<CONF
http_port 127.0.0.1:$proxy
pid_filename $work/tmp/squid.pid
cache_log $work/tmp/squid.log
access_log none
cache deny all
coredump_dir $work/tmp
pinger_enable off
shutdown_lifetime 0 seconds
visible_hostname proxy.test
auth_param basic program $ncsa $work/tmp/users
acl user proxy_auth REQUIRED
$rule
CONF
	squid -N -f "$work/squid.conf" >>"$work/tmp/squid.out" 2>&1 &
	running=$!
}

# start_tinyproxy STATE: the same.
start_tinyproxy() {
	local password=right filter=""
	case $1 in
	password) password=other ;;
	quota) filter="Filter \"$work/tmp/filter\"
FilterDefaultDeny Yes" ;;
	esac
	echo '^nothing$' >"$work/tmp/filter"
	cat >"$work/tinyproxy.conf" <<CONF
Port $proxy
Listen 127.0.0.1
Timeout 60
MaxClients 100
LogFile "$work/tmp/tinyproxy.log"
PidFile "$work/tmp/tinyproxy.pid"
BasicAuth user $password
$filter
CONF
	tinyproxy -d -c "$work/tinyproxy.conf" >>"$work/tmp/tinyproxy.out" 2>&1 &
	running=$!
}

# start PROXY STATE: begins a proxy, and waits until it listens.
start() {
	"start_$1" "$2"
	for _ in $(seq 600); do
		(: <"/dev/tcp/127.0.0.1/$proxy") 2>/dev/null && return
		sleep 0.1
	done
	fail "$1 does not begin: see $work/tmp"
}

stop_proxy() {
	[ -z "$running" ] || { kill "$running" && wait "$running"; } 2>/dev/null || true
	running=
}

crawl() { # DIR FLAG...
	local dir=$1
	shift
	ORBWEAVER_PROXY=http://user:right@127.0.0.1:$proxy bin/orbweaver crawl --dir "$dir" --allow-net 127.0.0.0/8 --allow-port "$port" \
		--host-delay 400ms --ip-delay 0 --fetchers 8 --progress plain --workbench-memory 4Mi --cache-memory 1Mi --sieve-memory 1Mi \
		--seeds "$work/seeds" "$@" 2>"$dir.log"
}
report() { sed -nE "s/^  \"$2\": \"?([^\",]*)\"?,?\$/\\1/p" "$1/report.json"; }
outcomes() { sed -n '/^  "outcomes": {/,/^  }/p' "$1/report.json" | tr -d ' \n'; }

# begin DIR: a crawl that has some of its pages.
begin() {
	crawl "$1" &
	crawler=$!
	for _ in $(seq 300); do
		[ "$(wc -l 2>/dev/null <"$1/logs/crawl.log" || echo 0)" -ge 20 ] && return
		sleep 0.1
	done
	fail "$1: the crawl does not begin"
}

# clean DIR: no answer of the proxy is in the archive.
clean() {
	local found
	found=$(bin/orbweaver warc cat "$1"/warc/*.warc.gz 2>/dev/null | grep -acE '^(X-Squid-Error|Server: (squid|tinyproxy))' || true)
	[ "$found" = 0 ] || fail "$1: $found answers of the proxy in the archive"
}

# trial PROXY STATE TEXT: a crawl in which the proxy is in a state until the log says TEXT, and for six seconds more.
trial() {
	local dir=$work/$1-$2 total=$((6 * (pages + 1))) twice
	start "$1" well
	begin "$dir"
	stop_proxy
	[ "$2" = stopped ] || start "$1" "$2"
	for _ in $(seq 600); do
		grep -q "$3" "$dir.log" && break
		sleep 0.1
	done
	sleep 6
	stop_proxy
	start "$1" well
	wait "$crawler" || fail "$dir: exit status $?"
	crawler=
	stop_proxy
	[ "$(report "$dir" state)" = finished ] && [ "$(report "$dir" pages_stored)" = "$total" ] || fail "$dir: $(report "$dir" state) with $(outcomes "$dir")"
	[ "$(outcomes "$dir")" = "\"outcomes\":{\"ok\":$total}," ] || fail "$dir: $(outcomes "$dir")"
	twice=$(awk '$2 == 200 { print $4 }' "$dir/logs/crawl.log" | grep -v robots.txt | sort | uniq -d | head -3)
	[ -z "$twice" ] || fail "$dir: fetched twice: $twice"
	grep -q "$3" "$dir.log" || fail "$dir: the log does not say \"$3\""
	clean "$dir"
	bin/orbweaver fsck "$dir" >/dev/null 2>&1 || fail "$dir: fsck complains"
	printf '%-24s %s pages, %s s\n' "$1 $2" "$total" "$(report "$dir" wall_seconds)"
}

trial squid stopped 'the proxy cannot be reached'
trial squid password 'the proxy asks for a password'
trial squid quota 'the proxy refuses a request'
trial squid login 'the proxy refuses a request'
trial tinyproxy stopped 'the proxy cannot be reached'
trial tinyproxy password 'the proxy asks for a password'
trial tinyproxy quota 'the proxy refuses a request'

# A wrong password from the start: the crawl says so, and stops soon.
for name in squid tinyproxy; do
	dir=$work/$name-wrong
	start "$name" password
	status=0
	crawl "$dir" || status=$?
	stop_proxy
	[ "$status" = 3 ] && [ "$(report "$dir" urls_queued)" = 6 ] || fail "$dir: exit status $status, $(report "$dir" urls_queued) URLs queued"
	grep -q 'http://USER:PASSWORD@HOST' "$dir.log" || fail "$dir: the log does not say what to do"
	printf '%-24s ends after %s s\n' "$name, wrong password" "$(report "$dir" wall_seconds)"
done

# A rule against one site: the others are complete.
dir=$work/squid-rule
start squid rule
status=0
crawl "$dir" --stall-wait 15s || status=$?
stop_proxy
[ "$status" = 3 ] && [ "$(outcomes "$dir")" = "\"outcomes\":{\"ok\":$((5 * (pages + 1)))}," ] || fail "$dir: exit status $status, $(outcomes "$dir")"
grep -q 'outcome=proxy-fault' "$dir.log" || fail "$dir: no line for the site"
clean "$dir"
printf '%-24s %s pages, %s s\n' "squid, one site refused" "$((5 * (pages + 1)))" "$(report "$dir" wall_seconds)"
