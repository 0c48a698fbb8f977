#!/usr/bin/env bash
# The newcomer's path: run.sh starts it inside the namespaces. It writes build/newcomer.md, and the screenshots of
# docs/guide. Each command is one of the guide, and its output is what it printed. Only lines of more than 117 columns are cut.
set -euo pipefail
machine=$ROOTS/machine
page=build/newcomer.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for dir in dev proc; do mount --rbind /$dir "$machine/$dir"; done
printf '127.0.0.1 localhost\n127.0.1.1 python.example\n127.0.1.2 sqlite.example\n127.0.1.3 wiki.example\n127.0.1.4 news.example\n' \
	>"$machine/etc/hosts"
tools/newcomer/web.sh
[ ! -e "$machine/usr/bin/go" ] || { echo "newcomer: this machine has Go" >&2 && exit 1; }
began=$SECONDS

text() { printf '%s\n' "$@" >>"$work/page"; }
# clock is the time since the start of the newcomer's first command.
clock() { printf '%d:%02d' $(((SECONDS - began) / 60)) $(((SECONDS - began) % 60)); }
title() { text "" "## $1 ($(clock))" ""; }
cut_lines() { sed -E -e 's/^(.{117}).{4,}$/\1.../' -e 's/[[:space:]]+$//'; }
as_ann() { chroot "$machine" runuser -l ann -c "$1"; }
as_root() { chroot "$machine" runuser -l root -c "export DEBIAN_FRONTEND=noninteractive; $1"; }
# run USER COMMAND [LINES] runs a command and writes it down with what it prints, or with the last lines of that.
run() {
	local sign='$' status=0
	[ "$1" = root ] && sign='#'
	"as_$1" "$2" >"$work/out" 2>&1 || status=$?
	[ "$status" = 0 ] || { cat "$work/out" >&2 && echo "newcomer: '$2' ended with $status" >&2 && exit 1; }
	{ echo "$sign $2" && sed -e /debconf/d -e '/^WARNING: apt/d' "$work/out" | tail -n "${3:-1000}"; } | cut_lines >>"$work/page"
	echo "newcomer: $(clock) $2"
}
code() { text '```' && "$@" && text '```' ""; }
# await WHAT COMMAND... asks once a second, for six minutes.
await() {
	local what=$1 second
	shift
	for second in $(seq 360); do
		"$@" >/dev/null 2>&1 && return
		sleep 1
	done
	cat "$work/crawl" >&2
	echo "newcomer: not within $second s: $what" >&2 && exit 1
}
# shot NAME WAY... takes a screenshot of the dashboard, if there is a browser. shots.mjs knows the ways.
shot() {
	local name=$1
	shift
	command -v node >/dev/null && [ -d tools/dashboardcheck/node_modules ] || return 0
	(as_ann "exec orbweaver ui docs" >"$work/ui" 2>&1) &
	await "the address of the dashboard" grep -q '#login=' "$work/ui"
	node tools/newcomer/shots.mjs "$(grep -o 'http://.*' "$work/ui" | head -1)" "docs/guide/$name" "$@"
	pkill -P $! 2>/dev/null || true
}
queued_only_news() { [ "$(as_ann "orbweaver ctl --dir docs --json status" | jq_lite urls_queued)" = 1 ]; }
only_news_said() { [ "$(wc -l <"$work/crawl")" -ge $((tens + 2)) ]; }
jq_lite() { sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" | head -1; }

text "# A newcomer's way" "" \
	"This is what a newcomer sees on a fresh Debian without Go, with this guide alone. \`make accept NAME=newcomer\` goes the way again" \
	"and writes this page. The times in the headings count from the first command." "" \
	"The sites are on an intranet: nginx with the documentation of Python and of SQLite, a MediaWiki, and a news server that" \
	"is overloaded. The hosts file of the machine has their names."

title "Install"
text "As root, with the package ([install.md](../docs/guide/install.md)); the last lines:" ""
code run root "apt install ./$DEB" 3
code run ann "orbweaver version"

title "A first crawl"
text "Addresses of an intranet are allowed by name. The sites are our own, so the delays may be short" \
	"([first-crawl.md](../docs/guide/first-crawl.md)). This runs in the first terminal:" "" '```' \
	'$ orbweaver crawl --dir docs --allow-net 127.0.0.0/8 --host-delay 100ms --ip-delay 50ms \' \
	'      --progress plain python.example sqlite.example wiki.example news.example'
(as_ann "exec orbweaver crawl --dir docs --allow-net 127.0.0.0/8 --host-delay 100ms --ip-delay 50ms \
	--progress plain python.example sqlite.example wiki.example news.example" >"$work/crawl" 2>&1) &
crawl=$!
await "the third line of progress" grep -q '^30s' "$work/crawl"
cut_lines <"$work/crawl" >>"$work/page"
text '```'

title "Look at it while it runs"
text "In a second terminal ([steer.md](../docs/guide/steer.md)):" ""
code run ann "orbweaver ctl --dir docs hosts"
text "" "\`orbweaver ui docs\` prints an address. The browser shows the dashboard there:" "" \
	"![The dashboard of the running crawl](../docs/guide/newcomer-dashboard.png)" "" "Its page of hosts:" "" \
	"![The hosts of the crawl](../docs/guide/newcomer-hosts.png)"
shot newcomer-dashboard.png Overview
shot newcomer-hosts.png Hosts

await "only the news server is left" queued_only_news
tens=$(wc -l <"$work/crawl")
await "two lines of progress" only_news_said
title "It does not end"
text "After a while no page comes any more, and the crawl still runs:" "" '```'
tail -2 "$work/crawl" | cut_lines >>"$work/page"
text '```' "" "What holds it?" ""
code run ann "orbweaver doctor --dir docs"
code run ann "orbweaver ctl --dir docs hosts --sort errors | head -2"
text "" "The news server asks for an hour. We do without it:" ""
code run ann "orbweaver ctl --dir docs block news.example"
text "" "The first terminal now says:" "" '```'
status=0
wait $crawl || status=$?
[ $status = 0 ] || { cat "$work/crawl" >&2 && echo "newcomer: the crawl ended with $status" >&2 && exit 1; }
sed -n '/^finished/,$p' "$work/crawl" | cut_lines >>"$work/page"
text '```'

title "Where is my page?"
text "The wiki has a list of recent changes. It is not in the archive. Why?" ""
code run ann "orbweaver explain --dir docs wiki.example/wiki/Special:RecentChanges"

title "Look at the result"
code run ann "orbweaver report docs"
code run ann "orbweaver warc ls docs/warc/*.warc.gz | grep 'response.*html' | head -4"
code run ann "orbweaver warc cat --uri http://wiki.example/wiki/Git-add --type response --payload --decode docs/warc/*.gz | head -8"
code run ann "orbweaver warc verify docs/warc/*.warc.gz"
code run ann "orbweaver fsck --quiet docs | tail -1"
text "A browser shows the pages when they are packed ([replay.md](../docs/guide/replay.md)):" ""
text '```'
run ann "orbweaver warc wacz --out docs.wacz --main-page http://wiki.example/wiki/Main_Page docs/warc/*.warc.gz"
run ann "ls -sh docs.wacz"
text '```' ""
wacz=$machine/$(as_ann pwd)/docs.wacz
text "[ReplayWeb.page](https://replayweb.page/) shows the page of the wiki as it was:" "" \
	"![A page of the archive in ReplayWeb.page](../docs/guide/newcomer-replay.png)" ""
if command -v node >/dev/null && [ -d tools/dashboardcheck/node_modules ] && [ -d "$ROOTS/package" ]; then
	node tools/newcomer/replay.mjs "$ROOTS/package" "$wacz" http://wiki.example/wiki/Git-add Git-add \
		docs/guide/newcomer-replay.png
fi
text "It took $(clock) minutes."
[ $((SECONDS - began)) -le 900 ] || { echo "newcomer: it took more than 15 minutes" >&2 && exit 1; }
cat -s "$work/page" >"$page"
echo "newcomer: $page is written, after $(clock)"
