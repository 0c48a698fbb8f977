package fetchers

import (
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
)

// A site gets no more HTTP/2 after it has failed over it and answered over HTTP/1.1. An answer over HTTP/2, which may
// come from another connection, decides nothing.
func TestAfterHTTP2_onlyAnAnswerOverHTTP1Decides(t *testing.T) {
	for _, c := range []struct {
		name      string
		before    site.HTTP2Probe
		overHTTP2 bool
		outcome   outcome.Outcome
		want      site.HTTP2Probe
	}{
		{"a failure", site.NoHTTP2Probe, true, outcome.Reset, site.HTTP2Failed},
		{"an answer", site.NoHTTP2Probe, true, outcome.OK, site.HTTP2Answered},
		{"an answer over HTTP/1.1", site.NoHTTP2Probe, false, outcome.OK, site.NoHTTP2Probe},
		{"a failure after an answer", site.HTTP2Answered, true, outcome.Reset, site.NoHTTP2Probe},
		{"a stale connection after an answer", site.HTTP2Answered, true, outcome.Stale, site.HTTP2Answered},
		{"an answer over HTTP/1.1 after an answer", site.HTTP2Answered, false, outcome.OK, site.HTTP2Answered},
		{"an answer over HTTP/1.1 after a failure", site.HTTP2Failed, false, outcome.OK, site.HTTP1Answered},
		{"an answer over HTTP/2 after a failure", site.HTTP2Failed, true, outcome.OK, site.HTTP2Failed},
		{"a failure over HTTP/1.1 as well", site.HTTP2Failed, false, outcome.Reset, site.NoHTTP2Probe},
		{"decided", site.HTTP1Answered, false, outcome.OK, site.HTTP1Answered},
	} {
		p := new(fetch.Page)
		p.Connection.TLS.HTTP2 = c.overHTTP2
		if c.outcome == outcome.OK {
			p.Raw, p.HeadLen, p.Status = make([]byte, 20), 20, 200
		}
		if got := afterHTTP2(c.before, p, c.outcome); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// A site that has answered over HTTP/2 may have no HTTP/1.1: a second try is not wasted on it.
func TestIsTryOverHTTP1(t *testing.T) {
	for known, want := range map[site.HTTP2Probe][4]bool{
		site.NoHTTP2Probe:  {false, true, false, true},
		site.HTTP2Answered: {false, false, true, false},
		site.HTTP2Failed:   {true, true, true, true},
		site.HTTP1Answered: {true, true, true, true},
	} {
		for tries, isHTTP1 := range want {
			if got := isTryOverHTTP1(known, tries); got != isHTTP1 {
				t.Errorf("known %d, try %d: %v", known, tries, got)
			}
		}
	}
}
