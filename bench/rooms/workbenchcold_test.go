package rooms

import (
	"io"
	"testing"
)

func TestWorkbenchCold(t *testing.T) {
	r, err := WorkbenchCold(t.Context(), Options{Hosts: 60_000, Dir: t.TempDir() + "/bench", Seed: 1, Say: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 2 || r.Runs[0].Points[0].Items != 60_000 || len(r.Runs[0].Figures) == 0 {
		t.Errorf("%+v", r)
	}
	for _, run := range r.Runs {
		if p := run.Points[0]; p.PerSecond <= 0 {
			t.Errorf("%s: %+v", run.Name, p)
		}
	}
}
