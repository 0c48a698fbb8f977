#!/usr/bin/env bash
# Runs the scenarios: the tests in files with the build tag scenario, and every test of bench/scenario in full size.
#
#   tools/scenario.sh [SUBJECT...]    all subjects unless told; --list names them
#
# A subject is a package of bench/scenario by its last name (crawl, storage, ...), or any other package by its path. Each subject is a go test
# with its own time limit. SKIP is a pattern of tests to leave out. SEED chooses the webs of bench/scenario and bench/crash. Go's cache keeps the
# result of seed 1, the default: a flag -seed keeps a result out of it.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
seed=${SEED:-1}
scenarios=bench/scenario
seeded=() without=()
[ "$seed" = 1 ] || seeded=(-seed "$seed")
[ -z "${SKIP:-}" ] || without=(-skip "$SKIP")

mapfile -t subjects < <(git ls-files "$scenarios/*/main_test.go" | xargs -rn1 dirname | xargs -rn1 basename)
mapfile -t packages < <(git grep -l '^//go:build scenario' -- '*_test.go' | xargs -rn1 dirname | sort -u | grep -v "^$scenarios/" || true)
if [ "${1:-}" = --list ]; then
	printf '%s\n' "${subjects[@]}" "${packages[@]}"
	exit
fi

# tests FILE... is a pattern of the tests in files.
tests() { printf '^(%s)$' "$(cat "$@" | grep -oE '^func Test[A-Z]\w*' | sed 's/func //' | grep -vx TestMain | sort | paste -sd '|')"; }

# run SUBJECT runs one subject.
run() {
	local package=$1 limit=60m flags=()
	if [ -d "$scenarios/$1" ]; then
		package=$scenarios/$1 flags=("${seeded[@]}")
	else
		# Where scenario_on_test.go sets the size of tests, all of them run.
		[ -f "$1/scenario_on_test.go" ] ||
			flags=(-run "$(tests $(git grep -l '^//go:build scenario' -- "$1/*_test.go"))")
		[ "$1" != bench/crash ] || flags+=("${seeded[@]}")
	fi
	echo "== scenario $1, seed $seed"
	"$go" -C "$package" test -vet=off -tags 'invariants scenario' -timeout "$limit" "${without[@]}" . "${flags[@]}" # of whichever module
}

[ $# -gt 0 ] || set -- "${subjects[@]}" "${packages[@]}"
status=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Tests of processes wait most of the time: they run beside the others.
waiting=
for subject; do
	if [ "$subject" = cmd/orbweaver ] && [ $# -gt 1 ]; then
		run "$subject" >"$log" 2>&1 &
		waiting=$!
	fi
done
for subject; do
	[ -n "$waiting" ] && [ "$subject" = cmd/orbweaver ] || run "$subject" || status=1
done
if [ -n "$waiting" ]; then
	wait "$waiting" || status=1
	cat "$log"
fi
exit $status
