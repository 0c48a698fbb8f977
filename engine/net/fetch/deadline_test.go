package fetch

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
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
			if took := p.Times.Ended.Sub(p.Times.Started); p.Outcome != want || took < least || took > most {
				t.Errorf("%v after %v: %s", p.Outcome, took, p.Err)
			}
			if p.Outcome == outcome.TruncatedTime && p.Truncation.String() != "time" {
				t.Errorf("cut %q", p.Truncation)
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
	}, outcome.TruncatedTime, 30*time.Second, 31*time.Second)
}

// A body that starts fast and then becomes slow is detected as well, one window later.
func TestHostile_H02_aDripBehindABurstIsCut(t *testing.T) {
	timed(t, testOptions(), func(conn net.Conn) {
		readRequest(conn)
		_, _ = conn.Write(append([]byte("HTTP/1.1 200 OK\r\n\r\n"), make([]byte, 1<<20)...))
		drip(conn, "x", time.Second)
	}, outcome.TruncatedTime, 30*time.Second, 61*time.Second)
}

// A slow site that keeps the minimum rate is read until the total deadline.
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
	}, outcome.TruncatedTime, 300*time.Second, 300*time.Second)
}

func TestHostile_H03_silenceEndsAtItsDeadline(t *testing.T) {
	timed(t, testOptions(), func(conn net.Conn) {
		readRequest(conn)
		_, _ = conn.Read(make([]byte, 1)) // until the crawler closes
	}, outcome.HeaderTimeout, 30*time.Second, 30*time.Second)
}

// A host with time limits of its own has these.
func TestTimeouts_ofAHost(t *testing.T) {
	silent := scriptDialer(func(conn net.Conn) {
		readRequest(conn)
		_, _ = conn.Read(make([]byte, 1)) // until the crawler closes
	})
	drips := scriptDialer(func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		drip(conn, string(make([]byte, 4096)), 2*time.Second)
	})
	for _, c := range []struct {
		server Dialer
		own    Timeouts
		want   outcome.Outcome
		after  time.Duration
	}{
		{holeDialer{}, Timeouts{Connect: 3 * time.Second}, outcome.ConnectTimeout, 3 * time.Second},
		{silent, Timeouts{Response: 2 * time.Minute}, outcome.HeaderTimeout, 2 * time.Minute},
		{drips, Timeouts{Exchange: time.Minute}, outcome.TruncatedTime, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := testTarget()
			target.Timeouts = c.own
			fetchOnce(t, testOptions(), c.server, target, func(p *Page) {
				if took := p.Times.Ended.Sub(p.Times.Started); p.Outcome != c.want || took != c.after {
					t.Errorf("%v after %v, want %v after %v", p.Outcome, took, c.want, c.after)
				}
			})
			time.Sleep(time.Hour) // the server notices
		})
	}
}

// streams writes a head, and then a body at a rate in bytes per second.
func streams(head string, rate int) scriptDialer {
	return func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+head+"\r\n")
		drip(conn, string(make([]byte, rate)), time.Second)
	}
}

