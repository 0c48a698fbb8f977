package control

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The alert rules and the dashboard in docs use metrics that there are.
func TestMonitoring_theFilesUseMetricsThatThereAre(t *testing.T) {
	text := get(t, filled{new(fake)}, "/metrics")
	for _, file := range []string{"alerts.yml", "alerts.test.yml", "grafana-dashboard.json", "monitoring.md"} {
		content, err := os.ReadFile("../../docs/" + file)
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
