#!/usr/bin/env bash
# Runs every fuzz target of the tree in turn: tools/fuzz.sh [TIME [BASE]], 10s each unless told. With the commit BASE only those of packages
# that have changed since: a package has changed if one of its Go files or of its test data has.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
base=${2:-}
status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Up to Go 1.27 a run whose time is over just as an input is being tried may end as failed, without an input that
# failed: https://go.dev/issue/75804.
only_late() {
	grep -A 1 '^--- FAIL' "$log" | grep -qx '    context deadline exceeded' && ! grep -q 'Failing input' "$log"
}

# changed says whether a package has.
changed() {
	[ -z "$base" ] || ! git diff --quiet "$base" -- "$1/*.go" ":(exclude)$1/*/*.go" "$1/testdata"
}

while IFS=: read -r file target; do
	package=./$(dirname "$file")
	changed "$(dirname "$file")" || continue
	echo "fuzz $package $target for $time"
	${GO:-go} test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" 2>&1 | tee "$log" && continue
	if only_late; then
		echo "$target: the time was over in the middle of an input; none has failed"
	else
		status=1
	fi
done < <(git ls-files '*_test.go' | xargs grep -oE '^func Fuzz[A-Za-z0-9_]+' | sed 's/func //')
exit $status