// --exchange-timeout is the time for a whole exchange, however fast its body comes. A body without a declared length
// has at most an hour. What is short or slow has --slow-body-timeout. An honest long download has the time that it
// needs.
func TestTimeouts_ofALongBody(t *testing.T) {
	const cut = outcome.TruncatedTime
	declared := fmt.Sprintf("Content-Length: %d\r\n", 64<<20)
	for name, c := range map[string]struct {
		server Dialer
		own    Timeouts
		stream time.Duration
		want   outcome.Outcome
		after  time.Duration
	}{
		"a fast stream":        {streams("", 3<<20), Timeouts{Exchange: 40 * time.Second}, 0, cut, 40 * time.Second},
		"a fast download":      {streams(declared, 100<<10), Timeouts{Exchange: time.Minute}, 0, cut, time.Minute},
		"an honest download":   {streams(declared, 128<<10), Timeouts{}, 0, outcome.OK, 511 * time.Second},
		"a stream":             {streams("", 100<<10), Timeouts{}, 15 * time.Minute, cut, 15 * time.Minute},
		"a slow radio":         {streams("", 4<<10), Timeouts{}, 0, cut, 5 * time.Minute},
		"a slow host":          {streams("", 4<<10), Timeouts{Slow: 8 * time.Minute}, 0, cut, 8 * time.Minute},
		"a slow host in haste": {streams("", 4<<10), Timeouts{Exchange: 20 * time.Second}, 0, cut, 20 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := longOptions(t, vfs.NewMem(1), roomy())
			o.BodyMax, o.Long.MemoryMax, o.Long.StreamTimeout = 1<<30, 2<<20, c.stream
			target := testTarget()
			target.Timeouts = c.own
			fetchOnce(t, o, c.server, target, func(p *Page) {
				took := p.Times.Ended.Sub(p.Times.Started)
				if p.Outcome != c.want || took < c.after || took > c.after+time.Second {
					t.Errorf("%s: %v after %v, want %v after %v; %s", name, p.Outcome, took, c.want, c.after, p.Err)
				}
			})
			time.Sleep(time.Hour) // the server notices
		})
	}
	if o := testOptions().WithDefaults(); o.Long.StreamTimeout != time.Hour || o.TotalTimeout != 6*time.Hour {
		t.Errorf("a stream has %v, an exchange %v", o.Long.StreamTimeout, o.TotalTimeout)
	}
}

// A server that does not read cannot hold a worker for longer than the deadlines.
func TestNoReader(t *testing.T) {
	timed(t, testOptions(), func(net.Conn) { time.Sleep(time.Hour) }, outcome.HeaderTimeout, 30*time.Second,
		30*time.Second)
}

func TestHostile_H28_eventsAreCut(t *testing.T) {
	timed(t, testOptions(), func(conn net.Conn) {
		readRequest(conn)
		_, _ = io.WriteString(conn,
			"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
		drip(conn, "8\r\ndata: 1\n\r\n", 5*time.Second)
	}, outcome.TruncatedTime, 30*time.Second, 31*time.Second)
}

// holeDialer never answers.
type holeDialer struct{}

func (holeDialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestHostile_N01_aBlackHoleEndsAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetchOnce(t, testOptions(), holeDialer{}, testTarget(), func(p *Page) {
			if took := p.Times.Ended.Sub(p.Times.Started); p.Outcome != outcome.ConnectTimeout || took != 10*time.Second {
				t.Errorf("%v after %v", p.Outcome, took)
			}
		})
	})
}

func TestHostile_N14_aHandshakeThatHangsEndsAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := testTarget()
		target.HTTPS = true
		server := scriptDialer(func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
		fetchOnce(t, testOptions(), server, target, func(p *Page) {
			if took := p.Times.Ended.Sub(p.Times.Started); p.Outcome != outcome.TLSFault || took != 10*time.Second {
				t.Errorf("%v after %v: %s", p.Outcome, took, p.Err)
			}
		})
	})
}

// slowConn writes a byte a second.
type slowConn struct{ net.Conn }

func (c slowConn) Write(b []byte) (int, error) {
	for i := range b {
		if _, err := c.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
		time.Sleep(time.Second)
	}
	return len(b), nil
}

func TestHostile_N14_aHandshakeOfAByteASecondEndsAfterTenSeconds(t *testing.T) {
	config := &tls.Config{Certificates: []tls.Certificate{newAuthority(t).issue(t, time.Hour, "a.example")}}
	for name, script := range map[string]scriptDialer{
		"a true one": func(conn net.Conn) { _ = tls.Server(slowConn{conn}, config).Handshake() },
		"small records": func(conn net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			drip(conn, "\x16\x03\x03\x00\x01\x02", time.Second)
		},
		"empty records": func(conn net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			drip(conn, "\x16\x03\x03\x00\x00", 2*time.Second)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := testTarget()
			target.HTTPS = true
			fetchOnce(t, testOptions(), script, target, func(p *Page) {
				if took := p.Times.Ended.Sub(p.Times.Started); p.Outcome != outcome.TLSFault || took > 10*time.Second {
					t.Errorf("%s: %v after %v: %s", name, p.Outcome, took, p.Err)
				}
			})
			time.Sleep(2 * time.Hour) // the server notices
		})
	}
}

