#!/usr/bin/env bash
# Runs what takes too long for CI, one target of the Makefile or program of make accept after another, and prints a table at the end:
# target, result, seconds, log.
# It goes on after a failure, and exits with 1 if any target failed.
#
#   tools/nightly.sh [TARGET...]     all targets unless told; --list names them
#
# SEED chooses the worlds; without one it is the date. No target may take longer than LIMIT (4h).
set -uo pipefail
cd "$(dirname "$0")/.."
targets=(test scenario race crash fuzz hostile polite soak pressure judge outputs languages upload replay view dashboard cross realsite dns http2 outage vuln)
# What a target is given, separated by bars.
declare -A arguments=([race]='RACE=all' [fuzz]='FUZZTIME=30s' [crash]='CRASH=-seeds 4 -per-class 6 -floor 0 -kills 200')
if [ "${1:-}" = --list ]; then
	printf '%s\n' "${targets[@]}"
	exit
fi
seed=${SEED:-$(date -u +%Y%m%d)}
[ $# -eq 0 ] || targets=("$@")
logs=build/nightly
mkdir -p "$logs"
table=$logs/table.txt
{
	echo "commit $(git rev-parse --short HEAD), seed $seed, $(nproc) cores, $(date -u +%Y-%m-%dT%H:%MZ)"
	printf '%-12s %-7s %8s  %s\n' target result seconds log
} >"$table"
status=0
for target in "${targets[@]}"; do
	goal=($target)
	grep -q "^$target:" Makefile || goal=(accept "NAME=$target")
	echo "== make ${goal[*]}, from seed $seed"
	begun=$SECONDS result=ok
	IFS='|' read -ra more <<<"${arguments[$target]:-}"
	timeout --kill-after=1m "${LIMIT:-4h}" make --no-print-directory "${goal[@]}" SEED="$seed" "${more[@]}" </dev/null >"$logs/$target.log" 2>&1 || {
		result=FAILED status=1
		tail -n 20 "$logs/$target.log"
	}
	printf '%-12s %-7s %8d  %s\n' "$target" "$result" $((SECONDS - begun)) "$logs/$target.log" | tee -a "$table"
done
echo
cat "$table"
exit $status
