package gossip

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASmallGroup(t *testing.T) {
	o := Options{Sizes: []int{5}, Agents: 10, Deaths: 2, Quiet: time.Second, Pace: 0.2, Seed: 1, Say: io.Discard}
	r, err := Simulate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	run := r.Runs[0]
	if run.Groups != 2 || run.Built.Count != 2 || run.Death.Count != 8 || run.Agreed.Count != 2 || run.Return.Count != 8 || run.Welcomed.Count != 2 {
		t.Errorf("counted %+v", run)
	}
	// A busy machine makes times longer, so nothing bounds them from above.
	if run.Death.Mean < 3*time.Second || run.Death.Worst < run.Death.Mean || run.DatagramsPerSecond < 1 {
		t.Errorf("measured %+v", run)
	}
	if run.Ring.Strays != 0 || run.Ring.Moved != run.Ring.Share || run.Ring.Share < 0.15 || run.Ring.Share > 0.25 {
		t.Errorf("the ring: %+v", run.Ring)
	}
	var out bytes.Buffer
	if r.Print(&out); !strings.Contains(out.String(), "5 agents a group") {
		t.Errorf("printed %q", out.String())
	}
	data, err := json.Marshal(r)
	if err != nil || !bytes.Contains(data, []byte(`"runs":[{"size":5`)) {
		t.Errorf("%s: %v", data, err)
	}
}

func TestOptionsTellAllFaults(t *testing.T) {
	_, err := Simulate(t.Context(), Options{Sizes: []int{1}, Pace: -1})
	for _, word := range []string{"a group of 1", "0 agents", "0 deaths", "Quiet 0s", "pace of -1"} {
		if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), word) {
			t.Errorf("nothing about %s: %v", word, err)
		}
	}
}
