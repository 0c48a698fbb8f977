#!/usr/bin/env bash
# A real site that nobody here wrote: HTML documentation as Debian packages it, served by Debian's nginx on loopback, each
# book under a host name and an address of its own, and all of it once more as directory listings. Orbweaver crawls it,
# wget crawls it, and three things must hold:
#
#   1. the archive has what the server says it sent, URL by URL and status by status, and verify and fsck find nothing;
#   2. wget found the same URLs, or the difference is one of those that are explained below, with evidence from the files;
#   3. every file under the host with the directory listings is in the archive: there the disk is the truth.
#
#   tools/realsite.sh        Exit status: 0 all hold, 1 one does not, 2 something is missing. KEEP=1 keeps the work directory.
#
# Needs Debian, for the packages. They are unpacked under build/realsite, not installed: no service is started, nothing on
# the machine changes, and nobody needs to be root. Apart from apt-get, nothing is sent to anything but loopback.
set -euo pipefail
export LC_ALL=C
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY no_proxy NO_PROXY WGETRC
cd "$(dirname "$0")/.."

say() { echo "realsite: $*"; }
fail() { echo "realsite: FAILED: $*" >&2; exit 1; }
missing() { echo "realsite: $*" >&2; exit 2; }

# --- The packages -----------------------------------------------------------------------------------------------------

cache=$PWD/build/realsite
unpacked=$cache/unpacked

# latest PATTERN: the package of the highest version number among those whose names match.
latest() { apt-cache pkgnames | grep -E "^$1\$" | sort -V | tail -n 1 || true; }

