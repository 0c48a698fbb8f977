package derivation

import (
	"testing"
	"time"

	"orbweaver/derive"
)

// The status line fits its terminal: what is less telling is left out first.
func TestStatusOf(t *testing.T) {
	reading := derive.Progress{Files: 3, FilesOf: 20, Bytes: 300 << 20, BytesOf: 2 << 30, Records: 70_000}
	combining := reading
	combining.Combining = "the graph of pages: arcs of run 3 of 40"
	for _, c := range []struct {
		progress derive.Progress
		columns  int
		want     string
	}{
		{reading, 80, "3 of 20 files  300 MiB of 2.0 GiB  70,000 records  30 MiB/s | reading"},
		{reading, 50, "3 of 20 files  300 MiB of 2.0 GiB | reading"},
		{reading, 30, "300 MiB of 2.0 GiB | reading"},
		{combining, 80, "combining the graph of pages: arcs of run 3 of 40"},
	} {
		if got := statusOf(c.progress, 10*time.Second).Fit(c.columns); got != c.want {
			t.Errorf("%d columns: %q, want %q", c.columns, got, c.want)
		}
	}
}
