#!/usr/bin/env bash
# The short tables of BENCHMARKS.md, measured here: each benchmark's output goes to build/tables/NAME.txt with commit, machine and
# command above it. Nothing else should run on the machine meanwhile. With names, only those: tools/bench.sh throughput sieve
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/tables
mkdir -p "$out"
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
machine="$(nproc) cores, $(awk -F': ' '/^model name/ {print $2; exit}' /proc/cpuinfo), $(awk '/^MemTotal/ {printf "%.0f GiB", $2/2^20}' /proc/meminfo), $(uname -sr), $(go version | cut -d' ' -f3)"
begin=$SECONDS
wanted=" $* "

# measure NAME FLAGS...: one benchmark of orbweaver-bench with its flags.
measure() {
  run "$1" bin/orbweaver-bench "${@:2}"
}

# run NAME COMMAND...: one command.
run() {
  local name=$1 command=("${@:2}")
  if [ "$wanted" != "  " ] && [[ "$wanted" != *" $name "* ]]; then return; fi
  printf '\n== %s: %s (%ss)\n' "$name" "${command[*]}" $((SECONDS - begin))
  printf 'commit %s\n%s\nload %s\n%s\n\n' "$commit" "$machine" "$(cut -d' ' -f1 /proc/loadavg)" "${command[*]}" >"$out/$name.txt"
  "${command[@]}" 2>&1 | tee -a "$out/$name.txt"
}

# hooks: what each way of a user's code costs a page.
hooks() {
  go test ./cmd/orbweaver/internal/receivers -run xx -bench Hook -benchtime 5000x -count 3
  go test ./engine/workers/parsers -run xx -bench Show -count 3
  go test ./engine/page/filter -run xx -bench Filters -count 3
}

measure throughput throughput --hosts 4000 --ips 1000 --per-host 40 --mean 21 --host-delay 100ms --ip-delay 10ms --progress none
measure keepalive throughput --hosts 4000 --ips 1000 --per-host 40 --mean 21 --host-delay 0s --ip-delay 0s --keep-alive 5s --progress none
measure today throughput --today --hosts 300 --ips 150 --mean 20 --per-host 100 --bare-pages 4000 --fetchers 64 --host-delay 50ms --ip-delay 5ms --progress none
measure frontier frontier --urls 10_000_000 --host-delay 200ms --ip-delay 20ms
measure sieve sieve --urls 100_000_000
measure cache cache --urls 2_000_000 --cache-memory 64MiB
measure workbench workbench --hosts 1_000_000
measure virtualize virtualize --urls 1_000_000
measure seen seen --urls 10_000_000
run hooks hooks
run dns go test ./dnsres -run '^$' -bench Names -cpu 1 -benchtime 50000x
if [[ "$wanted" == *" manycore "* ]]; then # eight minutes: by its name alone
  data=$(mktemp -d)
  measure manycore cores --most 64 --out "$data/here-cores.json"
  go -C tools/plot run . "$data" "$PWD/$out" 2>/dev/null # the others have no results there
  mv "$data/here-cores.json" "$out/manycore.json"
  rmdir "$data"
  echo "the picture is $out/cores.svg"
fi
printf '\nall of it took %ss; the outputs are in %s\n' $((SECONDS - begin)) "$out"
