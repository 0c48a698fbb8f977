package operator

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/page/filter"
	"orbweaver/internal/simweb"
)

// listFile is a program's setting that names files of hosts.
type listFile struct {
	ExcludeHosts []string `help:"File of hosts."`
}

// Settings that are changed in flight act in the running crawl: checkpoints come more often, and a file of hosts that
// was changed is in force when it is read again. Another file is refused, as is one with a fault.
func TestSettings_actInTheRunningCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+930, simweb.Plain()), true)
		defer rig.Net.Close()
		cfg := rig.Config()
		cfg.Intervals.Checkpoint, cfg.Admission.Requisites = time.Hour, admission.RequisitesOff
		lines := "unknown.test\n"
		seams := rig.Seams(rig.FS)
		seams.OwnSettings = []changes.Own{{
			Target: &listFile{[]string{"hosts.txt"}},
			Read: func(names []string) (filter.Rules, error) {
				return filter.ReadRules(names[0], strings.NewReader(lines))
			},
		}}
		e, err := engine.Open(cfg, seams)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(20 * time.Second)
		before := e.Report().Checkpoints
		if err := testbed.Set(t, e, "checkpoint", "2s"); err != nil {
			t.Error(err)
		}
		testbed.Wait(11 * time.Second)
		if n := e.Report().Checkpoints - before; n < 4 || n > 6 {
			t.Errorf("%d checkpoints in 11 s, one every 2 s", n)
		}
		away := busiest(t, e)
		for value, want := range map[string]string{"other.txt": "use 'ctl set --reload'", "hosts.txt": "hosts.txt:2: "} {
			lines = away + "\nno host\n"
			if err := testbed.Set(t, e, "exclude-hosts", value); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", value, err)
			}
		}
		lines = away + "\n"
		if err := testbed.Set(t, e, "exclude-hosts", "hosts.txt"); err != nil {
			t.Error(err)
		}
		testbed.Wait(5 * time.Second) // what was under way has ended
		asked := rig.Log.Len()
		testbed.Wait(time.Minute)
		e.Operator().Stop()
		r := testbed.WaitEnd(t, rig, e, done)
		n := 0
		for a := range rig.Log.All() {
			if n++; n > asked && a.Host == away {
				t.Errorf("a request to %s after the file was read again", away)
				break
			}
		}
		if n == asked || r.Outcomes["filtered"] == 0 {
			t.Errorf("%d requests since; outcomes %v", n-asked, r.Outcomes)
		}
	})
}