// smallConn drops what does not fit into a packet, like a path that also loses the ICMP messages about it.
type smallConn struct{ net.Conn }

func (c smallConn) Write(b []byte) (int, error) {
	if len(b) > 1400 {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// Such a stall has the outcome of what was expected: the handshake, the head or the rest of the body.
func TestHostile_N03_whatDoesNotFitNeverComesAndIsWaitedForInVain(t *testing.T) {
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("n%d.example", i)
	}
	config := &tls.Config{Certificates: []tls.Certificate{newAuthority(t).issue(t, time.Hour, names...)}}
	large := strings.Repeat("x", 2000)
	for name, c := range map[string]struct {
		script scriptDialer
		https  bool
		want   outcome.Outcome
		within time.Duration
	}{
		"handshake": {func(conn net.Conn) { _ = tls.Server(smallConn{conn}, config).Handshake() }, true, outcome.TLSFault,
			10 * time.Second},
		"head": {func(conn net.Conn) {
			readRequest(conn)
			_, _ = io.WriteString(smallConn{conn}, "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n"+large)
			_, _ = conn.Read(make([]byte, 1))
		}, false, outcome.HeaderTimeout, 30 * time.Second},
		"body": {func(conn net.Conn) {
			readRequest(conn)
			_, _ = io.WriteString(smallConn{conn}, "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n")
			_, _ = io.WriteString(smallConn{conn}, large)
			_, _ = conn.Read(make([]byte, 1))
		}, false, outcome.TruncatedTime, 31 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			target := testTarget()
			target.HTTPS = c.https
			fetchOnce(t, testOptions(), c.script, target, func(p *Page) {
				if took := p.Times.Ended.Sub(p.Times.Started); p.Outcome != c.want || took > c.within {
					t.Errorf("%s: %v after %v: %s", name, p.Outcome, took, p.Err)
				}
			})
			time.Sleep(2 * time.Hour) // the server notices
		})
	}
}

// failingDialer cannot connect.
type failingDialer struct{ err error }

func (d failingDialer) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", d.err)}
}

// Each error of connect, of the network and of this machine, has its outcome and cause.
func TestHostile_N01_whatComesBackInsteadOfAConnectionIsNamed(t *testing.T) {
	for err, want := range map[error]outcome.Outcome{
		syscall.ECONNREFUSED: outcome.Refused, syscall.ECONNRESET: outcome.Reset, syscall.ETIMEDOUT: outcome.ConnectTimeout,
		syscall.EHOSTUNREACH: outcome.Unreachable, syscall.ENETUNREACH: outcome.Unreachable,
		syscall.ENETDOWN: outcome.Unreachable,
	} {
		fetchOnce(t, testOptions(), failingDialer{err}, testTarget(), func(p *Page) {
			if p.Outcome != want || p.Err == "" {
				t.Errorf("%v: %v %q", err, p.Outcome, p.Err)
			}
		})
	}
}

func TestHostile_N18_noLocalPortsIsOurFaultAndNobodyElses(t *testing.T) {
	for _, err := range []error{syscall.EADDRNOTAVAIL, syscall.EADDRINUSE} {
		fetchOnce(t, testOptions(), failingDialer{err}, testTarget(), func(p *Page) {
			if p.Outcome != outcome.LocalFault || p.Err != "no local ports left" || p.Flags&FlagLocal == 0 {
				t.Errorf("%v: %v %q", err, p.Outcome, p.Err)
			}
		})
	}
}

// The end of the context ends a fetch at once, at any point, and every later fetch.
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
				if took := p.Times.Ended.Sub(p.Times.Started); p.Outcome != outcome.Cancelled || took != 5*time.Second {
					t.Errorf("%v after %v", p.Outcome, took)
				}
				if f.Fetch(ctx, testTarget(), p); p.Outcome != outcome.Cancelled || p.Times.Ended != p.Times.Started {
					t.Errorf("again: %v after %v", p.Outcome, p.Times.Ended.Sub(p.Times.Started))
				}
				f.connector.dialer = addrDialer(answer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0))
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
