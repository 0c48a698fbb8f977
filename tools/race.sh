#!/usr/bin/env bash
# Runs the packages of tools/race.txt under the race detector: tools/race.sh. With all: every package.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
export CGO_ENABLED=1 # the race detector needs it
if [ "${1:-}" = all ]; then
	exec "$go" test -vet=off -race -tags invariants -timeout 60m ./...
fi
packages=() status=0
while read -r package arguments; do
	case $package in
	'' | '#'* | -) ;;
	*)
		if [ -z "$arguments" ]; then
			packages+=("./$package")
		else
			read -ra arguments <<<"$arguments"
			"$go" test -vet=off -race -tags invariants -timeout 20m "./$package" "${arguments[@]}" || status=1
		fi ;;
	esac
done <tools/race.txt
"$go" test -vet=off -race -tags invariants -timeout 20m "${packages[@]}" || status=1
exit $status