# wanted: the books with what holds their pages, and the programs that are not installed with what they need.
wanted() {
	local books=(python3-doc postgresql-doc git-doc sqlite3-doc "$(latest 'libstdc[+][+]-[0-9]+-doc')") programs=()
	apt-get install -s --no-install-recommends -o Dir::State::status=/dev/null "${books[@]}" |
		awk '/^Inst/ && $2 ~ /-doc(-[0-9]+)?$/ { print $2 }'
	echo libjs-jquery
	echo libjs-underscore
	PATH=$PATH:/usr/sbin
	command -v nginx >/dev/null || programs+=(nginx)
	command -v dnsmasq >/dev/null || programs+=(dnsmasq-base)
	command -v wget >/dev/null || programs+=(wget)
	((${#programs[@]} == 0)) || apt-get install -s --no-install-recommends "${programs[@]}" |
		awk '/^Inst/ && $3 !~ /^\[/ { print $2 }' # a version in brackets is one that is installed
}

unpack() {
	command -v apt-get >/dev/null || missing "there is no apt-get here: this needs Debian's packages"
	[ -n "$(apt-cache pkgnames python3-doc)" ] || apt-get update -qq || missing "no package lists: please run apt-get update"
	local list deb
	list=$(wanted | sort -u) && grep -q '^python3-doc$' <<<"$list" ||
		missing "apt-get does not know the packages: please run apt-get update"
	[ "$list" = "$(cat "$cache/list" 2>/dev/null)" ] && return
	say "fetching $(wc -w <<<"$list") packages into build/realsite"
	rm -rf "$cache"
	mkdir -p "$cache/deb" "$unpacked"
	# shellcheck disable=SC2086 # names of packages, one a word
	(cd "$cache/deb" && timeout 600 apt-get download -qq -o APT::Sandbox::User="$(id -un)" $list) ||
		missing "apt-get cannot fetch the packages: please run apt-get update"
	for deb in "$cache"/deb/*.deb; do dpkg-deb -x "$deb" "$unpacked"; done
	rm -r "$cache/deb"
	echo "$list" >"$cache/list"
}

[ -x bin/orbweaver ] || missing "bin/orbweaver is missing: please run make build"
unpack

# run PROGRAM ARGUMENT...: an unpacked program with its libraries, or the installed one.
run() {
	local dir
	for dir in usr/sbin usr/bin; do
		[ -x "$unpacked/$dir/$1" ] || continue
		exec env LD_LIBRARY_PATH="$(echo "$unpacked"/usr/lib/*-linux-gnu* | tr ' ' :)" "$unpacked/$dir/$1" "${@:2}"
	done
	PATH=$PATH:/usr/sbin exec "$@"
}

# --- The site: host, address, directory -------------------------------------------------------------------------------

hosts=(python postgres git sqlite stl files)
declare -A address=() directory=(
	[python]=usr/share/doc/python3-doc/html
	[postgres]='usr/share/doc/postgresql-doc-*[0-9]/html'
	[git]=usr/share/doc/git-doc
	[sqlite]=usr/share/doc/sqlite3
	[stl]='usr/share/doc/libstdc++-*-doc/libstdc++'
	[files]=usr/share/doc
)
for i in "${!hosts[@]}"; do
	host=${hosts[i]}
	address[$host]=127.0.0.$((i + 2))
	directory[$host]=$(compgen -G "$unpacked/${directory[$host]}" | tail -n 1) || missing "no ${directory[$host]} in the packages"
done

work=$(mktemp -d)
pids=()
cleanup() {
	local pid
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
	if [ -n "${KEEP:-}" ]; then say "kept $work"; else rm -rf "$work"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; } # is there a listener?
free_port() {
	local port
	while port=$((20000 + RANDOM % 10000)); answers $port; do :; done
	echo $port
}
await() { # port, name, log
	for _ in {1..100}; do
		answers "$1" && return
		sleep 0.1
	done
	missing "$2 does not answer on 127.0.0.1:$1: $(cat "$3")"
}

web=$(free_port)
while dns=$(free_port); [ "$dns" = "$web" ]; do :; done
mkdir "$work/nginx"
{
	types=$unpacked/etc/nginx/mime.types
	[ -e "$types" ] || types=/etc/nginx/mime.types
	cat <<CONF
daemon off; master_process off; pid $work/nginx/pid; error_log $work/nginx/error.log;
events { worker_connections 1024; }
http {
  include $types; default_type application/octet-stream;
  client_body_temp_path $work/nginx; proxy_temp_path $work/nginx; fastcgi_temp_path $work/nginx;
  uwsgi_temp_path $work/nginx; scgi_temp_path $work/nginx;
  log_format tabs escape=none "\$status\thttp://\$host:\$server_port\$request_uri\t\$http_user_agent\t\$http_referer\t\$sent_http_content_type";
  access_log $work/access tabs;
  gzip on; gzip_types text/css application/javascript image/svg+xml;
CONF
	for host in "${hosts[@]}"; do
		pages="index index.html"
		[ "$host" = files ] && pages="autoindex on; index .none" # a listing for every directory
		# The address that all share is for wget, to which nginx is a proxy: see below.
		echo "  server { listen 127.0.0.1:$web; listen ${address[$host]}:$web; server_name $host.docs.test;"
		echo "    root ${directory[$host]}; $pages; }"
	done
	echo "}"
} >"$work/nginx.conf"
(run nginx -p "$work/" -c "$work/nginx.conf" -e "$work/nginx/error.log") 2>"$work/nginx.err" &
pids+=($!)
names=()
for host in "${hosts[@]}"; do names+=(--address="/$host.docs.test/${address[$host]}"); done
(run dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --pid-file= --user="$(id -un)" \
	--bind-interfaces --listen-address=127.0.0.1 --port="$dns" "${names[@]}") 2>"$work/dnsmasq.err" &
pids+=($!)
await "$web" nginx "$work/nginx.err"
await "$dns" dnsmasq "$work/dnsmasq.err"

# --- Orbweaver --------------------------------------------------------------------------------------------------------

seeds=()
for host in "${hosts[@]}"; do seeds+=("http://$host.docs.test:$web/"); done

# crawl_report KEY: a number or a text of the crawl's report.
crawl_report() { sed -nE "s/^ *\"$1\": \"?([^\",]*)\"?,?\$/\\1/p" "$work/report"; }

say "orbweaver crawls ${#hosts[@]} hosts"
timeout 300 bin/orbweaver crawl --dir "$work/crawl" --allow-net 127.0.0.0/8 --resolver "127.0.0.1:$dns" --scope host \
	--host-delay 0s --ip-delay 0s --max-body 64MiB --max-time 4m --progress none --json "${seeds[@]}" >"$work/report" ||
	fail "the crawl failed: $(cat "$work/report")"
[ "$(crawl_report reason)" = complete ] || fail "the crawl is not complete, but: $(crawl_report reason)"
awk -v n="$(crawl_report urls_fetched)" -v s="$(crawl_report wall_seconds)" -v b="$(crawl_report bytes_received)" \
	'BEGIN { printf "realsite: orbweaver fetched %d URLs, %.0f MB, in %.1f s: %.0f a second\n", n, b / 1e6, s, n / s }'
bin/orbweaver warc verify "$work"/crawl/warc/*.warc.gz >"$work/verify" 2>&1 || fail "verify complains: $(tail -n 20 "$work/verify")"
bin/orbweaver fsck "$work/crawl" >"$work/fsck" 2>&1 || fail "fsck complains: $(tail -n 20 "$work/fsck")"
say "verify and fsck find nothing"

# --- 1. The archive against the server --------------------------------------------------------------------------------

# Sets are files of "STATUS URL" lines, sorted. requests AGENT: what nginx was asked for by one of the two.
requests() { awk -F'\t' -v agent="$1" 'index($3, agent) == 1 { print $1, $2 }' "$work/access" | sort; }

bin/orbweaver warc index "$work"/crawl/warc/*.warc.gz |
	sed -nE 's/^.*\{"url":"([^"]*)",.*"status":"([0-9]+)".*$/\2 \1/p' | sort >"$work/archive"
requests orbweaver/ >"$work/server"
[ -s "$work/server" ] || fail "nginx knows of no request"
diff "$work/server" "$work/archive" >"$work/diff" ||
	fail "what nginx sent (<) is not what the archive has (>), in $(wc -l <"$work/diff") lines: $(head -n 20 "$work/diff")"
[ -z "$(uniq -d "$work/archive")" ] || fail "fetched twice: $(uniq -d "$work/archive" | head -n 5)"
say "the archive has the $(wc -l <"$work/archive") exchanges that nginx logged, and no URL twice"

# --- 2. wget ----------------------------------------------------------------------------------------------------------

# nginx takes a request line with a whole URL and serves the host in it, so wget can have it for a proxy. That saves it the
# name system, which it could only be told about in files of the machine.
domains=$(printf ',%s.docs.test' "${hosts[@]}")
say "wget crawls"
began=$SECONDS
status=0
mkdir "$work/wget"
(cd "$work/wget" && http_proxy=http://127.0.0.1:$web/ run timeout 500 wget --no-config --no-hsts --no-verbose \
	--output-file="$work/wget.log" --delete-after --tries=2 --timeout=20 --recursive --level=inf --page-requisites \
	--span-hosts --domains="${domains#,}" "${seeds[@]}") || status=$?
[ "$status" -eq 0 ] || [ "$status" -eq 8 ] || fail "wget ended with $status: $(tail -n 5 "$work/wget.log")" # 8: there were 404s
requests Wget/ | sort -u >"$work/theirs"
say "wget fetched $(wc -l <"$work/theirs") URLs in $((SECONDS - began)) s"

grep -v '/robots\.txt$' "$work/archive" >"$work/ours"
grep -v '/robots\.txt$' "$work/theirs" >"$work/theirs.pages"
comm -23 "$work/ours" "$work/theirs.pages" >"$work/only-ours"
comm -13 "$work/ours" "$work/theirs.pages" >"$work/only-theirs"
say "both: $(comm -12 "$work/ours" "$work/theirs.pages" | wc -l), orbweaver only: $(wc -l <"$work/only-ours"), wget only: $(wc -l <"$work/only-theirs")"

# path_of reads URLs of the site and prints, for each, the file that it stands for, a tab, and the URL.
path_of() {
	local url rest host
	while read -r url; do
		rest=${url#http://} host=${rest%%.*} rest=/${rest#*/}
		rest=${rest%%\?*}
		[ "${rest: -1}" = / ] && rest+=index.html
		printf '%b\t%s\n' "${directory[$host]}${rest//%/\\x}" "$url"
	done
}

# explained FILE NAME: takes the lines of NAME out of FILE and says how many and why.
explained() {
	comm -12 "$work/$1" "$work/$2" >"$work/now"
	[ -s "$work/now" ] || return 0
	comm -23 "$work/$1" "$work/now" >"$work/left" && mv "$work/left" "$work/$1"
	say "  explained, $(wc -l <"$work/now"): $3, such as $(head -n 1 "$work/now")"
}

# wget reads HTML and CSS. An SVG document has links too, which a browser follows: what one that both have fetched names
# beside itself, in an attribute, is found by Orbweaver alone.
awk -F'\t' '$1 == 200 && $5 ~ /^image\/svg/ && index($3, "Wget/") == 1 { print $2 }' "$work/access" | sort -u | path_of |
	while IFS=$'\t' read -r file url; do
		{ grep -oE '(href|src)="[A-Za-z0-9_.-]+[#"]' "$file" || true; } | sed -E "s|^[a-z]+=\"(.*).\$|200 ${url%/*}/\\1|"
	done | sort -u >"$work/svg"
explained only-ours svg "linked from an SVG document, which wget does not read"

# wget takes two URLs for one that differ only in whether a reserved character is escaped, and fetches the first it meets. By
# RFC 3986, section 2.2, they are two. Explained if wget has the other.
unescaped() {
	local url
	while read -r url; do printf '%b\n' "${url//%/\\x}"; done
}
unescaped <"$work/theirs.pages" | sort -u >"$work/theirs.unescaped"
while read -r line; do
	unescaped <<<"$line" | comm -12 - "$work/theirs.unescaped" | grep -q . && echo "$line"
done <"$work/only-ours" | sort -u >"$work/spelling" || true
explained only-ours spelling "spelt both with and without an escape, and wget fetched the other"

# In a reference, the URL Standard and every browser take a backslash for a slash; wget escapes it. Explained if the page
# that wget came from has a reference that begins with a backslash, and we went to where a slash leads.
while read -r status url; do
	[[ $url == *%5C* ]] || continue
	from=$(awk -F'\t' -v url="$url" '$2 == url && index($3, "Wget/") == 1 { print $4; exit }' "$work/access")
	meant=$(cut -d/ -f1-3 <<<"$url")/$(sed -E 's/^.*%5C//' <<<"$url")
	grep -qE '(href|src)="?\\' "$(path_of <<<"$from" | cut -f1)" && grep -qF -- " $meant" "$work/ours" && echo "$status $url"
done <"$work/only-theirs" | sort -u >"$work/backslash" || true
explained only-theirs backslash "a backslash in a reference, which means a slash and which wget escapes"

# What is left is a fault of one of the two, to be looked into: the referrer is a beginning.
unexplained=0
while read -r status url; do
	say "  NOT EXPLAINED, orbweaver only: $status $url"
	unexplained=$((unexplained + 1))
done <"$work/only-ours"
while read -r status url; do
	say "  NOT EXPLAINED, wget only: $status $url from $(awk -F'\t' -v url="$url" '$2 == url && $4 != "" { print $4; exit }' "$work/access")"
	unexplained=$((unexplained + 1))
done <"$work/only-theirs"
[ "$unexplained" -eq 0 ] || fail "$unexplained differences are not explained"

# --- 3. The disk ------------------------------------------------------------------------------------------------------

# nginx's listings leave out what begins with a dot, and escape all but letters, digits and -._~ in names.
(cd "${directory[files]}" && find -L . -name '.?*' -prune -o \( -type f -o -type d \) -printf '%y%P\n') |
	awk -v base="200 http://files.docs.test:$web/" '
		BEGIN { for (i = 1; i < 256; i++) code[sprintf("%c", i)] = sprintf("%%%02X", i) }
		{
			path = substr($0, 2) (/^d./ ? "/" : ""); out = ""
			for (i = 1; i <= length(path); i++) { c = substr(path, i, 1); out = out (c ~ /[A-Za-z0-9\/._~-]/ ? c : code[c]) }
			print base out
		}' | sort >"$work/disk"
comm -23 "$work/disk" "$work/archive" >"$work/unseen"
[ ! -s "$work/unseen" ] || fail "$(wc -l <"$work/unseen") files are listed and not archived, such as $(head -n 1 "$work/unseen")"
say "all $(wc -l <"$work/disk") files and directories of the listings are in the archive"
say "all holds"
