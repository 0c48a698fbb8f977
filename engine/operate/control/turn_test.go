package control

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
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

// slowLeave is a crawl whose other agents do not answer when it asks them whether it may leave.
type slowLeave struct {
	switched
	asked chan struct{}
}

// Leave implements Crawl.
func (s *slowLeave) Leave(ctx context.Context) error {
	close(s.asked)
	<-ctx.Done()
	return ctx.Err()
}

// While an agent asks the others whether it may leave, the operator can pause the crawl.
func TestLeave_holdsUpNoPause(t *testing.T) {
	f := &slowLeave{asked: make(chan struct{})}
	h := new(access).guard(handling(f, slog.New(slog.DiscardHandler)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/leave", nil))
	})
	<-f.asked
	paused := make(chan struct{})
	wait.Go(func() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/pause", nil))
		close(paused)
	})
	select {
	case <-paused:
	case <-time.After(5 * time.Second):
		t.Error("the pause waits for the other agents")
	}
	cancel()
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
