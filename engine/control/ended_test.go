package control

import (
	"bufio"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/history"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/report"
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
