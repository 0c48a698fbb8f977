#!/usr/bin/env bash
# Other people's crawlers and ours on one simulated web, one after the other on this machine: what each costs, how much it finds,
# and what the servers see of its manners. A table on stdout, all figures in build/others/run/results.json.
#
#   tools/others/run.sh [-limit 2m] [-delay 100ms] [-only orbweaver,wget,...]
#
# Needs: make build, tools/others/install.sh, and root or user namespaces. Takes some 25 minutes: three rounds of nine
# crawls, each ended when its limit is over. The rounds: as fast as it goes; with a delay for each host; and a web whose links are
# written in every way that browsers understand. Tools that are not installed are left out.
#
# Everything runs in a network namespace that has loopback and nothing else, so nobody can ask anybody else for anything. The
# crawlers go through the web's HTTP proxy; names resolve too, for what a tool asks without its proxy (crawlee:
# robots.txt; Zeno: everything). At the end, tools/warccheck judges each archive, outside of the namespace.
set -euo pipefail
shopt -s nullglob
export LC_ALL=C.UTF-8 # wget, for one, reads letters as the locale says
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY WGETRC WGET2RC
cd "$(dirname "$0")/../.."
missing() { echo "others: $*" >&2; exit 2; }

if [ "${1:-}" = --inside ]; then # the namespaces are there
	shift
	ip link set lo up
	echo 'nameserver 127.0.0.1' >build/others/resolv.conf
	mount --bind build/others/resolv.conf /etc/resolv.conf
	build/others/others "$@"
	echo "# load average at the end: $(cut -d' ' -f1-3 /proc/loadavg)"
	exit
fi
case ${1:-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit ;; esac
[ "$(uname)" = Linux ] || missing "this needs Linux's network namespaces"
[ -x bin/orbweaver ] || missing "bin/orbweaver is missing: please run make build"
for tool in unshare ip mount /usr/bin/time; do
	command -v $tool >/dev/null || missing "$tool is missing: please run tools/others/install.sh"
done
mkdir -p build/others
go build -trimpath -o build/others/others ./tools/others

echo "# tools/others/run.sh $*"
echo "# commit $(git describe --always --dirty 2>/dev/null || echo unknown), $(date -u +%Y-%m-%dT%H:%MZ)"
echo "# $(nproc) processors ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)), $(awk '/MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo), Linux $(uname -r)"
echo "# load average before: $(cut -d' ' -f1-3 /proc/loadavg)"
namespaces=(--net --mount)
[ "$(id -u)" -eq 0 ] || namespaces+=(--map-root-user)
unshare "${namespaces[@]}" "$0" --inside "$@"

printf '\nwhat tools/warccheck/run.sh says of each archive\n'
for dir in build/others/run/*/; do
	files=("$dir"*.warc.gz "$dir"crawl/warc/*.warc.gz "$dir"jobs/crawl/warcs/*.warc.gz)
	((${#files[@]} == 0)) && continue
	echo "$(basename "$dir"):"
	tools/warccheck/run.sh "${files[@]}" 2>&1 |
		grep -E '^(warccheck: (COMPL|nobody|[0-9])|strict: .* findings|check.mjs: [0-9]|wacz.mjs: [0-9]+ capt)' | sed 's/^/  /' || true
done
