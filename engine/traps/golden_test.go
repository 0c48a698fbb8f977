package traps

import (
	"testing"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/golden"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/virtualize/diskq"
)

// An entry of the list of URLs left out is written as it was, and read as it was.
func TestGolden_skippedURL(t *testing.T) {
	q, err := diskq.Open(vfstest.WithDir(t, "d"), diskq.Options{Dir: "d"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &SkippedList{Queue: q}
	why := novelty.Evidence{Level: 2, Fetched: 300, Streak: 40, Found: 5000}
	if err := l.Add(&queued.URL{Depth: 9, Rest: []byte("http://a.test/day/1")}, RuleEndlessPart, why); err != nil {
		t.Fatal(err)
	}
	got, _, err := DecodeSkipped(
		golden.Compare(t, "skipped-2", "3d77d1e19b60ee9f46304925674ed168ef035387e7907b05cff84aff997ddaaf", l.added),
	)
	if want := (SkippedURL{URL: "http://a.test/day/1", Evidence: why, Depth: 9, Rule: RuleEndlessPart}); err != nil ||
		got != want {
		t.Errorf("%+v, %v", got, err)
	}
}
