package traps

import (
	"net"
	"net/netip"
	"orbweaver/internal/simweb"
	"strings"
	"sync"
	"time"
)

// Web serves a case as a guest of a simulated world. It is safe for concurrent use.
type Web struct {
	c Case

	mu    sync.Mutex // held while a case answers: some remember what was asked for
	tally *Tally
	times map[string][]time.Time // by host: when its pages were asked for
}

// NewWeb returns a guest that serves a case.
func NewWeb(c Case) *Web { return &Web{c: c, tally: NewTally(), times: map[string][]time.Time{}} }

// Host implements simweb.Guest. A case has all names below .test that are not the world's.
func (w *Web) Host(name string) (address netip.Addr, ok bool) {
	if !strings.HasSuffix(name, ".test") || strings.HasSuffix(name, ".sim.test") {
		return netip.Addr{}, false
	}
	return w.c.Addr(name), true
}

// Serve implements simweb.Guest.
func (w *Web) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	a := Answer{Status: 404}
	if r.Path != "/robots.txt" {
		a = w.answer(r.Authority, r.Path)
	}
	reply := simweb.GuestReply{Status: a.Status, Type: "text/html", Body: a.Body, Pause: a.Slow}
	if a.Type != "" {
		reply.Type = a.Type
	}
	if reply.Status == 0 {
		reply.Status = 200
	}
	if a.Location != "" {
		reply.Fields = "Location: " + a.Location + "\r\n"
	}
	return reply.Send(conn)
}

func (w *Web) answer(host, target string) Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.times[host] = append(w.times[host], time.Now())
	a := w.c.Answer(host, target)
	w.tally.Note(host, target, &a)
	return a
}

// Score returns what was counted so far.
func (w *Web) Score() Score {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tally.Score()
}

// copyTally returns what was counted so far; what is counted later does not change it.
func (w *Web) copyTally() *Tally {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tally.clone()
}

// setTally has the web count from an earlier state on.
func (w *Web) setTally(t *Tally) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally = t
}
