#!/usr/bin/env bash
# Installs the crawlers that run.sh compares with ours, and nothing else needs: from Debian, the Go module proxy and npm.
#
#   tools/others/install.sh      Exit status: 0 all are there, 2 one is missing and cannot be installed here.
#
# wget, wget2, httrack, Scrapy and GNU time come from Debian, by apt-get if somebody is root, else it is said what to install. colly and
# crawlee go below build/others, with the versions of colly/go.sum and crawlee/package-lock.json. Takes a minute or two, and
# some 150 MB of disk.
set -euo pipefail
if [ $# -gt 0 ]; then sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit; fi
cd "$(dirname "$0")/../.."
build=$PWD/build/others
mkdir -p "$build/crawlee"
status=0
say() { echo "others: $*"; }
missing() { echo "others: $*" >&2; status=2; }

packages=()
for pair in wget:wget wget2:wget2 httrack:httrack scrapy:python3-scrapy /usr/bin/time:time ip:iproute2; do
	command -v "${pair%:*}" >/dev/null || packages+=("${pair#*:}")
done
if ((${#packages[@]} > 0)); then
	if ! command -v apt-get >/dev/null; then
		missing "please install ${packages[*]}: there is no apt-get here"
	elif [ "$(id -u)" -ne 0 ]; then
		missing "please install as root: apt-get install --no-install-recommends ${packages[*]}"
	else
		say "installing ${packages[*]}"
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${packages[@]}"; } \
			>"$build/apt.log" 2>&1 || missing "apt-get failed: $(tail -n 3 "$build/apt.log")"
	fi
fi

if command -v go >/dev/null; then
	(cd tools/others/colly && go build -trimpath -o "$build/colly" .) || missing "colly cannot be built"
else
	missing "colly needs go"
fi

# The driver lies beside the modules, since that is where node looks for them.
if command -v node >/dev/null && command -v npm >/dev/null; then
	cp tools/others/crawlee/{crawl.mjs,package.json} "$build/crawlee"
	if ! cmp -s tools/others/crawlee/package-lock.json "$build/crawlee/package-lock.json" || [ ! -d "$build/crawlee/node_modules" ]; then
		say "installing crawlee"
		cp tools/others/crawlee/package-lock.json "$build/crawlee"
		(cd "$build/crawlee" && npm ci --silent --ignore-scripts --no-audit --no-fund) || missing "npm cannot install crawlee"
	fi
else
	missing "crawlee needs node (20 or newer) and npm"
fi
for program in Zeno katana; do
	command -v $program >/dev/null || say "$program is left out: it takes part if it is on PATH"
done
exit $status
