#!/usr/bin/env bash
# Lays out what is installed: the program, man pages, completions, documents, licences, and on Linux the systemd unit.
#
#   tools/package/tree.sh PROGRAM GENERATOR ROOT [PREFIX]
#
# PROGRAM is installed below ROOT/PREFIX (/usr/local). GENERATOR is a program of the same version that runs on this
# machine: it prints the man pages, the completions and the sample configuration.
set -euo pipefail
program=$1 generator=$2 root=$3 prefix=${4:-/usr/local}
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
to=$root$prefix
umask 022

install -D -m 755 "$program" "$to/bin/orbweaver"
mkdir -p "$to/share/man/man1" "$to/share/man/man5"
"$generator" man "$to/share/man/man1"
mv "$to"/share/man/man1/*.5 "$to/share/man/man5/"
gzip -n -9 -f "$to"/share/man/man1/orbweaver*.1 "$to"/share/man/man5/crawl.toml.5
zsh=site-functions
[ "$prefix" != /usr ] || zsh=vendor-completions # where Debian's zsh looks for those of packages
mkdir -p "$to/share/bash-completion/completions" "$to/share/zsh/$zsh" "$to/share/fish/vendor_completions.d"
"$generator" completion bash >"$to/share/bash-completion/completions/orbweaver"
"$generator" completion zsh >"$to/share/zsh/$zsh/_orbweaver"
"$generator" completion fish >"$to/share/fish/vendor_completions.d/orbweaver.fish"
doc=$to/share/doc/orbweaver
mkdir -p "$doc/examples" "$doc/docs/guide"
install -m 644 "$top/README.md" "$top/CHANGELOG.md" "$doc/"
install -m 644 "$top"/docs/*.md "$top"/docs/*.json "$top"/docs/*.yml "$doc/docs/"
install -m 644 "$top"/docs/guide/*.md "$doc/docs/guide/"
(cd "$top" && sed -n 's/.*!\[[^]]*\](\([^)]*\)).*/\1/p' README.md && cd docs && # their pictures
	sed -n 's/.*!\[[^]]*\](\([^)]*\)).*/docs\/\1/p' ./*.md && sed -n 's/.*!\[[^]]*\](\([^)]*\)).*/docs\/guide\/\1/p' guide/*.md) |
	while IFS= read -r picture; do install -D -m 644 "$top/$picture" "$doc/$picture"; done
[ "$prefix" = /usr ] || install -m 644 "$top/LICENSE" "$doc/"
"$here/licences.sh" "$program" >"$doc/THIRD-PARTY-LICENCES.txt"
"$generator" sample-config >"$doc/examples/crawl.toml"
chmod 644 "$doc/examples/crawl.toml"
# A link to a file of the source that is not installed becomes its text.
find "$doc" -name '*.md' | while IFS= read -r page; do
	{ grep -o ']([^)]*)' "$page" || true; } | sed 's/^](//; s/)$//' | sort -u | while IFS= read -r link; do
		case $link in *:* | '#'*) continue ;; esac
		[ ! -e "$(dirname "$page")/${link%%#*}" ] || continue
		sed -e ':a' -e '$!{N;ba' -e '}' -e "s,!\{0\,1\}\[\([^]]*\)\]($link),\1,g" "$page" >"$page.new"
		cat "$page.new" >"$page" && rm "$page.new"
	done
done
mkdir -p "$to/lib/systemd/system" "$to/lib/sysusers.d"
sed "s,/usr/bin/,$prefix/bin/," "$here/orbweaver@.service" >"$to/lib/systemd/system/orbweaver@.service"
install -m 644 "$here/orbweaver@.timer" "$to/lib/systemd/system/"
install -m 644 "$here/orbweaver.sysusers" "$to/lib/sysusers.d/orbweaver.conf"
