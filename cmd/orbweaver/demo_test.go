package main

import (
	"os"
	"path/filepath"
	"testing"

	"orbweaver/internal/cli/command"
)

func TestDemoRemovesNothingOfOthers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"thesis.txt", settingsName} {
		file := filepath.Join(dir, name)
		writeFile(t, file, "")
		writeFile(t, filepath.Join(dir, "report.json"), "{}")
		call("demo", "--small", "--dir", dir).want(t, command.ExitUsage, "--dir", "give another directory")
		t.Setenv("ORBWEAVER_DIR", dir)
		call("demo", "--small").want(t, command.ExitUsage, "--dir", "give another directory")
		if err := os.Remove(file); err != nil {
			t.Error("gone already:", err)
		}
	}
}
