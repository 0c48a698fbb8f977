package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
)

// A crawl has a date at which it ends. Status and crawl.toml have it, a change keeps it, and a resume after it ends at
// once. The date of a new crawl must be to come.
func TestMaxTime_isADate(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	later := time.Now().Add(100 * time.Hour).Truncate(time.Minute)
	done := make(chan result, 1)
	go func() { done <- call(w.crawl(dir, time.Second, "--max-time", later.Format("2006-01-02T15:04"))...) }()
	soon(t, "status names the date", func() bool {
		r := call("ctl", "--dir", dir, "status")
		return strings.Contains(r.out, "--max-time "+later.Format(time.RFC3339))
	})
	kept := func(date time.Time) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, settingsName))
		if want := fmt.Sprintf("max-time = '%s'\n", date.Format(time.RFC3339)); err != nil ||
			!strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s, %v", want, b, err)
		}
	}
	kept(later)
	call("ctl", "--dir", dir, "set", "max-time=2020-01-01").want(t, command.ExitFailed, "has passed")
	call("ctl", "--dir", dir, "set", "max-time=1.12.2026").want(t, command.ExitFailed, "2026-12-01T06:00+01:00")
	call("ctl", "--dir", dir, "set", "max-time=2100-01-01T06:00:00+01:00").want(
		t, command.ExitDone, "max-time is now 2100-01-01T06:00:00+01:00, was "+later.Format(time.RFC3339))
	call("ctl", "--dir", dir, "undo").want(t, command.ExitDone, "max-time is now "+later.Format(time.RFC3339))
	call("ctl", "--dir", dir, "stop").want(t, command.ExitDone)
	<-done
	kept(later)
	call("crawl", "--dir", dir, "--progress", "none", "--max-time", "2020-01-01").want(
		t, command.ExitDone, "max-time reached", "with a longer or later --max-time")
	call("crawl", "--dir", dir, "--progress", "none", "--refresh").want(t, command.ExitUsage, "--max-time: 2020-01-01",
		"has passed: give a later date")
	other := filepath.Join(dir, "other.toml")
	writeFile(t, other, "max-time = 2020-01-01T06:00:00Z\n")
	call("crawl", "--dir", filepath.Join(dir, "c"), "--config", other, "https://a.example/").want(
		t, command.ExitUsage, "--max-time: 2020-01-01T06:00:00Z has passed")
	call("crawl", "--dir", filepath.Join(dir, "c"), "--max-time", "tomorrow", "https://a.example/").want(
		t, command.ExitUsage, `--max-time: "tomorrow" is neither a running time such as 12h or 7d nor a date`)
}
