#!/usr/bin/env bash
# Runs the scenarios: the tests in files with the build tag scenario, and every test of bench/invitro in full size.
#
#   tools/scenario.sh [SUBJECT...]    all subjects unless told; --list names them
#
# A subject of bench/invitro is the tests of some of its files; any other subject is a package. Each subject is a go test of its own, with its
# own time limit. SEED chooses the worlds of bench/invitro and bench/crash. Go's cache keeps the result of seed 1, the default: a flag -seed keeps
# a result out of it.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
seed=${SEED:-1}
invitro=bench/invitro
seeded=()
[ "$seed" = 1 ] || seeded=(-seed "$seed")

# The files of each subject of bench/invitro. A test in a file that is named nowhere belongs to crawl.
declare -A files=(
	[storage]='storage|fsck|kill|aloft|dictionary|coldhosts|fullbench|resumeread'
	[agents]='agent|underway|handover|flood'
	[membership]='leav|latecomer|partition|peer|quorum|silence'
	[recrawl]='refresh|rebuild|unchanged|audit'
	[network]='names|network|outage|backoff|robots|patience|strangers|headless'
)
subjects=(crawl network recrawl storage agents membership)
mapfile -t packages < <(git grep -l '^//go:build scenario' -- '*_test.go' | xargs -rn1 dirname | sort -u | grep -vx "$invitro" || true)
if [ "${1:-}" = --list ]; then
	printf '%s\n' "${subjects[@]}" "${packages[@]}"
	exit
fi

# tests FILE... is a pattern of the tests in files.
tests() { printf '^(%s)$' "$(cat "$@" | grep -oE '^func Test[A-Z]\w*' | sed 's/func //' | grep -vx TestMain | sort | paste -sd '|')"; }

# run SUBJECT runs one subject.
run() {
	local package=./$1 limit=30m flags=()
	case $1 in
	crawl)
		package=./$invitro
		flags=(-skip "$(tests $(ls $invitro/*_test.go | grep -E "/($(IFS='|'; echo "${files[*]}"))"))" "${seeded[@]}") ;;
	storage | agents | membership | recrawl | network)
		package=./$invitro
		flags=(-run "$(tests $(ls $invitro/*_test.go | grep -E "/(${files[$1]})"))" "${seeded[@]}") ;;
	*)
		# Where scenario_on_test.go sets the size of tests, all of them run.
		[ -f "$1/scenario_on_test.go" ] ||
			flags=(-run "$(tests $(git grep -l '^//go:build scenario' -- "$1/*_test.go"))")
		[ "$1" != bench/crash ] || flags+=("${seeded[@]}") ;;
	esac
	echo "== scenario $1, seed $seed"
	"$go" test -tags 'invariants scenario' -timeout "$limit" "$package" "${flags[@]}"
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
