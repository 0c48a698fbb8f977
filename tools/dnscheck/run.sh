#!/usr/bin/env bash
# Crawl names that unbound, dnsmasq and Knot DNS resolve, directly and through middleboxes that drop EDNS0, random case
# or AAAA questions. All of them run on loopback.
#
#   tools/dnscheck/run.sh
#
# doc.go says what must hold. Exit status: 0 all holds, 1 something does not, 2 something is missing. It takes half a
# minute, and root or user namespaces. The servers run in a network namespace that has loopback and nothing else, so that
# port 53 is free there, and no service of the machine is touched. Logs are in build/dns.
set -euo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
cd "$(dirname "$0")/../.."
missing() { echo "dnscheck: $*" >&2; exit 2; }

if [ "${1:-}" = --inside ]; then # inside the namespaces
	ip link set lo up
	exec build/dnscheck
fi
case ${1:-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit ;; esac

[ "$(uname)" = Linux ] || missing "this needs Linux's network namespaces"
for tool in unshare ip; do command -v $tool >/dev/null || missing "$tool is missing"; done
for tool in unbound dnsmasq knotd; do
	command -v $tool >/dev/null || missing "$tool is missing: please install Debian's unbound, dnsmasq-base and knot"
done
[ -x bin/orbweaver ] || missing "bin/orbweaver is missing: please run make build"
CGO_ENABLED=0 ${GO:-go} build -trimpath -o build/dnscheck ./tools/dnscheck
namespaces=(--net --pid --fork --mount-proc --kill-child)
[ "$(id -u)" -eq 0 ] || namespaces+=(--map-root-user)
exec unshare "${namespaces[@]}" "$0" --inside
