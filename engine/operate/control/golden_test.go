package control

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/golden"
)

// filled is a crawl whose report has a value everywhere.
type filled struct{ *fake }

func (filled) Report() (r report.Report) {
	golden.Fill(&r)
	r.State = lifecycle.Running
	return r
}

// get returns the body of an answer.
func get(t *testing.T, c Crawl, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	serving(c).ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d", path, w.Code)
	}
	return w.Body.String()
}

// held checks that a golden list of names is among those of this version.
func held(t *testing.T, file, sum string, names []string) {
	t.Helper()
	if golden.Writing() {
		golden.Add(t, file, []byte(strings.Join(names, "\n")))
	}
	golden.Contains(t, names, strings.Split(string(golden.Read(t, file, sum)), "\n"))
}

// Each metric of the crawl has the name, the type and the labels that it had. What the Go runtime tells of itself is
// not ours.
func TestGolden_metrics(t *testing.T) {
	var names []string
	text := get(t, filled{new(fake)}, "/metrics")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "# TYPE orbweaver_") {
			names = append(names, strings.TrimSpace(line))
		}
		if name, labels, ok := strings.Cut(line, "{"); ok && strings.HasPrefix(line, "orbweaver_") {
			label, _, _ := strings.Cut(labels, "=")
			names = append(names, name+" "+label)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	held(t, "metrics-2.txt", "d3ef2d275176ef0049b5741962da915d0e91e1cd871c323941e231824bc601e1", names)
	held(t, "metrics-3.txt", "c995cca1936e9e2af32d409432e5fcfad7cb41af69f889d62020dc3caa208606", names)
}

// The answers of the control API have the names that they had.
func TestGolden_answers(t *testing.T) {
	var names []string
	for _, path := range []string{"/status", "/rules"} {
		for _, name := range golden.Names(t, []byte(get(t, filled{new(fake)}, path))) {
			names = append(names, path+" "+name)
		}
	}
	for path, body := range map[string]string{
		"/pause": "", "/resume": "", "/stop": "", "/leave": "", "/add": "bad", "/block": "b c", "/rule": "a.test x",
		"/set": "a=1",
	} {
		w := ask(new(fake), http.MethodPost, path, strings.NewReader(body))
		for _, name := range golden.Names(t, w.Body.Bytes()) {
			names = append(names, path+" "+name)
		}
	}
	slices.Sort(names)
	held(t, "answers-2.txt", "033bf95085d724fa58fc66ad2012badb15806fa669f3127b4dd9fc2baf1838f4", names)
}
