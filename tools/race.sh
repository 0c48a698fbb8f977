#!/usr/bin/env bash
# Runs the packages of tools/race.txt under the race detector: tools/race.sh. With all: every package.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export CGO_ENABLED=1 # the race detector needs it
if [ "${1:-}" = all ]; then
	exec "$go" test -vet=off -race -tags invariants -timeout 60m ./...
fi
packages=() chosen=() status=0
while read -r package arguments; do
	case $package in
	'' | '#'* | -) ;;
	*) if [ -z "$arguments" ]; then packages+=("./$package"); else chosen+=("./$package $arguments"); fi ;;
	esac
done <tools/race.txt
"$go" test -vet=off -race -tags invariants -timeout 20m "${packages[@]}" || status=1
# Two at a time: go test runs packages side by side only if they have the same arguments.
printf '%s\n' "${chosen[@]}" | xargs -P 2 -I ARGUMENTS sh -c 'exec "$0" test -vet=off -race -tags invariants -timeout 20m $1' "$go" ARGUMENTS || status=1
exit $status
