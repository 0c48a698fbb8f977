package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/load"
)

func TestSimTakesSeveralProxies(t *testing.T) {
	r := call("sim", "--hosts", "2", "--proxy", "127.0.0.1:0", "--proxy", "192.0.2.1:80")
	if !strings.Contains(r.err, "served on loopback only") {
		t.Errorf("the second proxy was not looked at: %+v", r)
	}
}

// Two crawls that divide the hosts between them hold the web together: none of the two has all of it, and the union is
// sound.
func TestSimJudgesTheUnionOfCrawls(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds") // -short is for the seconds between two edits; it runs in CI
	}
	t.Setenv(asProgram, "1")
	world := simweb.Plain()
	world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax, world.Robots = 10, 10, 5, 10, simweb.Robots{}
	dir := t.TempDir()
	halves := []string{filepath.Join(dir, "even"), filepath.Join(dir, "odd")}
	judge := []string{"--seed-count", "10", "--host-delay", "0", "--ip-delay", "0"}
	for _, half := range halves {
		judge = append(judge, "--judge", half)
	}
	child, err := load.StartChild(t.Context(), program(), world, 1, judge...)
	if err != nil {
		t.Fatal(err)
	}
	crawled := &web{proxy: child.Where.Proxy, seeds: child.Seeds}
	for k, half := range halves {
		scope := fmt.Sprintf(`host matches "h[0-9]*[%s][.]"`, []string{"02468", "13579"}[k])
		call(
			crawled.crawl(half, 0, "--scope", scope, "--contact", "https://example.org/"+filepath.Base(half))...).want(
			t, command.ExitDone)
	}
	sum, err := child.Stop()
	if err != nil {
		t.Fatal(err)
	}
	v := sum.Verdict
	if !v.Sound() || v.Coverage != 1 || v.Held != v.Expected || v.Stored != v.Expected || v.OverlapHeld != 0 {
		t.Errorf("%+v", v)
	}
	if len(v.Shares) != 2 || v.Shares[0].Hosts != 5 || v.Shares[1].Hosts != 5 ||
		v.Shares[0].Pages+v.Shares[1].Pages != v.Expected {
		t.Errorf("shares %+v of %d pages", v.Shares, v.Expected)
	}
}
