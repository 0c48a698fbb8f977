package counters

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"testing"

	"orbweaver/internal/golden"
)

// Every counter is loaded and stored, and comes back from the manifest.
func TestTotals_surviveLiveAndJSON(t *testing.T) {
	var want, read Totals
	golden.Fill(&want)
	var live Live
	live.Store(want)
	if got := live.Load(); got != want {
		t.Errorf("stored and loaded: got %+v, want %+v", got, want)
	}
	if got := live.Finished.Load(); got != want.Finished() || got == 0 {
		t.Errorf("finished: got %d, want %d", got, want.Finished())
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &read); err != nil || read != want {
		t.Errorf("%s: %v, %+v", text, err, read)
	}
}

// Sums stay finite whatever is added, live or from the journal: JSON has no infinity, so that the manifest could not be
// written any more.
func TestSums_stayFinite(t *testing.T) {
	var sums Sums
	for _, n := range []float64{1e308, 1e308, math.Inf(1)} {
		sums.Add("up", n)
		sums.Add("down", -n)
	}
	entry := AppendSum(AppendSum(AppendSum(nil, "up", 1e308), "nothing", math.NaN()), "both", math.Inf(1))
	if err := sums.AddAll(AppendSum(entry, "both", math.Inf(-1))); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"up": math.MaxFloat64, "down": -math.MaxFloat64, "nothing": 0, "both": 0}
	if got := sums.Load(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := json.Marshal(sums.Load()); err != nil {
		t.Error(err)
	}
}

// A recipe of CONTRIBUTING.md: a field of Reported is all that a counter takes. Every field has its name in the report,
// and no two of them the same in the report, the manifest or the metrics.
func TestRecipe_aCounterIsOneField(t *testing.T) {
	names := make(map[string]bool)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Reported[int64]]()) {
		for _, key := range []string{"json", "metric"} {
			name := f.Tag.Get(key)
			if name != "" && names[key+name] || name == "" && key == "json" {
				t.Errorf("%s: %s %q", f.Name, key, name)
			}
			names[key+name] = true
		}
		if (f.Tag.Get("metric") == "") != (f.Tag.Get("help") == "") {
			t.Errorf("%s: a metric has help, and nothing else has", f.Name)
		}
	}
	var live Live
	for _, f := range fieldsOf(&live.Set) {
		if names["saved"+f.name] {
			t.Errorf("%s stands twice in the manifest", f.name)
		}
		names["saved"+f.name] = true
	}
}

func BenchmarkLoad(b *testing.B) {
	var live Live
	b.ReportAllocs()
	for b.Loop() {
		_ = live.Load()
	}
}
