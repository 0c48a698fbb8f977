#!/usr/bin/env bash
# Runs every fuzz target of the tree in turn: tools/fuzz.sh [TIME], 10s each unless told.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
status=0
while IFS=: read -r file target; do
	package=./$(dirname "$file")
	echo "fuzz $package $target for $time"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" || status=1
done < <(git ls-files '*_test.go' | xargs grep -oE '^func Fuzz[A-Za-z0-9_]+' | sed 's/func //')
exit $status
