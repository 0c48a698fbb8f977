#!/usr/bin/env bash
# Goes the way of a newcomer on a fresh machine, with the guide alone, and writes it down: build/newcomer.md.
#
#   tools/newcomer/run.sh FILE.deb
#
# The machine is a fresh Debian with the package of Orbweaver and without Go. The sites are Debian's nginx with the
# documentation of Python and SQLite, a MediaWiki, and a host that asks for an hour's patience. steps.sh has the commands.
# Both Debians are kept in build/newcomer. They run in a network namespace that has loopback and nothing else.
# It needs root, mmdebstrap and a Debian mirror; for the screenshots also chromium, Node.js and npm.
set -euo pipefail
export LC_ALL=C
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY no_proxy NO_PROXY
cd "$(dirname "$0")/../.."
missing() { echo "newcomer: $*" >&2 && exit 2; }

if [ "${1:-}" = --inside ]; then # inside the namespaces
	ip link set lo up
	exec tools/newcomer/steps.sh
fi
case ${1:-} in -h | --help | "") sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit ;; esac
[ "$(id -u)" -eq 0 ] || missing "this needs root"
for tool in mmdebstrap unshare ip chroot; do
	command -v $tool >/dev/null || missing "$tool is missing"
done
export ROOTS=$PWD/build/newcomer DEB=${1##*/}
mkdir -p "$ROOTS"

# debian NAME PACKAGES... makes a Debian, unless there is one already.
debian() {
	local name=$1
	shift
	[ -e "$ROOTS/$name.made" ] && return
	echo "newcomer: making the Debian of $name"
	rm -rf --one-file-system "${ROOTS:?}/$name"
	mmdebstrap --quiet --variant=minbase --include="$(IFS=, && echo "$*")" bookworm "$ROOTS/$name" >/dev/null
	echo module debian >"$ROOTS/go.mod" # so that ./... of this checkout leaves out what is in it
	touch "$ROOTS/$name.made"
}
debian web nginx-light python3-doc sqlite3-doc mediawiki php-fpm php-sqlite3 php-apcu php-intl git-doc
debian machine adduser ca-certificates bash-completion

# The machine is as fresh as it was.
chroot "$ROOTS/machine" dpkg --purge orbweaver >/dev/null 2>&1 || true
rm -rf "$ROOTS/machine/home/ann" "$ROOTS"/machine/root/*.deb
chroot "$ROOTS/machine" id ann >/dev/null 2>&1 || chroot "$ROOTS/machine" useradd --shell /bin/bash ann
install -d -o 1000 -g 1000 "$ROOTS/machine/home/ann"
install -m 644 "$1" "$ROOTS/machine/root/"
if command -v node >/dev/null && command -v npm >/dev/null && command -v chromium >/dev/null; then
	[ -d tools/dashboardcheck/node_modules ] || npm ci --ignore-scripts --no-audit --no-fund --prefix tools/dashboardcheck
	[ -d "$ROOTS/package" ] || (cd "$ROOTS" && tar xf "$(npm pack --silent replaywebpage@2.5.3)")
else
	echo "newcomer: without screenshots: node, npm or chromium is missing"
fi
exec unshare --net --mount --pid --fork --mount-proc --kill-child "$0" --inside
