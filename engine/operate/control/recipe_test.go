package control

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"orbweaver/engine/operate/report"
)

// A recipe of CONTRIBUTING.md: one field with tags is a number of the report and a metric. This adds a counter, a gauge
// and a counter with a label to the report, and finds them in its JSON and among its metrics.
func TestRecipe_aFieldOfTheReportIsAMetric(t *testing.T) {
	type added struct {
		Answers int64            `json:"answers" metric:"answers_total" help:"Answers."`
		Depth   float64          `json:"depth" metric:"depth" help:"Depth."`
		Colours map[string]int64 `json:"colours" metric:"colours_total" label:"colour" help:"Colours."`
	}
	type extended struct {
		report.Report
		added
	}
	r := extended{new(fake).Report(), added{7, 0.5, map[string]int64{"red": 3}}}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"answers":7`, `"depth":0.5`, `"red":3`, `"pages_stored":12`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %s: %s", want, text)
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(extendedCollector{metricsOf(reflect.TypeFor[struct {
		report.Report
		Added added
	}]()), reflect.ValueOf(struct {
		report.Report
		Added added
	}{r.Report, r.added})})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]string)
	for _, f := range families {
		kinds[f.GetName()] = f.GetType().String()
	}
	for name, kind := range map[string]string{
		"orbweaver_answers_total": "COUNTER", "orbweaver_depth": "GAUGE", "orbweaver_colours_total": "COUNTER",
		"orbweaver_pages_stored_total": "COUNTER",
	} {
		if kinds[name] != kind {
			t.Errorf("%s: %q, want %q", name, kinds[name], kind)
		}
	}
}

type extendedCollector struct {
	list   []metric
	report reflect.Value
}

func (extendedCollector) Describe(chan<- *prometheus.Desc) {}

func (c extendedCollector) Collect(out chan<- prometheus.Metric) { collect(out, c.list, c.report) }
