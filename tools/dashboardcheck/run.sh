#!/bin/sh
# Does with the dashboard what people do, in Chromium: tools/dashboardcheck/run.sh
#
# The crawl is a false one with ten thousand hosts (engine/operate/control/browser_test.go), and then a real one with three agents
# (cluster.mjs). playwright-core is installed at the first call. Exit status: 0 all is as it should be, or a tool is
# missing, which is said; 1 something is not.
set -eu

cd "$(dirname "$0")/../.."
for tool in node npm chromium; do
	if ! command -v "$tool" >/dev/null; then
		echo "dashboardcheck: skipped: $tool is missing (Debian: apt-get install nodejs npm chromium)"
		exit 0
	fi
done
[ -d tools/dashboardcheck/node_modules ] || npm ci --ignore-scripts --no-audit --no-fund --prefix tools/dashboardcheck
"${GO:-go}" test -tags 'invariants scenario' -count=1 -v -run '^TestBrowser_' ./engine/operate/control
program=$(mktemp -d)
trap 'rm -r "$program"' EXIT
"${GO:-go}" build -o "$program/orbweaver" ./cmd/orbweaver
node tools/dashboardcheck/cluster.mjs "$program/orbweaver"
