package fetch

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/outcome"
)

// drip writes b forever, one copy every period.
func drip(conn net.Conn, b string, period time.Duration) {
	for {
		if _, err := io.WriteString(conn, b); err != nil {
			return
		}
		time.Sleep(period)
	}
}

// timed fetches from server in virtual time and checks the outcome and how long it took.
func timed(t *testing.T, o Options, server scriptDialer, want outcome.Outcome, least, most time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fetchOnce(t, o, server, testTarget(), func(p *Page) {
			if took := p.Ended.Sub(p.Started); p.Outcome != want || took < least || took > most {
				t.Errorf("%v after %v: %s", p.Outcome, took, p.Err)
			}
			if p.Outcome == outcome.CutTime && p.Cut.String() != "time" {
				t.Errorf("cut %q", p.Cut)
			}
		})
		time.Sleep(2 * time.Hour) // the server notices
	})
}

func TestHostile_H01_aHeadThatDripsEndsAtItsDeadline(t *testing.T) {
	timed(t, testOptions(), func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		drip(conn, "a: b\r\n", 10*time.Second)
	}, outcome.HeaderTimeout, 30*time.Second, 30*time.Second)
}

func TestHostile_H02_aBodyThatDripsIsCut(t *testing.T) {
	timed(t, testOptions(), func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		drip(conn, "x", time.Second)
	}, outcome.CutTime, 30*time.Second, 31*time.Second)
}

// A body that starts fast and then drips is found out as well, one window later.
func TestHostile_H02_aDripBehindABurstIsCut(t *testing.T) {
	timed(t, testOptions(), func(conn net.Conn) {
		readRequest(conn)
		_, _ = conn.Write(append([]byte("HTTP/1.1 200 OK\r\n\r\n"), make([]byte, 1<<20)...))
		drip(conn, "x", time.Second)
	}, outcome.CutTime, 30*time.Second, 61*time.Second)
}

// A slow site that keeps the minimum rate is heard out, until the total deadline.
func TestSlowButSteady(t *testing.T) {
	o := testOptions()
	timed(t, o, func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 409600\r\n\r\n")
		for range 100 {
			_, _ = conn.Write(make([]byte, 4096))
			time.Sleep(2 * time.Second)
		}
	}, outcome.OK, 190*time.Second, 200*time.Second)
	timed(t, o, func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		drip(conn, string(make([]byte, 4096)), 2*time.Second)
	}, outcome.CutTime, 300*time.Second, 300*time.Second)
}

func TestHostile_H03_silenceEndsAtItsDeadline(t *testing.T) {
	timed(t, testOptions(), func(conn net.Conn) {
		readRequest(conn)
		_, _ = conn.Read(make([]byte, 1)) // until the crawler closes
	}, outcome.HeaderTimeout, 30*time.Second, 30*time.Second)
}

// A server that does not even read holds us no longer.
func TestNoReader(t *testing.T) {
	timed(t, testOptions(), func(net.Conn) { time.Sleep(time.Hour) }, outcome.HeaderTimeout, 30*time.Second, 30*time.Second)
}

func TestHostile_H28_eventsAreCut(t *testing.T) {
	timed(t, testOptions(), func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		drip(conn, "8\r\ndata: 1\n\r\n", 5*time.Second)
	}, outcome.CutTime, 30*time.Second, 31*time.Second)
}

// holeDialer never answers.
type holeDialer struct{}

func (holeDialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestN01_BlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetchOnce(t, testOptions(), holeDialer{}, testTarget(), func(p *Page) {
			if took := p.Ended.Sub(p.Started); p.Outcome != outcome.ConnectTimeout || took != 10*time.Second {
				t.Errorf("%v after %v", p.Outcome, took)
			}
		})
	})
}

func TestN14_HandshakeHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := testTarget()
		target.HTTPS = true
		server := scriptDialer(func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
		fetchOnce(t, testOptions(), server, target, func(p *Page) {
			if took := p.Ended.Sub(p.Started); p.Outcome != outcome.TLSFault || took != 10*time.Second {
				t.Errorf("%v after %v: %s", p.Outcome, took, p.Err)
			}
		})
	})
}

// The end of the context ends a fetch at once, wherever it stands, and every fetch after it.
func TestCancel(t *testing.T) {
	stages := map[string]Dialer{
		"dial": holeDialer{},
		"write": scriptDialer(func(net.Conn) {
			time.Sleep(time.Hour)
		}),
		"head": scriptDialer(func(conn net.Conn) {
			readRequest(conn)
			time.Sleep(time.Hour)
		}),
		"body": scriptDialer(func(conn net.Conn) {
			readRequest(conn)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
			drip(conn, "x", time.Second)
		}),
	}
	for name, dialer := range stages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := NewPool(PoolOptions{Pages: 1})
				f := NewFetcher(testOptions(), dialer, pool)
				p := pool.TryGet()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				f.Fetch(ctx, testTarget(), p)
				if took := p.Ended.Sub(p.Started); p.Outcome != outcome.Cancelled || took != 5*time.Second {
					t.Errorf("%v after %v", p.Outcome, took)
				}
				if f.Fetch(ctx, testTarget(), p); p.Outcome != outcome.Cancelled || p.Ended != p.Started {
					t.Errorf("again: %v after %v", p.Outcome, p.Ended.Sub(p.Started))
				}
				f.dialer = answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0)
				if f.Fetch(t.Context(), testTarget(), p); p.Outcome != outcome.OK {
					t.Errorf("under another context: %v %s", p.Outcome, p.Err)
				}
				f.Close()
				pool.Put(p)
				pool.Close()
				time.Sleep(2 * time.Hour) // the server notices
			})
		})
	}
}
