package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/bench/netns"
)

// parted runs agents that are cut apart.
func parted(dir string, more ...string) result {
	return call(append([]string{
		"bench", "agents", "--scenario", "partition", "--dir", dir, "--among", "3", "--hosts", "60", "--ips", "60", "--fault-mean", "14", "--fault-host-delay", "1s",
		"--fault-ip-delay", "50ms", "--fetchers", "16", "--most", "4m", "--json",
	}, more...)...)
}

// Real processes, on real networks that are cut and mended. With a quorum no host is ever asked too soon, the agents that are cut off stop, and the
// others go on; without one each side is polite by itself. That they should have a quorum and have none is found out.
func TestG01_realProcessesAreCutApart(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("takes a minute") // -short is for the seconds between two edits; it runs in CI
	}
	if err := netns.Try(t.Context()); errors.Is(err, netns.ErrImpossible) {
		t.Skip(err) // not every machine gives leave to make namespaces; bench/invitro plays partitions without
	}
	t.Setenv(asProgram, "1")
	cases := []struct {
		name, run string
		args      []string
		code      int
		wrong     string
		done      chan result
	}{
		{"a full one with a quorum", "full-quorum", []string{"--partition", "full", "--quorum", "yes", "--partition-time", "32s"}, exitDone, "", nil},
		{"one in one direction", "one-way-quorum", []string{"--partition", "one-way", "--quorum", "yes", "--partition-time", "15s"}, exitDone, "", nil},
		{"without a quorum", "full", []string{"--partition", "full", "--quorum", "no", "--partition-time", "28s"}, exitDone, "", nil},
		{"a quorum that is none", "full-quorum", []string{"--partition", "full", "--quorum", "yes", "--partition-time", "28s", "--pass=--quorum=false"}, exitFailed,
			"the smaller side made", nil},
	}
	for i := range cases { // all at once: they wait most of the time
		c := &cases[i]
		c.done = make(chan result, 1)
		dir := filepath.Join(t.TempDir(), "agents")
		go func() { c.done <- parted(dir, c.args...) }()
	}
	for _, c := range cases {
		r := <-c.done
		if r.code != c.code {
			t.Errorf("%s: exit status %d, want %d\n%s\n%s", c.name, r.code, c.code, r.err, r.out)
			continue
		}
		run := runsOf(t, r)[c.run]
		t.Logf("%s: %v", c.name, run["partition"])
		if faults := fmt.Sprint(run["faults"]); run["coverage"] != 1.0 || run["partition"] == nil || !strings.Contains(faults, c.wrong) {
			t.Errorf("%s: coverage %v, %s", c.name, run["coverage"], faults)
		}
	}
}

// What there is none of is refused, before anything is started.
func TestBenchPartitionRefusals(t *testing.T) {
	parted(t.TempDir(), "--partition", "half").want(t, exitFailed, `no partition is called "half"`, "one-way")
	parted(t.TempDir(), "--among", "2").want(t, exitFailed, "want at least 3")
	parted(t.TempDir(), "--apart").want(t, exitFailed, "one or the other")
	parted(t.TempDir(), "--quorum", "perhaps").want(t, exitUsage, "quorum")
}

// Where no namespaces can be made, that is said, and what helps.
func TestBenchPartitionWithoutNamespaces(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	parted(t.TempDir()).want(t, exitFailed, "no network namespaces can be made here", "unshare", "util-linux and iproute2")
}
