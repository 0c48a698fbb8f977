#!/bin/sh
# Opens pages of an archive in the browsers of Debian, as orbweaver view shows them: tools/viewcheck/run.sh
#
# Each browser runs in a network of its own, where every name is that of a listener which must stay silent. It needs root
# and iproute2. A browser that is missing is left out, and so is ReplayWeb.page if "make accept NAME=replay" has not fetched it.
# Exit status: 0 all is well, 1 a page is not shown as it should be, or a foreign server was contacted.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root/warc/replay" || exit 2
"${GO:-go}" test -c -o "$work/replay.test" . || exit 2
echo "nameserver 127.0.0.1" >"$work/resolv.conf"
status=0
if command -v chromium >/dev/null; then
	VIEW_BROWSER=chromium "$work/replay.test" -test.run Browser_shows || status=1
fi
for browser in chromium firefox-esr; do
	command -v $browser >/dev/null || { echo "viewcheck: $browser is missing: not run"; continue; }
	tests=Browser_contactsNoForeignServer player=
	if [ $browser = chromium ] && [ -f "$root/build/replaywebpage/package/sw.js" ]; then
		tests=NoForeignServer player=$root/build/replaywebpage/package
	fi
	VIEW_BROWSER=$browser VIEW_REPLAYWEB=$player VIEW_OUTSIDE=1 unshare --net --mount sh -c "
		ip link set lo up && ip link add outside type bridge && ip addr add 192.0.2.1/24 dev outside &&
			ip link set outside up && ip route add default via 192.0.2.2 dev outside &&
			mount --bind '$work/resolv.conf' /etc/resolv.conf &&
			exec '$work/replay.test' -test.v -test.run $tests" || status=1
done
exit $status
