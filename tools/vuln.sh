#!/bin/sh
# Runs govulncheck, of the version that tools/devtools pins, over everything. Without its database it says so, and fails: nothing was checked.
db=${GOVULNDB:-https://vuln.go.dev}
if ! curl --silent --fail --max-time 20 --output /dev/null "$db/index/db.json"; then
	echo "vuln: NOT CHECKED: the vulnerability database $db cannot be reached; GOVULNDB names another" >&2
	exit 2
fi
exec "${GO:-go}" tool -modfile=tools/devtools/go.mod govulncheck -db "$db" ./...
