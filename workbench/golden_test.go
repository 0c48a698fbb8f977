package workbench

import (
	"bytes"
	"testing"

	"orbweaver/internal/golden"
)

// A workbench with sites in all states is saved in the checked-in bytes. After Load and Save the bytes are the same.
func TestGolden_snapshot(t *testing.T) {
	w, saved := full(t, 60)
	want := golden.Compare(t, "bench-3", "fafe4971ea387a24fba2a76cef08c8e2b73ca85c37c1ebb27c3541587ec5d38e", saved)
	got, err := Load(Options{PathsPerVisit: 2}, readInt, bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	check(t, got)
	a, b := w.Counts(), got.Counts()
	if a.Sites != b.Sites || a.Queued+a.InVisits != b.Queued || a.Parked != b.Parked || a.Deferred != b.Deferred ||
		a.Dead != b.Dead ||
		a.IPs != b.IPs {
		t.Errorf("made %+v, loaded %+v", a, b)
	}
	var again bytes.Buffer
	if err := save(got, &again, appendInt); err != nil || again.Len() != len(want) {
		t.Errorf("saved again it has %d bytes, not %d: %v", again.Len(), len(want), err)
	}
}
