#!/usr/bin/env bash
# Prints the licences of all modules that are linked into a program, and that of Go itself.
#
#   tools/package/licences.sh PROGRAM >THIRD-PARTY-LICENCES.txt
#
# The list is the one that the go command has stamped into PROGRAM, for any platform. The texts come from the module
# cache. A module without a text is an error: then the release must not be made. GO names another go command.
set -euo pipefail
go=${GO:-go}
program=$1

# section TITLE DIR prints the licence files of a module.
section() {
	local file found=
	printf '\n%s\n%s\n' "$1" "${1//?/=}"
	for file in "$2"/{LICEN[CS]E,COPYING,COPYRIGHT,NOTICE,PATENTS,AUTHORS}*; do
		[ -f "$file" ] || continue
		case ${file##*/} in LICEN[CS]E* | COPYING*) found=1 ;; esac
		printf '\n--- %s\n\n' "${file##*/}"
		cat "$file"
	done
	[ -n "$found" ] || { echo "licences.sh: $1: there is no licence in $2" >&2 && return 1; }
}

modules=$("$go" version -m "$program" | awk '$1 == "dep" {print $2 "@" $3}')
[ -n "$modules" ] || { echo "licences.sh: $program names no modules: was it built by go build?" >&2 && exit 1; }
echo "Orbweaver is licensed under the Apache License 2.0. The program contains the Go runtime and standard library, and"
echo "the modules below, each under its own licence."
section "Go" "$("$go" env GOROOT)"
while read -r module; do
	dir=$("$go" list -m -f '{{.Dir}}' "$module") # a module of the go.mod of this repository
	section "$module" "$dir"
done <<<"$modules"
