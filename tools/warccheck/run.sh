#!/bin/sh
# Lets other people's tools judge WARC files. All files are taken as one archive. The tools:
#
#   gzip, zstd
#   the verifier of internetarchive/gowarc
#   judge/strict: nlnwa/gowarc checks each record against the standard, and the places in the index beside the file
#   warcio: its index is compared with the one beside the file; check.mjs reads all records with it
#   js-wacz: its WACZ of the .warc.gz files is compared with ours (wacz.mjs; it needs bin/orbweaver)
#
#   tools/warccheck/run.sh DIR|FILE...
#
# Exit status: 0 nobody complains, 1 somebody does, 2 wrong usage or a tool is missing. What is needed is built or installed at
# the first call: go, node and npm must be there.
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build/warccheck
gowarc=$build/warc
strict=$build/strict
orbweaver=$here/../../bin/orbweaver
complaints=0

die() { echo "warccheck: $*" >&2; exit 2; }
say() { echo "warccheck: $*"; }
complain() { echo "warccheck: COMPLAINT: $*"; complaints=$((complaints + 1)); }

[ $# -gt 0 ] || die "usage: $0 DIR|FILE..."
for tool in go node npm gzip; do
	command -v "$tool" >/dev/null || die "$tool is missing: please install it (go 1.26, node 20, npm)"
done

# The list of files, one argument each, without a shell that could split names: "set --" is our array.
count=$#
while [ "$count" -gt 0 ]; do
	count=$((count - 1))
	arg=$1
	shift
	if [ -d "$arg" ]; then
		for f in "$arg"/*.warc "$arg"/*.warc.gz "$arg"/*.warc.zst; do
			[ -f "$f" ] && set -- "$@" "$f"
		done
	elif [ -f "$arg" ]; then
		set -- "$@" "$arg"
	else
		die "$arg: no such file or directory"
	fi
done
[ $# -gt 0 ] || die "no WARC files there (a name that ends in .open is still being written)"

mkdir -p "$build" || die "cannot make $build"
(cd "$here/judge" && GOFLAGS='-mod=mod -modcacherw -trimpath' GOWORK=off go build -o "$build/" ./strict github.com/internetarchive/gowarc/cmd/warc) ||
	die "the judges in Go do not build"
if [ ! -d "$here/node_modules/@harvard-lil/js-wacz" ]; then
	say "installing warcio and js-wacz"
	(cd "$here" && npm ci --silent --no-audit --no-fund) || die "npm ci failed"
fi

for f in "$@"; do
	case $f in
	*.gz) gzip -t "$f" || complain "gzip -t $f" ;;
	esac
	case $f in
	*.zst)
		if ! command -v zstd >/dev/null; then
			say "nobody is asked about $f: zstd is missing"
			continue
		fi
		words=
		if node "$here/words.mjs" "$f" >"$build/words.packed"; then
			zstd -dcq "$build/words.packed" >"$build/words" 2>/dev/null || cp "$build/words.packed" "$build/words"
			words="-D $build/words"
		fi
		# shellcheck disable=SC2086 # two words or none
		if zstd -dcqf $words "$f" >"$build/plain.warc"; then
			verdict=$("$gowarc" verify --json "$build/plain.warc" 2>&1)
			case $verdict in
			*'"valid":true'*) ;;
			*) complain "gowarc verify $f, unpacked: $verdict" ;;
			esac
			"$strict" "$build/plain.warc" || complain "strict $f, unpacked"
		else
			complain "zstd -d $f"
		fi
		rm -f "$build/plain.warc"
		say "warcio is not asked about $f: zstd is an extension of the standard"
		;;
	*)
		# Its exit status says nothing; its words do.
		verdict=$("$gowarc" verify --json "$f" 2>&1)
		case $verdict in
		*'"valid":true'*) ;;
		*) complain "gowarc verify $f: $verdict" ;;
		esac
		"$strict" "$f" || complain "strict $f"
		index=$("$here/node_modules/.bin/warcio" index "$f" 2>&1 >/dev/null) || complain "warcio index $f: $index"
		ours=${f%.gz}
		ours=${ours%.warc}.cdxj
		if [ -f "$ours" ]; then
			"$here/node_modules/.bin/warcio" cdx-index "$f" >"$build/theirs.cdxj" || complain "warcio cdx-index $f"
			node "$here/cdxj.mjs" "$ours" "$build/theirs.cdxj" || complain "the index $ours"
		fi
		;;
	esac
done

# warcio does not read zstd. Of a plain file warcio, and so js-wacz, counts places in another way than the standard.
zipped=
count=$#
while [ "$count" -gt 0 ]; do
	count=$((count - 1))
	f=$1
	shift
	case $f in
	*.zst) ;;
	*.gz) set -- "$@" "$f"; zipped=yes ;;
	*) set -- "$@" "$f" ;;
	esac
done
if [ $# -gt 0 ]; then
	node "$here/check.mjs" "$@" || complain "check.mjs"
fi
if [ -n "$zipped" ] && [ -x "$orbweaver" ]; then
	node "$here/wacz.mjs" "$orbweaver" "$build/wacz" "$@" || complain "wacz.mjs"
fi

if [ "$complaints" -gt 0 ]; then
	say "$complaints complaints"
	exit 1
fi
say "nobody complains about $# files"
