package control

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The alert rules and the dashboard in docs use metrics that there are.
func TestMonitoring_theFilesUseMetricsThatThereAre(t *testing.T) {
	text := get(t, filled{new(fake)}, "/metrics")
	for _, file := range []string{"alerts.yml", "alerts.test.yml", "grafana-dashboard.json", "monitoring.md"} {
		content, err := os.ReadFile("../../../docs/" + file)
		if err != nil {
			t.Fatal(err)
		}
		used := regexp.MustCompile(`(orbweaver|process|go)_[a-z0-9_]+`).FindAllString(string(content), -1)
		if len(used) == 0 {
			t.Errorf("docs/%s uses no metric", file)
		}
		for _, name := range used {
			if !strings.Contains(text, "\n"+name+"{") && !strings.Contains(text, "\n"+name+" ") &&
				!strings.Contains(text, "# TYPE "+name+" ") {
				t.Errorf("docs/%s uses %s, which is no metric", file, name)
			}
		}
	}
}

// grafanaDashboard is the part of the dashboard that a Grafana needs to show something. Grafana ignores fields that it
// does not know, and shows a panel without data when a reference leads nowhere.
type grafanaDashboard struct {
	UID           string `json:"uid"`
	SchemaVersion int    `json:"schemaVersion"`
	Templating    struct {
		List []struct{ Name, Type string } `json:"list"`
	} `json:"templating"`
	Panels []grafanaPanel `json:"panels"`
}

type grafanaPanel struct {
	ID         int               `json:"id"`
	Type       string            `json:"type"`
	Title      string            `json:"title"`
	Datasource grafanaDatasource `json:"datasource"`
	GridPos    struct{ X, Y, W, H int }
	Targets    []struct {
		RefID      string            `json:"refId"`
		Expr       string            `json:"expr"`
		Datasource grafanaDatasource `json:"datasource"`
	} `json:"targets"`
	Panels []json.RawMessage `json:"panels"` // of a closed row
}

type grafanaDatasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// faults are the references of a panel that lead nowhere. known are the variables of the dashboard.
func (p *grafanaPanel) faults(known []string) (list []string) {
	add := func(format string, args ...any) {
		list = append(list, fmt.Sprintf("%q: ", p.Title)+fmt.Sprintf(format, args...))
	}
	if !slices.Contains([]string{"row", "timeseries", "stat", "heatmap"}, p.Type) {
		add("is a %q, which its file was not checked for", p.Type)
	}
	if g := p.GridPos; g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
		add("is at %+v; the grid has 24 columns", g)
	}
	if p.Type == "row" {
		if len(p.Targets) > 0 || len(p.Panels) > 0 {
			add("is a row with panels or targets of its own")
		}
		return list
	}
	if len(p.Targets) == 0 || p.Title == "" {
		add("has no target or no title")
	}
	source, refs := grafanaDatasource{"prometheus", "${datasource}"}, map[string]bool{}
	for _, t := range p.Targets {
		if t.Datasource != source || p.Datasource != source {
			add("asks %v and %v, want %v", p.Datasource, t.Datasource, source)
		}
		if refs[t.RefID] || t.RefID == "" || t.Expr == "" {
			add("target %q is empty or there twice", t.RefID)
		}
		refs[t.RefID] = true
		for _, m := range regexp.MustCompile(`\$\{?([a-z_]+)`).FindAllStringSubmatch(t.Expr, -1) {
			if !slices.Contains(known, m[1]) {
				add("uses the variable %s, which there is not", m[1])
			}
		}
	}
	return list
}

// The dashboard has the structure of the current schema of Grafana: each panel has its number, its place on the grid,
// and targets that ask the chosen data source with variables that there are.
func TestMonitoring_theDashboardLeadsSomewhere(t *testing.T) {
	content, err := os.ReadFile("../../../docs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d grafanaDashboard
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	if d.SchemaVersion != 42 || d.UID == "" || len(d.Panels) < 30 {
		t.Errorf("schema %d, uid %q, %d panels", d.SchemaVersion, d.UID, len(d.Panels))
	}
	known := []string{"__rate_interval", "__range", "__interval"}
	for _, v := range d.Templating.List {
		known = append(known, v.Name)
	}
	if !slices.Contains(known, "datasource") {
		t.Error("there is no variable for the data source")
	}
	numbers, places := map[int]string{}, map[[2]int]string{}
	for _, p := range d.Panels {
		for _, fault := range p.faults(known) {
			t.Error(fault)
		}
		if other, ok := numbers[p.ID]; ok || p.ID == 0 {
			t.Errorf("%q and %q have the number %d", p.Title, other, p.ID)
		}
		numbers[p.ID] = p.Title
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other, ok := places[at]; ok {
					t.Errorf("%q and %q overlap", p.Title, other)
				}
				places[at] = p.Title
			}
		}
	}
}
