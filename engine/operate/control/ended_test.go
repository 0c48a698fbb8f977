package control

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
)

// The pages of a crawl that has ended show its last state and the history of its numbers, whenever they are asked. Of a
// crawl whose process was killed they do not say that it runs.
func TestListenPages_showTheLastStateOfACrawlThatHasEnded(t *testing.T) {
	dir := t.TempDir()
	ended := time.Now().Add(-240 * time.Hour).UTC().Truncate(time.Second)
	for state, want := range map[lifecycle.State]lifecycle.State{
		lifecycle.Finished: lifecycle.Finished, lifecycle.Running: lifecycle.Stopped,
	} {
		last := report.Report{State: state, Written: ended.Format(time.RFC3339)}
		last.PagesStored = 12
		if err := report.Write(vfs.Disk(), dir, last); err != nil {
			t.Fatal(err)
		}
		writeLog(t, dir, "http://no.test/",
			"2026-01-01T00:00:00.000Z    -1  - http://no.test/ - - unknown #000 - - - name-not-found\n")
		var codes []string
		s, err := ListenPages(t.Context(), Pages{
			Options: Options{
				Address: "127.0.0.1:0", History: HistoryFile{FS: vfs.Disk(), Name: filepath.Join(dir, "history"), Crawl: dir},
			},
			Crawl:    Dial("unix:"+filepath.Join(dir, "no-socket"), ""),
			NewLogin: func(_, code string) { codes = append(codes, code) },
		})
		if err != nil {
			t.Fatal(err)
		}
		v := &visitor{t: t, base: "http://" + s.Addr()}
		if !v.logIn(codes[0]) {
			t.Fatal("no login")
		}
		var now history.Now
		status, text := v.read(http.MethodGet, "/now", "")
		if err := json.Unmarshal([]byte(text), &now); err != nil || status != http.StatusOK || !now.Ended ||
			now.Report.State != want || now.Report.PagesStored != 12 || now.Name != dir {
			t.Errorf("/now: %d %.300s, %v", status, text, err)
		}
		if status, text := v.read(http.MethodGet, "/history?span=1h", ""); status != http.StatusOK {
			t.Errorf("/history: %d %.300s", status, text)
		}
		for path, want := range map[string]string{
			"/seeds?sort=state": `"url":"http://no.test/","state":"failed","outcome":"name-not-found"`,
			"/failures":         `"url":"http://no.test/","outcome":"name-not-found"`,
			"/reports":          `"report":"errors","columns":["outcome","host","urls","example"]`,
		} {
			if status, text := v.read(http.MethodGet, path, ""); status != http.StatusOK || !strings.Contains(text, want) {
				t.Errorf("%s: %d %.500s", path, status, text)
			}
		}
		events := v.send(http.MethodGet, "/events", "")
		if line, err := bufio.NewReader(events.Body).ReadString('\n'); err != nil || line != "id: 1\n" {
			t.Errorf("/events: %q, %v", line, err)
		}
		events.Body.Close()
		if status, text := v.read(http.MethodPost, "/pause", ""); status != http.StatusBadGateway ||
			!strings.Contains(text, "has ended") {
			t.Errorf("/pause: %d %s", status, text)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// writeLog writes crawl.log and the seeds of a crawl in dir, and its reports.
func writeLog(t *testing.T, dir, seeds, log string) {
	t.Helper()
	for name, text := range map[string]string{"logs/crawl.log": log, "frontier/seeds": seeds} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := logreport.Write(t.Context(), vfs.Disk(), dir, logreport.Options{}); err != nil {
		t.Fatal(err)
	}
}
