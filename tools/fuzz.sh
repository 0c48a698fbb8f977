#!/usr/bin/env bash
# Runs every fuzz target of the tree in turn: tools/fuzz.sh [TIME [BASE [MOST]]], 10s each unless told. With the commit
# BASE only those that have changed since: the code of their package, beyond comments, the file of the target, or its
# test data. Of more than MOST such targets it runs MOST, chosen by the commit, so that another commit runs others.
# An input is made smaller for a second at most: the minute of Go's default is longer than most runs.
# Targets since BASE run without guidance by coverage: what guides would compile all dependencies once more.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
base=${2:-}
most=${3:-0}
status=0
go=${GO:-go}
log=$(mktemp) binaries=$(mktemp -d)
trap 'rm -rf "$log" "$binaries"' EXIT

# Up to Go 1.27 a run whose time is over just as an input is being tried may end as failed, without an input that
# failed: https://go.dev/issue/75804.
only_late() {
	grep -A 1 '^--- FAIL' "$log" | grep -qx '    context deadline exceeded' && ! grep -q 'Failing input' "$log"
}

# changed says whether a target, in a file, has.
changed() {
	local dir
	dir=$(dirname "$1")
	[ -z "$base" ] || [ -n "$(git diff --name-only -G'^[[:space:]]*[^/[:space:]]' "$base" -- \
		"$dir/*.go" ":(exclude)$dir/*/*.go" ":(exclude)$dir/*_test.go")" ] ||
		[ -n "$(git diff --name-only -G'^[[:space:]]*[^/[:space:]]' "$base" -- "$1")" ] ||
		! git diff --quiet "$base" -- "$dir/testdata/fuzz"
}

targets=$(git ls-files '*_test.go' | xargs grep -oE '^func Fuzz[A-Za-z0-9_]+' | sed 's/func //' |
	while IFS=: read -r file target; do changed "$file" && echo "$file:$target" || true; done)
count=$(grep -c . <<<"$targets" || true)
if [ "$most" -gt 0 ] && [ "$count" -gt "$most" ]; then
	commit=$(git rev-parse HEAD)
	echo "$most of $count targets that have changed, chosen by the commit; make fuzz runs all"
	targets=$(while read -r one; do echo "$(sha256sum <<<"$commit $one") $one"; done <<<"$targets" | sort | head -n "$most" | sed 's/.* //')
fi

# fuzz PACKAGE TARGET runs one target.
fuzz() {
	local run=(-run '^$' -fuzz "^$2\$" -fuzztime "$time" -fuzzminimizetime 1s)
	if [ -z "$base" ]; then
		"$go" -C "$1" test -vet=off -tags invariants "${run[@]}" .
		return
	fi
	[ -x "$binaries/$1/test" ] || "$go" -C "$1" test -c -vet=off -tags invariants -o "$binaries/$1/test" . || return
	(cd "$1" && "$binaries/$1/test" "${run[@]/#-/-test.}" -test.fuzzcachedir "$binaries/$1/corpus")
}

while IFS=: read -r file target; do
	[ -n "$file" ] || continue
	package=$(dirname "$file")
	echo "fuzz ./$package $target for $time"
	fuzz "$package" "$target" 2>&1 </dev/null | grep -v 'not built with coverage' | tee "$log" && continue
	if only_late; then
		echo "$target: the time was over in the middle of an input; none has failed"
	else
		status=1
	fi
done <<<"$targets"
exit $status
