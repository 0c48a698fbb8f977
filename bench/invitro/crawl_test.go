package invitro

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
)

func smallWorld(seed uint64) simweb.Config {
	c := simweb.Plain()
	c.Seed, c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = seed, 20, 7, 8, 30, 2000
	return c
}

func TestCrawl_aPlainWebIsFetchedWholeOnceAndPolitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, err := NewRig(smallWorld(1), true)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		report, err := rig.Crawl(t.Context(), rig.Config(), rig.FS)
		if cerr := rig.Net.Close(); cerr != nil {
			t.Error(cerr)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("virtual time %v, %d pages, %s %s", time.Since(start), report.PagesStored, report.State, report.Reason)
		v, err := rig.Judge(simweb.Promise{HostDelay: 4 * time.Second, IPDelay: 500 * time.Millisecond}, rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		v.Print(t.Output())
		if !v.Sound() {
			t.Errorf("%+v", report)
		}
	})
}
