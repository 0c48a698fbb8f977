#!/usr/bin/env bash
# Crawl real sites on loopback and compare the archive with the disk, with wget and with the applications' databases.
#
#   tools/realsite/run.sh [-only SITE,...] [-table FILE] [-crawl "FLAG..."]
#
# The sites are documentation packages and web applications of Debian, served by Debian's nginx and Apache httpd. site.go in
# this folder lists them; doc.go says what must hold. Exit status: 0 all holds, 1 something does not, 2 something is missing.
# KEEP=1 keeps the directory of the run.
#
# The packages are unpacked below build/realsite, not installed: nothing on the machine changes and no service is started.
# The servers run in that directory as their root, in a network namespace that has loopback and nothing else. It takes root,
# or user namespaces with subordinate ids. Apart from apt-get, nothing is sent to anything but loopback.
set -euo pipefail
export LC_ALL=C
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY no_proxy NO_PROXY WGETRC
cd "$(dirname "$0")/../.."
missing() { echo "realsite: $*" >&2; exit 2; }

cache=$PWD/build/realsite
root=$cache/root

if [ "${1:-}" = --inside ]; then # inside the namespaces
	shift
	ip link set lo up
	for dir in dev proc; do mount --rbind /$dir "$root/$dir"; done
	exec "$cache/realsite" -root "$root" "$@"
fi
case ${1:-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit ;; esac

# unpack fetches the packages of packages.txt and what they depend on, and unpacks them, unless that has been done.
unpack() {
	local names list deb
	names=$(sed -E 's/[[:space:]]*(#.*)?$//' tools/realsite/packages.txt | grep .)
	[ "$names" = "$(cat "$cache/names" 2>/dev/null)" ] && return
	[ -n "$(apt-cache pkgnames python3-doc)" ] || apt-get update -qq || missing "no package lists: please run apt-get update"
	# shellcheck disable=SC2086 # names of packages, one a word
	list=$(apt-get install -s --no-install-recommends -o Dir::State::status=/dev/null $names | awk '/^Inst/ { print $2 }') ||
		missing "apt-get does not know the packages: please run apt-get update"
	echo "realsite: fetching $(wc -w <<<"$list") packages into build/realsite"
	rm -rf "$cache/names" "$cache/deb" "$root"
	mkdir -p "$cache/deb" "$root"/{dev,proc,tmp,run,root,usr/{bin,sbin,lib,lib64}}
	chmod 1777 "$root/tmp"
	for dir in bin sbin lib lib64; do ln -s usr/$dir "$root/$dir"; done
	# shellcheck disable=SC2086
	(cd "$cache/deb" && timeout 900 apt-get download -qq -o APT::Sandbox::User="$(id -un)" $list) ||
		missing "apt-get cannot fetch the packages: please run apt-get update"
	for deb in "$cache"/deb/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root"
	done
	rm -r "$cache/deb"
	echo 'module unpacked' >"$cache/go.mod" # so that ./... of this checkout leaves out the Go files of packages
	# What the packages' own scripts would do, as far as the servers need it.
	cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
	cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
	local ini conf
	for ini in "$root"/usr/share/php[0-9]*-*/*/*.ini "$root"/etc/php/*/mods-available/*.ini; do
		for conf in "$root"/etc/php/*/*/conf.d; do
			cp "$ini" "$conf/$(sed -n 's/^; priority=//p' "$ini" | grep . || echo 20)-$(basename "$ini")"
		done
	done
	ln -sf "$(basename "$(compgen -G "$root/usr/bin/php[0-9]*.[0-9]*" | tail -n 1)")" "$root/usr/bin/php"
	echo "$names" >"$cache/names"
}

[ "$(uname)" = Linux ] || missing "this needs Linux's network namespaces"
for tool in apt-get dpkg-deb unshare ip mount go; do
	command -v $tool >/dev/null || missing "$tool is missing"
done
[ -x bin/orbweaver ] || missing "bin/orbweaver is missing: please run make build"
unpack
CGO_ENABLED=0 go build -trimpath -o "$cache/realsite" ./tools/realsite
namespaces=(--net --mount --pid --fork --mount-proc --kill-child)
[ "$(id -u)" -eq 0 ] || namespaces+=(--map-root-user --map-auto)
exec unshare "${namespaces[@]}" "$0" --inside "$@"
