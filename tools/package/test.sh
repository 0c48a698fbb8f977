#!/usr/bin/env bash
# Installs a Debian package into a fresh Debian and tries everything in it: program, man pages, completion, service,
# purge. It needs root, mmdebstrap, systemd-container, and a Debian mirror.
#
#   tools/package/test.sh FILE.deb
#
# The Debian is kept in ROOT (build/package-test) and used again: ROOT=dir names another place. The service runs in a
# container without a network but loopback; it crawls the simulated web of `orbweaver sim`.
set -euo pipefail
deb=$(realpath "$1")
ROOT=${ROOT:-build/package-test}
export LC_ALL=C
passed=$(mktemp)
trap 'rm -f "$passed"' EXIT

fail() { echo "FAILED: $*" >&2 && exit 1; }
ok() { echo "ok: $*" | tee -a "$passed"; }
# wants TEXT WHAT: standard input has the text.
wants() { local all && all=$(cat) && [[ $all == *"$1"* ]] && ok "$2" || fail "$2: no '$1' in: ${all:0:2000}"; }
inside() { chroot "$ROOT" "$@"; }

# A Debian with what the package recommends, for its tests.
if [ ! -e "$ROOT/etc/debian_version" ]; then
	mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,man-db,bash-completion,adduser,zsh,fish \
		bookworm "$ROOT" >/dev/null
fi
ROOT=$(realpath "$ROOT")
inside dpkg --purge orbweaver >/dev/null 2>&1 || true
rm -rf "$ROOT"/var/lib/orbweaver
before=$(cd "$ROOT" && find etc usr var/lib -path var/lib/dpkg -prune -o -path var/lib/systemd -prune -o -print | sort)

install -m 644 "$deb" "$ROOT/tmp/orbweaver.deb"
inside dpkg -i /tmp/orbweaver.deb >/dev/null
inside orbweaver version | wants "$(dpkg-deb -f "$deb" Version | sed 's/-[0-9]*$//')" "orbweaver version"
! inside orbweaver version | grep -q "commit unknown" || fail "the version lacks the commit"
ok "the version names the commit"
inside man -P cat orbweaver-crawl | wants "--host-delay" "man orbweaver-crawl"
inside man -P cat orbweaver | wants "orbweaver-ctl(1)" "man orbweaver lists the commands"
inside man -P cat crawl.toml | wants "host-delay" "man crawl.toml has the settings"
inside man -k orbweaver | wants "orbweaver-warc" "apropos finds the pages"
[ -z "$(inside sh -c 'for page in /usr/share/man/man1/orbweaver* /usr/share/man/man5/crawl.toml*; do man --warnings -E UTF-8 -l -Tutf8 $page 2>&1 >/dev/null; done')" ] ||
	fail "man warns about a page"
ok "man has no warning"

broken=$(cd "$ROOT/usr/share/doc/orbweaver" && find . -name '*.md' | while IFS= read -r page; do
	{ grep -o ']([^)]*)' "$page" || true; } | sed 's/^](//; s/[)#].*//' | while IFS= read -r link; do
		case $link in '' | *:*) continue ;; esac
		[ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
	done
done)
[ -z "$broken" ] || fail "links of the documents to what is not installed: $broken"
ok "the links of the documents are installed"

# Completion as an interactive shell does it.
inside bash --norc -c '
	source /usr/share/bash-completion/bash_completion
	_completion_loader orbweaver
	complete -p orbweaver' | wants "-F _orbweaver" "bash loads the completion by itself"
complete_in_bash() {
	inside bash --norc -c 'source /usr/share/bash-completion/completions/orbweaver
		COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _orbweaver; echo "${COMPREPLY[*]}"' bash "$@"
}
[ "$(complete_in_bash orbweaver samp)" = sample-config ] || fail "bash completes a command"
[ "$(complete_in_bash orbweaver crawl --progress = p)" = plain ] || fail "bash completes a value behind ="
[ "$(complete_in_bash orbweaver crawl --progress n)" = none ] || fail "bash completes a value"
ok "bash completes commands, flags and values"
inside fish -c 'complete -C "orbweaver ctl pau"' | wants "pause" "fish completes a command"
inside zsh -fc 'autoload -U compinit && compinit -u && echo $_comps[orbweaver]' | wants "_orbweaver" "zsh has the completion"

# The service, offline.
chroot "$ROOT" systemd-analyze verify /usr/lib/systemd/system/orbweaver@.{service,timer} 2>&1 |
	{ ! grep -i orbweaver; } || fail "systemd-analyze verify"
ok "systemd-analyze verify"
exposure=$(inside systemd-analyze security --offline=yes --threshold=15 /usr/lib/systemd/system/orbweaver@.service |
	grep Overall) || fail "systemd-analyze security: over 1.5: $exposure"
ok "systemd-analyze security: $exposure"

# The service in a running systemd.
if command -v systemd-nspawn >/dev/null; then
	"$(dirname "$0")/boot.sh" "$ROOT" | tee -a "$passed"
else
	echo "not tried: the service in a running systemd, since systemd-nspawn is missing"
fi

# Purge leaves the crawls, and nothing else.
mkdir -p "$ROOT/var/lib/orbweaver/kept" && touch "$ROOT/var/lib/orbweaver/kept/page" "$ROOT/etc/orbweaver/kept.toml"
inside dpkg --purge orbweaver 2>&1 | wants "has crawls" "purge says that crawls stay"
[ -e "$ROOT/var/lib/orbweaver/kept/page" ] || fail "purge removed a crawl"
inside getent passwd orbweaver | wants orbweaver "their owner stays"
rm -rf "$ROOT/var/lib/orbweaver"
inside dpkg -i /tmp/orbweaver.deb >/dev/null
inside dpkg --purge orbweaver >/dev/null
! inside getent passwd orbweaver >/dev/null || fail "without crawls, purge leaves the user"
after=$(cd "$ROOT" && find etc usr var/lib -path var/lib/dpkg -prune -o -path var/lib/systemd -prune -o -print | sort)
left=$(comm -13 <(echo "$before") <(echo "$after") | grep -v -e '^var/lib/dbus/machine-id$' -e '^etc/\(passwd\|group\|shadow\|gshadow\|subuid\|subgid\)-$' || true)
[ -z "$left" ] || fail "purge leaves: $left"
ok "purge leaves nothing but the crawls"
echo "$(grep -c '^ok: ' "$passed") passed, 0 failed"
