//go:build scenario

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/bench/netns"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/invariants"
)

// Real processes, on real networks that are cut and mended. With a quorum no host is ever asked too soon, the agents
// that are cut off stop, and the others go on; without one each side is polite by itself. That they should have a
// quorum and have none is found out.
func TestG01_realProcessesAreCutApart(t *testing.T) {
	if invariants.Race {
		t.Skip("takes a minute without the race detector") // which runs it in CI: make test
	}
	if err := netns.Try(t.Context()); errors.Is(err, netns.ErrImpossible) {
		t.Skip(err) // not every machine gives leave to make namespaces; bench/scenario/cluster has partitions without
	}
	cases := []struct {
		name, run string
		args      []string
		code      int
		wrong     string
		done      chan result
	}{
		{
			"a full one with a quorum", "full-quorum",
			[]string{"--partition", "full", "--quorum", "yes", "--partition-time", "32s"}, command.ExitDone, "", nil,
		},
		{
			"one in one direction", "one-way-quorum",
			[]string{"--partition", "one-way", "--quorum", "yes", "--partition-time", "15s"}, command.ExitDone, "", nil,
		},
		{
			"without a quorum", "full", []string{"--partition", "full", "--quorum", "no", "--partition-time", "28s"},
			command.ExitDone, "", nil,
		},
		{
			"a quorum that is none", "full-quorum",
			[]string{"--partition", "full", "--quorum", "yes", "--partition-time", "28s", "--pass=--quorum=false"},
			command.ExitFailed, "the smaller side made", nil,
		},
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
		if faults := fmt.Sprint(run["faults"]); run["coverage"] != 1.0 || run["partition"] == nil ||
			!strings.Contains(faults, c.wrong) {
			t.Errorf("%s: coverage %v, %s", c.name, run["coverage"], faults)
		}
	}
}
