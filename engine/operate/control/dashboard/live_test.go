package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/operate/history"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
)

// pipes is a listener in memory, on which virtual time passes.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (*pipes) Addr() net.Addr { return &net.UnixAddr{} }

// dial connects, and asks for the events.
func (p *pipes) dial(t *testing.T) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	p.conns <- server
	if _, err := io.WriteString(client, "GET /events HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return client
}

// streaming serves the events of a crawl that stores a page with each report. The server limits how long a request
// may take to arrive, as the one of engine/operate/control does.
func streaming(t *testing.T, live *Live, f func(*pipes)) {
	t.Helper()
	l := newPipes()
	ctx, end := context.WithCancel(t.Context())
	s := &http.Server{
		Handler: http.HandlerFunc(live.Events), ReadTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()
	f(l)
	end()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// storing is a crawl that stores a page with each report, and counts the reports.
func storing(reports *atomic.Int64) *Live {
	return NewLive(history.Open(history.Options{Report: func() report.Report {
		n := reports.Add(1)
		return report.Report{State: lifecycle.Running, Reported: counters.Reported[int64]{PagesStored: n}}
	}}))
}

// A page gets the crawl each second, for as long as it is open: the time that a request may take to arrive is over.
func TestLive_sendsTheCrawlEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports atomic.Int64
		streaming(t, storing(&reports), func(l *pipes) {
			conn, began := l.dial(t), time.Now()
			defer conn.Close()
			events, last := 0, int64(0)
			for lines := bufio.NewScanner(conn); events < 200 && lines.Scan(); {
				text, ok := strings.CutPrefix(lines.Text(), "data: ")
				if !ok {
					continue
				}
				var now history.Now
				if err := json.Unmarshal([]byte(text), &now); err != nil || now.Report.PagesStored <= last {
					t.Fatalf("event %d: %d pages, %v", events, now.Report.PagesStored, err)
				}
				last = now.Report.PagesStored
				events++
			}
			if took := time.Since(began).Round(time.Second); events != 200 || took != 199*time.Second {
				t.Errorf("%d events in %v", events, took)
			}
		})
	})
}

// Ten pages cost one report a second, not ten.
func TestLive_makesAnEventOnceForAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports atomic.Int64
		streaming(t, storing(&reports), func(l *pipes) {
			for range 10 {
				conn := l.dial(t)
				defer conn.Close()
				go func() { _, _ = io.Copy(io.Discard, conn) }()
			}
			time.Sleep(time.Minute)
			if n := reports.Load(); n < 60 || n > 62 {
				t.Errorf("%d reports in a minute", n)
			}
		})
	})
}

// A page that does not read is closed after ten seconds. Others do not wait for it.
func TestLive_aPageThatDoesNotReadIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports atomic.Int64
		live := storing(&reports)
		streaming(t, live, func(l *pipes) {
			stuck, other := l.dial(t), l.dial(t)
			defer stuck.Close()
			defer other.Close()
			go func() { _, _ = io.Copy(io.Discard, other) }()
			time.Sleep(eventPatience + 2*time.Second)
			synctest.Wait()
			if n := len(live.streams); n != 1 {
				t.Errorf("%d streams are open", n)
			}
		})
	})
}

// More pages than there may be are told so, and to come again.
func TestLive_hasAMostOfPages(t *testing.T) {
	live := storing(new(atomic.Int64))
	for range streamsMost {
		live.streams <- struct{}{}
	}
	w := httptest.NewRecorder()
	live.Events(w, httptest.NewRequest(http.MethodGet, "/events", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// The history has bounds, whatever is asked for.
func TestLive_historyHasBounds(t *testing.T) {
	live := storing(new(atomic.Int64))
	for query, want := range map[string]int{
		"": 200, "?span=10m&points=10": 200, "?span=168h&points=2000": 200,
		"?span=169h": 400, "?span=0s": 400, "?span=-1h": 400, "?span=x": 400,
		"?points=0": 400, "?points=2001": 400, "?points=x": 400, "?span=1ns": 400,
	} {
		w := httptest.NewRecorder()
		live.History(w, httptest.NewRequest(http.MethodGet, "/history"+query, nil))
		if w.Code != want {
			t.Errorf("%s: %d %.80s", query, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	live.History(w, httptest.NewRequest(http.MethodGet, "/history?span=1m&points=3&names=cpu_cores,none", nil))
	var s struct {
		Step   int64
		Series map[string][]*float64
	}
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || len(s.Series) != 1 || len(s.Series["cpu_cores"]) > 4 {
		t.Errorf("%s, %v", w.Body, err)
	}
}
