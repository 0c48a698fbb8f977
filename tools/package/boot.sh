#!/usr/bin/env bash
# Boots a Debian that has the package in a container, and runs the service orbweaver@NAME against a simulated web:
# ready, status, watchdog, stop, resume, failure, hang. test.sh calls it.
#
#   tools/package/boot.sh ROOT
set -euo pipefail
ROOT=$(realpath "$1")
export LC_ALL=C
log=$(mktemp)
rm -rf "$ROOT"/var/lib/orbweaver/* "$ROOT"/var/log/journal/* "$ROOT"/etc/orbweaver/*
fail() {
	echo "FAILED: $*" >&2
	in_container journalctl --no-pager -n 40 -u 'orbweaver@*' -u sim >&2 || true
	exit 1
}
ok() { echo "ok: $*"; }
# in_container COMMAND... runs a command beside the container's systemd.
in_container() { nsenter --target "$leader" --mount --uts --ipc --net --pid -- "$@"; }
# until_true WHAT COMMAND... asks once a second, for a minute.
until_true() {
	local what=$1 second
	shift
	for second in $(seq 60); do
		if "$@" >/dev/null 2>&1; then return; fi
		sleep 1
	done
	fail "not within $second s: $what"
}
property() { in_container systemctl show -P "$2" "orbweaver@$1"; }
is() { [ "$(property "$1" "$2")" = "$3" ]; }
# runs_again INSTANCE PID: the process is another one.
runs_again() { ! is "$1" MainPID 0 && ! is "$1" MainPID "$2"; }
logged() { in_container journalctl --no-pager -u "orbweaver@$1" | grep "$2" >/dev/null; }

# Its own /run: systemd-nspawn wants one that no disk holds. Its own network has loopback only.
unshare --mount sh -c 'mount -t tmpfs none /run && exec "$@"' sh systemd-nspawn --quiet --directory "$ROOT" --boot \
	--register=no --keep-unit --private-network >"$log" 2>&1 </dev/null &
nspawn=$!
trap 'kill "$nspawn" 2>/dev/null || true; wait "$nspawn" 2>/dev/null || true; rm -f "$log"' EXIT
for second in $(seq 60); do
	leader=$(pgrep -P "$nspawn" -x systemd || true)
	[ -z "$leader" ] || break
	sleep 1
done
[ -n "$leader" ] || { cat "$log" >&2 && echo "FAILED: the container does not start" >&2 && exit 1; }
until_true "systemd is up" in_container systemctl is-active multi-user.target

# A web, and the settings of a crawl of it, as the guide says: the sample with some keys set.
in_container systemd-run --quiet --unit=sim --working-directory=/etc/orbweaver \
	orbweaver sim --hosts 200 --pages 200 --seeds-file web.txt
until_true "the simulated web serves" test -s "$ROOT/etc/orbweaver/web.txt"
in_container orbweaver sample-config >"$ROOT/etc/orbweaver/web.toml"
sed -i -e 's,^#proxy = .*,proxy = "http://127.0.0.1:8080",' -e 's,^#resolver = .*,resolver = ["hashed:20"],' \
	-e 's,^#seeds = .*,seeds = ["/etc/orbweaver/web.txt"],' -e 's,^#checkpoint = .*,checkpoint = "5s",' \
	"$ROOT/etc/orbweaver/web.toml"

in_container systemctl start orbweaver@web || fail "systemctl start"
is web ActiveState active || fail "after start it is $(property web ActiveState)"
ok "the service starts, and is ready: $(property web StatusText)"
is web WatchdogUSec 2min || fail "the watchdog has $(property web WatchdogUSec)"
has_pages() { [[ $(property web StatusText) =~ running:\ [1-9][0-9]*\ pages ]]; }
until_true "the status has pages" has_pages
ok "its status: $(property web StatusText)"
in_container runuser -u orbweaver -- orbweaver ctl --dir /var/lib/orbweaver/web status >/dev/null || fail "ctl"
[ "$(in_container stat -c %U:%a /var/lib/orbweaver/web)" = orbweaver:750 ] || fail "the crawl directory"
before=$(property web WatchdogTimestampMonotonic)
has_newer_sign() { ! is web WatchdogTimestampMonotonic "$1"; }
until_true "a sign of life" has_newer_sign "$before"
ok "it gives signs of life"

in_container systemctl stop orbweaver@web || fail "systemctl stop"
logged web "Deactivated successfully" || fail "no orderly end"
is web ActiveState inactive || fail "after stop it is $(property web ActiveState)"
ok "SIGTERM ends it in order"
in_container systemctl start orbweaver@web || fail "start again"
until_true "the crawl resumes" grep '"resumed": 1' "$ROOT/var/lib/orbweaver/web/report.json"
ok "the next start resumes it"
in_container runuser -u orbweaver -- orbweaver ctl --dir /var/lib/orbweaver/web stop >/dev/null 2>&1 || fail "ctl stop"
until_true "ctl stop" is web ActiveState inactive
ok "ctl stop ends it, and systemd does not start it again"

# A killed crawl comes back.
in_container systemctl start orbweaver@web
first=$(property web MainPID)
in_container kill -KILL "$first"
until_true "restart after a kill" runs_again web "$first"
ok "a killed crawl is started again"
until_true "it is ready again" is web ActiveState active

# A crawl that hangs is ended by the watchdog. It is stopped, so that it cannot give a sign of life.
in_container mkdir -p /run/systemd/system/orbweaver@web.service.d
in_container sh -c 'printf "[Service]\nWatchdogSec=10s\nRestartSec=1s\n" >/run/systemd/system/orbweaver@web.service.d/test.conf'
in_container systemctl daemon-reload
in_container systemctl reset-failed orbweaver@web
in_container systemctl restart orbweaver@web
hung=$(property web MainPID)
in_container kill -STOP "$hung"
until_true "the watchdog" logged web "Watchdog timeout"
ok "a crawl without a sign of life is ended by the watchdog"
in_container kill -CONT "$hung" 2>/dev/null || true # SIGABRT waits for it
until_true "restart after the watchdog" runs_again web "$hung"
ok "it is started again"

# A mistake in the settings is not tried again and again.
echo 'nonsense = 1' >"$ROOT/etc/orbweaver/wrong.toml"
! in_container systemctl start orbweaver@wrong 2>/dev/null || fail "a crawl with wrong settings starts"
is wrong NRestarts 0 || fail "a crawl with wrong settings was restarted $(property wrong NRestarts) times"
logged wrong "unknown key: nonsense" || fail "the journal lacks the reason"
ok "wrong settings: no restart, and the journal has the reason"
in_container systemctl stop orbweaver@web
