//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/cmd/orbweaver/internal/command"
)

// The command of --on-warc-close runs for each closed WARC file until it succeeds. Its output is in the log. The next
// run does not run it again.
func TestOnWarcClose_runsForEachFile(t *testing.T) {
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	seen, script := filepath.Join(t.TempDir(), "seen"), filepath.Join(t.TempDir(), "script")
	writeFile(t, script, `test -e '`+seen+`' || { touch '`+seen+`'; echo not yet >&2; exit 3; }
test "$1" = "$WARC_FILE" && test -e "$WARC_INDEX" && test "$(wc -c <"$1")" -eq "$WARC_LENGTH" || exit 4
basename "$1" >> '`+seen+`'
`)
	args := w.crawl(dir, 0, "--warc-compression", "none", "--warc-size", "64KiB", "--on-warc-close", "sh "+script)
	call(args...).want(t, command.ExitDone, "not yet", "exit status 3", "WARC file sent")
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v: %v", files, err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	got := strings.Fields(readText(t, seen))
	slices.Sort(got)
	if !slices.Equal(got, files) {
		t.Errorf("the command has got %v, want %v", got, files)
	}
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
	call(args...).want(t, command.ExitDone)
	if again := strings.Fields(readText(t, seen)); len(again) != len(files) {
		t.Errorf("after the second run: %v", again)
	}
}

// A command that never succeeds does not hold up the end of a crawl for more than --upload-wait.
func TestOnWarcClose_waitsForALimitedTime(t *testing.T) {
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	began := time.Now()
	call(w.crawl(dir, 0, "--max-pages", "3", "--on-warc-close", "sleep 600", "--upload-wait", "1s")...).
		want(t, command.ExitDone, "WARC files are not sent yet")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
