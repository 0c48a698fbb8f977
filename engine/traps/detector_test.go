package traps

import (
	"bytes"
	"fmt"
	"testing"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps/novelty"
)

// A seed, a robots.txt, a URL that was tried and one that was delayed are never delayed.
func TestMayDelay(t *testing.T) {
	for _, test := range []struct {
		url  queued.URL
		want bool
	}{
		{queued.URL{}, true},
		{queued.URL{Seed: true}, false},
		{queued.URL{Delayed: true}, false},
		{queued.URL{Tries: 1}, false},
		{queued.URL{RobotsOf: []byte("http://a.test")}, false},
	} {
		if got := MayDelay(&test.url); got != test.want {
			t.Errorf("%+v: %v", test.url, got)
		}
	}
}

// small are options of a small Detector.
func small() *Options { return &Options{NoveltyMemory: 1 << 20, TrapFloor: 10} }

// A path that repeats its folders is skipped, except that of a seed.
func TestRepeatsFolders(t *testing.T) {
	url := []byte("http://a.test/x/y/x/y/x/y/z")
	for _, test := range []struct {
		seed bool
		most int
		want bool
	}{{false, 2, true}, {false, 0, false}, {false, 3, false}, {true, 2, false}} {
		if got := RepeatsFolders(url, &queued.URL{Seed: test.seed}, test.most); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// readPages feeds a detector with pages of one part of a site that all say the same.
func readPages(d *Detector, n int) {
	words := new(novelty.Words)
	for i := range n {
		d.NotePage(fmt.Appendf(nil, "http://a.test/calendar/day-%d", i), i == 0, novelty.Page{IsDuplicate: true}, words)
	}
}

// A detector delays URLs of a part without new content, and its state keeps that.
func TestDetector_delaysAPartWithoutNewContent(t *testing.T) {
	d := New(small(), 1, nil)
	readPages(d, 1000)
	path := []byte("/calendar/day-2000")
	for name, d := range map[string]*Detector{"fresh": d, "of the state": New(small(), 1, d.State())} {
		if group := d.GroupOf([]byte("http://a.test")); !d.ShouldDelay(group, path, new(queued.URL)) {
			t.Errorf("%s: a URL of the part is not delayed", name)
		} else if d.ShouldDelay(group, path, &queued.URL{Seed: true}) {
			t.Errorf("%s: a seed is delayed", name)
		}
		if d.ShouldDelay(d.GroupOf([]byte("http://b.test")), path, new(queued.URL)) {
			t.Errorf("%s: a URL of another site is delayed", name)
		}
	}
}

// Explain says what follows for the URLs of a part, and changes nothing by being asked.
func TestDetector_explainsItsJudgement(t *testing.T) {
	d := New(small(), 1, nil)
	url := []byte("http://a.test/calendar/day-2000")
	if s := d.Explain(url); s.Part != nil || s.Domain != nil || Words(s.Part) != "too few pages to judge" {
		t.Errorf("before any page: %+v", s)
	}
	readPages(d, 1000)
	before := d.State()
	p := d.Explain(url).Part
	if p == nil || !p.Poor || p.Exempt || p.Endless || p.NewPages > p.Pages/8 || p.Pages < 64 || p.Level != 1 {
		t.Fatalf("%+v", p)
	}
	if said := Words(p); said != "little new: its URLs wait behind all others of the site" {
		t.Error(said)
	}
	if !bytes.Equal(before, d.State()) {
		t.Error("the question has changed the state")
	}
}

// A disabled detector delays and skips nothing, and has no state.
func TestDetector_disabledDelaysNothing(t *testing.T) {
	d := New(&Options{Novelty: NoveltyOff, NoveltyMemory: 1 << 20, TrapFloor: 10}, 1, nil)
	readPages(d, 1000)
	group := d.GroupOf([]byte("http://a.test"))
	if d.Enabled() || d.State() != nil || d.ShouldDelay(group, []byte("/calendar/day-2000"), new(queued.URL)) {
		t.Error("it is not disabled")
	}
	if _, fetch := d.ReleaseDelayed(group, []byte("/calendar/day-2000")); !fetch {
		t.Error("a delayed URL is skipped")
	}
	if verdict, _ := d.AdmitSite([]byte("http://a.test"), false); verdict != novelty.MemberAccepted {
		t.Errorf("a site: %v", verdict)
	}
}

// Without --novelty the list of skipped URLs depends on --max-path-repeats alone.
func TestOptions_skipSettings(t *testing.T) {
	o := Options{MaxPathRepeats: 3, TrapFloor: 10}
	if s := o.SkipSettings(); s.Floor != 10 || s.Repeats != 3 {
		t.Errorf("%+v", s)
	}
	o.Novelty = NoveltyOff
	if s := o.SkipSettings(); s.Floor != 0 || s.Repeats != 3 {
		t.Errorf("off: %+v", s)
	}
}

// The options change while the crawl runs. Of what was skipped, the strictest setting is kept: a later run with a laxer
// one queues it again.
func TestDetector_changes(t *testing.T) {
	o := Options{Novelty: NoveltyOff, NoveltyMemory: 1 << 20, TrapFloor: 100}
	d, deep := New(&o, 1, nil), []byte("/x/x/x/x/x/")
	if d.Enabled() || d.RepeatsFolders(deep, new(queued.URL)) || d.SkipSettings() != o.SkipSettings() {
		t.Error("at the start")
	}
	strict := Options{Novelty: NoveltyOn, TrapFloor: 10, MaxPathRepeats: 2}
	d.Change(&strict)
	if !d.Enabled() || !d.RepeatsFolders(deep, new(queued.URL)) || d.SkipSettings() != strict.SkipSettings() {
		t.Errorf("stricter: %+v", d.SkipSettings())
	}
	d.Change(&o)
	if d.Enabled() || d.RepeatsFolders(deep, new(queued.URL)) || d.SkipSettings() != strict.SkipSettings() {
		t.Errorf("laxer again: %+v", d.SkipSettings())
	}
}
