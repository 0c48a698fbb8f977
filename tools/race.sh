#!/usr/bin/env bash
# Runs packages under the race detector.
#
#   tools/race.sh [all]           those of tools/race.txt, or every package
#   tools/race.sh since COMMIT [MOST]
#                                 those of tools/race.txt with Go files that have changed since, and the crawls of the
#                                 whole engine; of more than MOST packages MOST, chosen by the commit as tools/fuzz.sh does
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export CGO_ENABLED=1 # the race detector needs it
if [ "${1:-}" = all ]; then
	status=0
	for module in . bench; do "$go" -C "$module" test -vet=off -race -tags invariants -timeout 60m ./... || status=1; done
	exit $status
fi
base='' most=0
[ "${1:-}" != since ] || base=$2 most=${3:-0}
# meant PACKAGE says whether a package runs.
meant() { [ -z "$base" ] || [[ $1 == bench/scenario/* ]] || ! git diff --quiet "$base" -- "$1/*.go" ":(exclude)$1/*/*.go"; }

packages=() chosen=() skipped=() status=0
while read -r package arguments; do
	case $package in
	'' | '#'* | -) ;;
	skip) skipped+=($arguments) ;;
	*) if ! meant "$package"; then
		continue
	elif [ -z "$arguments" ]; then
		packages+=("./$package")
	else
		chosen+=("$package $arguments")
	fi ;;
	esac
done <tools/race.txt
if [ "$most" -gt 0 ] && [ ${#packages[@]} -gt "$most" ]; then
	echo "$most of ${#packages[@]} packages that have changed, chosen by the commit; make race runs all"
	commit=$(git rev-parse HEAD)
	mapfile -t packages < <(for one in "${packages[@]}"; do echo "$(sha256sum <<<"$commit $one") $one"; done | sort | head -n "$most" | sed 's/.* //')
fi
# With testing/synctest the detector itself fails now and then (golang/go#78156): with a failed check, or with a fault in the runtime. If that
# is all that has failed, the packages without a result run once more.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
skip=$(IFS='|'; echo "${skipped[*]}")
detect() { "$go" test -vet=off -race -tags invariants -timeout 20m -skip "$skip" "${packages[@]}" 2>&1 | tee "$log"; }
[ ${#packages[@]} = 0 ] || detect || {
	status=1
	if ! grep -qE '^WARNING: DATA RACE|^ *--- FAIL|^panic:' "$log" && grep -qE '^ThreadSanitizer: CHECK failed|^SIGSEGV' "$log"; then
		echo "the race detector has failed, and no test: once more"
		detect && status=0
	fi
}
# Two at a time: go test runs packages side by side only if they have the same arguments. Each runs in the module it belongs to.
printf '%s\n' "${chosen[@]}" | xargs -P 2 -I ARGUMENTS sh -fc \
	'exec "$0" -C "${1%% *}" test -vet=off -race -tags invariants -timeout 20m . ${1#* }' "$go" ARGUMENTS || status=1
exit $status
