//go:build scenario

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/cli/command"
)

// TestDemo runs the small demo with this binary as its simulated web; variables meant for one must not reach the other.
func TestDemo(t *testing.T) {
	t.Setenv(asProgram, "1")
	t.Setenv("ORBWEAVER_SEED_COUNT", "many")
	dir := filepath.Join(t.TempDir(), "demo")
	left := filepath.Join(dir, "warc", "left-by-another-demo")
	if err := os.MkdirAll(filepath.Dir(left), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, left, "")
	writeFile(t, filepath.Join(dir, "report.json"), "{}")
	m := call("demo", "--small", "--dir", dir, "--json", "--progress", "none").want(t, command.ExitDone).object(t)
	if m["coverage"] != 1.0 || m["overlap"] != 0.0 {
		t.Errorf("coverage %v, overlap %v", m["coverage"], m["overlap"])
	}
	report, _ := m["report"].(map[string]any)
	if reason, _ := report["reason"].(string); !strings.HasPrefix(reason, lifecycle.ReasonComplete) {
		t.Errorf("the demo ended with %q instead of %q", reason, lifecycle.ReasonComplete)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("the directory was not made again")
	}
}
