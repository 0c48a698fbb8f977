#!/usr/bin/env bash
# A crawl in a cgroup of exactly the memory that it says it may use, and in one of far less, beside a simulated web that is not
# in it: nobody is killed for memory, every page is there, and the archive is sound. Needs root and a memory controller (v1 or v2).
set -euo pipefail
cd "$(dirname "$0")/.."
hosts=${HOSTS:-2000} fetchers=${FETCHERS:-512}
dir=build/pressure
rm -rf "$dir" && mkdir -p "$dir"

v2=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)
v1=$(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ {print $2; exit}' /proc/self/mounts)
if [ -n "$v1" ]; then
  group=$v1/orbweaver-pressure-$$ limit=memory.limit_in_bytes peak=memory.max_usage_in_bytes
elif [ -n "$v2" ] && grep -qw memory "$v2/cgroup.controllers"; then
  group=$v2/orbweaver-pressure-$$ limit=memory.max peak=memory.peak
else
  echo "no cgroup with a memory controller is mounted: this test needs one" >&2; exit 1
fi
web=
end() {
  test -z "$web" || { kill "$web" 2>/dev/null || true; wait "$web" 2>/dev/null || true; }
  rmdir "$group" 2>/dev/null || true
}
trap end EXIT

oom_kills() {
  if [ -e "$group/memory.oom_control" ]; then awk '$1 == "oom_kill" {print $2}' "$group/memory.oom_control"
  else awk '$1 == "oom_kill" {print $2}' "$group/memory.events"; fi
}

# One crawl in a cgroup of $2 bytes.
crawl() {
  local name=$1 bytes=$2 port=$((20000 + RANDOM % 20000))
  bin/orbweaver sim --hosts "$hosts" --ips 500 --proxy "127.0.0.1:$port" --seeds-file "$dir/seeds.txt" --seed-count 200 \
    --judge "$dir/$name" --host-delay 100ms --ip-delay 20ms --plain >"$dir/$name.judge" 2>&1 &
  web=$!
  until grep -q . "$dir/seeds.txt" 2>/dev/null; do kill -0 "$web" || { cat "$dir/$name.judge" >&2; exit 1; }; read -rt 0.1 <> <(:) || :; done
  mkdir "$group" || { echo "cannot make the cgroup $group: this test needs root" >&2; exit 1; }
  test -e "$group/$limit" || { echo "$group has no memory controller: enable it in cgroup.subtree_control" >&2; exit 1; }
  echo "$bytes" >"$group/$limit"
  if [ -e "$group/memory.swap.max" ]; then echo 0 >"$group/memory.swap.max"; fi
  local code=0
  (echo "$BASHPID" >"$group/cgroup.procs" && exec bin/orbweaver crawl --dir "$dir/$name" --contact https://example.test/ \
    --scope all --proxy "http://127.0.0.1:$port" --resolver hashed:500 --seeds "$dir/seeds.txt" --host-delay 100ms --ip-delay 20ms \
    --fetchers "$fetchers" --checkpoint 5s --progress plain) >"$dir/$name.out" 2>&1 || code=$?
  kill -INT "$web" && wait "$web" || { cat "$dir/$name.judge"; echo "the judge of the simulated web is not content" >&2; exit 1; }
  web=
  grep -h "memory" "$dir/$name.out"
  printf '%s: limit %d MiB, peak %d MiB with the page cache, %s killed for memory, exit status %d\n' "$name" $((bytes >> 20)) \
    $(($(cat "$group/$peak") >> 20)) "$(oom_kills)" "$code"
  cat "$dir/$name.judge"
  test "$code" = 0 && test "$(oom_kills)" = 0
  rmdir "$group"
  bin/orbweaver fsck "$dir/$name" >"$dir/$name.fsck" || { cat "$dir/$name.fsck"; exit 1; }
  rm -f "$dir/seeds.txt"
}

crawl whole "${WHOLE:-$((800 << 20))}"
crawl tenth "${TENTH:-$((80 << 20))}"
echo "all holds"
