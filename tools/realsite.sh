#!/usr/bin/env bash
# A real site that nobody here wrote: the HTML documentation that Debian packages, served by Debian's nginx on loopback
# under two host names, crawled by Orbweaver and by wget. The set of pages stored must equal what is reachable by links, so
# both must have the same set, or the script fails.
#
# Needs Debian (apt-get, as root, to install what is missing). Talks to loopback only, ends what it starts, and keeps
# nothing but what it prints. KEEP=1 keeps the working directory.
set -euo pipefail
cd "$(dirname "$0")/.."

http_port=18090
dns_port=18054
python_root=/usr/share/doc/python3-doc/html
postgres_root=/usr/share/doc/postgresql-doc-15/html
seeds=("http://python.docs.test:$http_port/" "http://postgres.docs.test:$http_port/")

fail() { echo "realsite: $*" >&2; exit 1; }

need() { # command or file, package
	command -v "$1" >/dev/null || test -e "$1" || missing+=("$2")
}
missing=()
need nginx nginx-light
need dnsmasq dnsmasq-base
need wget wget
need "$python_root/index.html" python3-doc
need "$postgres_root/index.html" postgresql-doc-15
if ((${#missing[@]})); then
	command -v apt-get >/dev/null || fail "needs ${missing[*]}, and there is no apt-get to install them with"
	echo "installing ${missing[*]}"
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
test -x bin/orbweaver || fail "bin/orbweaver is missing; run make build"

work=$(mktemp -d)
pids=()
cleanup() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
	if [ -n "${KEEP:-}" ]; then echo "kept $work"; else rm -rf "$work"; fi
}
trap cleanup EXIT

cat >"$work/nginx.conf" <<CONF
daemon off;
worker_processes 1;
pid $work/nginx.pid;
error_log $work/nginx.err;
events { worker_connections 512; }
http {
  include /etc/nginx/mime.types;
  access_log off;
  client_body_temp_path $work; proxy_temp_path $work; fastcgi_temp_path $work; uwsgi_temp_path $work; scgi_temp_path $work;
  gzip on;
  server { listen 127.0.0.1:$http_port; server_name python.docs.test; root $python_root; }
  server { listen 127.0.0.1:$http_port; server_name postgres.docs.test; root $postgres_root; }
}
CONF
chmod 755 "$work"
nginx -c "$work/nginx.conf" -e "$work/nginx.err" &
pids+=($!)
dnsmasq --no-daemon --no-hosts --no-resolv --bind-interfaces --listen-address=127.0.0.1 --port=$dns_port \
	--address=/docs.test/127.0.0.1 --pid-file= 2>"$work/dnsmasq.err" &
pids+=($!)
for _ in $(seq 50); do
	wget -q -O /dev/null --no-proxy --header 'Host: python.docs.test' "http://127.0.0.1:$http_port/" && break
	read -rt 0.1 <> <(:) || true
done
wget -q -O /dev/null --no-proxy --header 'Host: python.docs.test' "http://127.0.0.1:$http_port/" || fail "nginx does not answer: $(cat "$work/nginx.err")"

echo "orbweaver crawls"
timeout 300 bin/orbweaver crawl --dir "$work/crawl" --allow-net 127.0.0.0/8 --resolver "127.0.0.1:$dns_port" --scope host \
	--host-delay 0s --ip-delay 0s --fetchers 64 --retry-wait 5s --progress plain "${seeds[@]}"
bin/orbweaver warc verify "$work"/crawl/warc/*.warc.gz
bin/orbweaver fsck --quiet "$work/crawl" >"$work/fsck" || { cat "$work/fsck"; fail "fsck complains"; }
# The CDXJ beside the archive: what was stored with status 200, robots.txt left out.
cat "$work"/crawl/warc/*.cdxj | grep '"status":"200"' | sed -E 's/.*"url":"([^"]*)".*/\1/' |
	grep -v '/robots.txt$' | sort -u >"$work/ours"

echo "wget crawls"
# nginx answers absolute-form requests by their host, so as a proxy it lets wget use the two names without a resolver.
status=0
(cd "$work" && http_proxy="http://127.0.0.1:$http_port" timeout 300 wget -nv -e robots=off --recursive --level=inf \
	--page-requisites --span-hosts --domains=docs.test --directory-prefix="$work/wget" -o "$work/wget.log" "${seeds[@]}") || status=$?
test $status -eq 0 -o $status -eq 8 || fail "wget ended with $status"
sed -nE 's/^[0-9: -]+ URL:(http[^ ]+) \[.*/\1/p' "$work/wget.log" | sort -u >"$work/theirs"

# canonical spells percent-encoding alike and drops an empty query.
canonical() { sed -E 's/%7E/~/gi; s/%2B/+/gi; s/%28/(/g; s/%29/)/g; s/%27/'"'"'/g; s/\?$//' "$1" | sort -u; }
canonical "$work/ours" >"$work/a"
canonical "$work/theirs" >"$work/b"
comm -23 "$work/a" "$work/b" >"$work/only-ours"
comm -13 "$work/a" "$work/b" >"$work/only-theirs"
printf 'pages: orbweaver %s, wget %s, both %s\n' "$(wc -l <"$work/a")" "$(wc -l <"$work/b")" "$(comm -12 "$work/a" "$work/b" | wc -l)"

# There was no difference when this was written. One that appears is a fault of one of the two, to be looked into.
sed 's/^/  only orbweaver: /' "$work/only-ours"
sed 's/^/  only wget:      /' "$work/only-theirs"
test ! -s "$work/only-ours" -a ! -s "$work/only-theirs" || fail "the two sets of pages differ"
echo "the same set of pages; the archive verifies and fsck finds nothing"
