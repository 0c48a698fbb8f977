package control

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// switched is a crawl that is paused or not.
type switched struct {
	fake
	mu     sync.Mutex
	paused bool
}

func (s *switched) Pause() bool  { return s.put(true) }
func (s *switched) Resume() bool { return s.put(false) }

func (s *switched) put(paused bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.paused != paused
	s.paused = paused
	return changed
}

// Ten thousand times, from all sides: the log, which tells changes in the order in which they happened, alternates, and
// its last line is how things are. bench/scenario/operator does it to a crawl.
func TestHostile_A05_theLogTellsChangesInTheirOrder(t *testing.T) {
	var said bytes.Buffer
	f := new(switched)
	h := new(access).guard(handling(f, slog.New(slog.NewTextHandler(&said, nil))))
	var wait sync.WaitGroup
	for i := range 100 {
		wait.Go(func() {
			for j := range 100 {
				path := "/pause"
				if (i+j)%2 == 1 {
					path = "/resume"
				}
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, nil))
			}
		})
	}
	wait.Wait()
	paused := false
	for line := range strings.Lines(said.String()) {
		now := strings.Contains(line, "paused")
		if now == paused {
			t.Fatalf("%s follows its like", line)
		}
		paused = now
	}
	if paused != f.paused {
		t.Errorf("the log ends with paused %v, it is %v", paused, f.paused)
	}
}
