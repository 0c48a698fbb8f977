package rooms

import (
	"io"
	"testing"
)

func TestWorkbench(t *testing.T) {
	r, err := Workbench(t.Context(), Options{Hosts: 5000, Dir: t.TempDir() + "/bench", Seed: 1, Say: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 4 || r.Runs[0].Points[0].Items != 5000 {
		t.Errorf("%+v", r)
	}
	for _, run := range r.Runs[:3] {
		if p := run.Points[0]; p.PerSecond <= 0 {
			t.Errorf("%s: %+v", run.Name, p)
		}
	}
	if len(r.Runs[3].Figures) == 0 {
		t.Error("no figures of cuts")
	}
}
