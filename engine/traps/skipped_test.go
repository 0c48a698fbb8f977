package traps

import (
	"bytes"
	"testing"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/vfs"
)

// What leaves out less is what may fetch something that was left out before.
func TestWhichSettingsLeaveOutLess(t *testing.T) {
	base := SkipSettings{Floor: 1000, Repeats: 4}
	for now, want := range map[SkipSettings]bool{
		base: false, {Floor: 999, Repeats: 4}: false, {Floor: 1000, Repeats: 3}: false, {Floor: 1001, Repeats: 4}: true,
		{Floor: 0, Repeats: 4}:    true,
		{Floor: 1000, Repeats: 0}: true, {Floor: 1000, Repeats: 5}: true,
	} {
		if got := now.LeavesLess(base); got != want {
			t.Errorf("%+v after %+v: %v", now, base, got)
		}
	}
	if base.LeavesLess(SkipSettings{}) {
		t.Error("without limits nothing was left out")
	}
}

// An entry of the list brings back the item, also while entries are added behind it.
func TestTheListOfURLsLeftOutGivesBackItsItems(t *testing.T) {
	disk := vfs.NewMem(1)
	l, err := OpenSkipped(disk, "frontier", nil, SkipSettings{Floor: 5})
	if err != nil {
		t.Fatal(err)
	}
	it := queued.URL{
		Delayed:       true,
		Depth:         7,
		ListedByIndex: true,
		Via:           []byte("http://a.test/"),
		HopPath:       []byte("LL"),
		Rest:          []byte("http://a.test/x?y=1"),
	}
	for range 3 {
		if err := l.Add(&it, RuleEndlessPart, novelty.Evidence{Level: 2, Fetched: 10_000, Streak: 5000}); err != nil {
			t.Fatal(err)
		}
	}
	checkpoint, err := l.Checkpoint(SkipSettings{Floor: 5})
	if err != nil {
		t.Fatal(err)
	}
	if l, err = OpenSkipped(disk, "frontier", checkpoint, SkipSettings{Floor: 6}); err != nil || l.RequeueCount != 3 {
		t.Fatalf("%v: %d to be queued again", err, l.RequeueCount)
	}
	for range 3 {
		item, rule, err := l.Next()
		if err != nil || rule != RuleEndlessPart {
			t.Fatal(rule, err)
		}
		longer := queued.URL{Rest: []byte("http://b.test/another/one/that/is/longer")}
		if err := l.Add(&longer, RulePathRepeats, novelty.Evidence{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(item, queued.Append(nil, &it)) {
			t.Fatalf("%q", item)
		}
	}
	if l.RequeueCount != 0 || l.Queue.Len() != 3 {
		t.Errorf("%d to be queued again, %d listed", l.RequeueCount, l.Queue.Len())
	}
	if err := l.Queue.Close(); err != nil {
		t.Error(err)
	}
}

// Entries of the former version have one number less.
func TestAnEntryOfTheFormerListIsRead(t *testing.T) {
	entry := append(
		[]byte{skipVersionNoLed, byte(RuleEndlessPart), 2, 200, 1, 7},
		queued.Append(nil, &queued.URL{Delayed: true, Rest: []byte("http://a.test/x")})...)
	s, _, err := DecodeSkipped(entry)
	if want := (novelty.Evidence{Level: 2, Fetched: 200, Streak: 7}); err != nil || s.URL != "http://a.test/x" ||
		s.Evidence != want {
		t.Errorf("%+v, %v", s, err)
	}
}

// Whatever bytes are in the list, reading them has an end and no panic.
func FuzzSkipped(f *testing.F) {
	f.Add([]byte{skipVersion, byte(RuleEndlessPart), 2, 200, 1, 7, 0, 0, 5, 'h', 't', 't', 'p'})
	f.Add([]byte{skipVersion, byte(RuleCount), 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, item, err := DecodeSkipped(b)
		if err == nil && (len(item) == 0 || s.Rule == RuleNone || s.Because() == "") {
			t.Errorf("%+v, %q", s, item)
		}
	})
}
