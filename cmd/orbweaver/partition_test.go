package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orbweaver/bench/netns"
)

// parted runs agents that are cut apart.
func parted(t *testing.T, more ...string) result {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "agents")
	return call(append([]string{
		"bench", "agents", "--scenario", "partition", "--dir", dir, "--among", "3", "--hosts", "60", "--ips", "60", "--fault-mean", "16", "--fault-host-delay", "1s",
		"--fault-ip-delay", "50ms", "--fetchers", "16", "--most", "4m", "--json",
	}, more...)...)
}

// Real processes, on real networks that are cut and mended. With a quorum no host is ever asked too soon, the agents that are cut off stop, and the
// others go on; without one each side is polite by itself. That they should have a quorum and have none is found out.
func TestG01_realProcessesAreCutApart(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes a minute")
	}
	if err := netns.Try(t.Context()); errors.Is(err, netns.ErrImpossible) {
		t.Skip(err)
	}
	t.Setenv(asProgram, "1")
	for _, c := range []struct {
		name, run string
		args      []string
		code      int
	}{
		{"a full one with a quorum", "full-quorum", []string{"--partition", "full", "--quorum", "yes", "--partition-time", "32s"}, exitDone},
		{"one in one direction", "one-way-quorum", []string{"--partition", "one-way", "--quorum", "yes", "--partition-time", "15s"}, exitDone},
		{"without a quorum", "full", []string{"--partition", "full", "--quorum", "no", "--partition-time", "20s"}, exitDone},
		{"a quorum that is none", "full-quorum", []string{"--partition", "full", "--quorum", "yes", "--partition-time", "15s", "--pass=--quorum=false"}, exitFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := parted(t, c.args...)
			if r.code != c.code {
				t.Fatalf("exit status %d, want %d\n%s\n%s", r.code, c.code, r.out, r.err)
			}
			run := runsOf(t, r)[c.run]
			p, ok := run["partition"].(map[string]any)
			if !ok || run["coverage"] != 1.0 {
				t.Fatalf("%v", run)
			}
			t.Logf("%v", p)
			if c.code == exitFailed {
				faults, _ := run["faults"].([]any)
				if !slices.ContainsFunc(faults, func(f any) bool { return strings.Contains(f.(string), "the smaller side made") }) {
					t.Errorf("what is wrong: %v", faults)
				}
			}
		})
	}
}

// What there is none of is refused, before anything is started.
func TestBenchPartitionRefusals(t *testing.T) {
	parted(t, "--partition", "half").want(t, exitFailed, `no partition is called "half"`, "one-way")
	parted(t, "--among", "2").want(t, exitFailed, "want at least 3")
	parted(t, "--apart").want(t, exitFailed, "one or the other")
	parted(t, "--quorum", "perhaps").want(t, exitUsage, "quorum")
}

// Where no namespaces can be made, that is said, and what helps.
func TestBenchPartitionWithoutNamespaces(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	parted(t).want(t, exitFailed, "no network namespaces can be made here", "unshare", "util-linux and iproute2")
}
