package operator

import (
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/options"
)

// smallest are the settings that leave out pages of a healthy web, and how many pages they leave.
func smallest() map[string]int {
	return map[string]int{"max-depth=0": 3, "max-url=16": 0, "max-body=1": 3}
}

// The smallest value that each number of the settings takes, zero among them, lets a crawl of healthy sites fetch all
// pages, unless it limits the pages themselves.
func TestExtremes_theSmallestValueOfEachSettingLetsAHealthyCrawlFinish(t *testing.T) {
	tried := 0
	for _, s := range options.All(new(engine.Config)) {
		least := s.Tag.Get("least")
		if least == "1" && s.Tag.Get("default") == "7d" {
			least = "1ns" // the unit of durations in tags
		}
		for _, text := range []string{"0", least} {
			if !s.Value.CanInt() || s.Set(text) != nil {
				continue // it is no number, or refused with its range
			}
			tried++
			synctest.Test(t, func(t *testing.T) { crawlWith(t, s.Name, text) })
		}
	}
	if tried < 50 {
		t.Errorf("only %d values were tried", tried)
	}
}

// crawlWith crawls three healthy sites of five pages with one setting.
func crawlWith(t *testing.T, name, text string) {
	o := &testbed.OutageWeb{Sites: 3, Pages: 5, Condition: testbed.Lasting(testbed.Condition{}, 0)}
	o.Begin()
	rig, cfg := o.Config(t)
	if s, found := options.Find(&cfg, name); !found || s.Set(text) != nil {
		t.Fatalf("%s=%s is refused", name, text)
	}
	want, isLess := smallest()[name+"="+text]
	if !isLess {
		want = 15
	}
	state := lifecycle.Finished
	if want == 0 {
		state = lifecycle.Failed
	}
	if r := o.Crawl(t, rig, cfg, rig.FS); r.State != state || len(o.Served) != want {
		t.Errorf("%s=%s: %s (%s) with %d pages of %d", name, text, r.State, r.Reason, len(o.Served), want)
	}
}
