package dnsres

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
)

// lossyServer is a name server behind a network that loses some of the questions. It answers after 50 ms.
type lossyServer struct {
	t      *testing.T
	isLost func(asked int) bool // the question with this number, from 1 on

	mu    sync.Mutex
	asked int
	other bool // a question that was sent again was another message
}

// hear notes a message on a socket after the last one on it, and reports whether it is lost.
func (s *lossyServer) hear(last, message []byte) (lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.other = s.other || last != nil && !bytes.Equal(last, message)
	s.asked++
	return s.isLost(s.asked)
}

// lose says which messages are lost from now on.
func (s *lossyServer) lose(isLost func(asked int) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isLost = isLost
}

// heard returns the number of messages, and whether each that was sent again was the same.
func (s *lossyServer) heard() (messages int, same bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, !s.other
}

// dial connects to the server, in the bubble of a test.
func (s *lossyServer) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	go func() {
		buf, last := make([]byte, 512), []byte(nil)
		for {
			n, err := there.Read(buf)
			if err != nil {
				return
			}
			lost := s.hear(last, buf[:n])
			if last = bytes.Clone(buf[:n]); !lost {
				time.Sleep(50 * time.Millisecond)
				_, _ = there.Write(answerTo(s.t, buf[:n], func(*dns.Msg) {}))
			}
		}
	}()
	return here, nil
}

// ask asks the server and returns how long that took.
func (s *lossyServer) ask(ctx context.Context, sockets *sockets, server *upstream) (time.Duration, error) {
	began := time.Now()
	_, err := sockets.exchange(ctx, question("a.test.", dns.TypeA, form{true, true}), server, began.Add(5*time.Second))
	return time.Since(began), err
}

func TestResend_aLostQuestionIsSentAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := servers()
		lossy := &lossyServer{t: t, isLost: func(asked int) bool { return asked == 1 }}
		sockets := &sockets{dial: lossy.dial}
		if took, err := lossy.ask(t.Context(), sockets, server); err != nil || took != resendFirst+50*time.Millisecond {
			t.Errorf("the first question of all is lost: %v, %v", took, err)
		}
		for range 20 {
			if took, err := lossy.ask(t.Context(), sockets, server); err != nil || took != 50*time.Millisecond {
				t.Errorf("nothing is lost: %v, %v", took, err)
			}
		}
		lossy.lose(func(asked int) bool { return asked <= 24 })
		want := resendMin + 2*resendMin + 50*time.Millisecond
		if took, err := lossy.ask(t.Context(), sockets, server); err != nil || took != want {
			t.Errorf("the network is known to be fast, and two in a row are lost: %v, %v", took, err)
		}
		if _, same := lossy.heard(); !same {
			t.Error("a question that was sent again was another message")
		}
	})
}

func TestResend_aDeadServerIsAskedLittleMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := servers()
		lossy := &lossyServer{t: t, isLost: func(int) bool { return true }}
		sockets := &sockets{dial: lossy.dial}
		const questions = 100
		for i := range questions {
			took, err := lossy.ask(t.Context(), sockets, server)
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() || took != 5*time.Second {
				t.Fatalf("question %d: %v, %v", i, took, err)
			}
			if n, _ := lossy.heard(); i == 0 && n != 1+resendTimes {
				t.Errorf("a question was sent %d times", n)
			}
		}
		if n, _ := lossy.heard(); n != questions+resendDebt/resendPrice {
			t.Errorf("%d messages for %d questions", n, questions)
		}
		lossy.lose(func(int) bool { return false })
		for range resendPrice {
			if _, err := lossy.ask(t.Context(), sockets, server); err != nil {
				t.Fatal(err)
			}
		}
		if !server.resends.mayResend() || server.resends.mayResend() {
			t.Errorf("%d replies do not pay for one question", resendPrice)
		}
	})
}

func TestResend_aContextEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := servers()
		lossy := &lossyServer{t: t, isLost: func(int) bool { return true }}
		for _, after := range []time.Duration{0, time.Millisecond, resendFirst, resendFirst + time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			if took, err := lossy.ask(ctx, &sockets{dial: lossy.dial}, server); err == nil || took != after {
				t.Errorf("a context of %v: %v, %v", after, took, err)
			}
			cancel()
		}
	})
}

// endedConn is a connection whose context ends while the deadline of its next reply is set.
type endedConn struct {
	net.Conn
	cancel context.CancelFunc
	ended  atomic.Bool
}

func (c *endedConn) SetDeadline(t time.Time) error {
	if c.ended.CompareAndSwap(false, true) {
		c.cancel()
		synctest.Wait() // for the deadline that ends the wait, which is then replaced
	}
	return c.Conn.SetDeadline(t)
}

func TestResend_aContextThatEndsBetweenTwoWaitsEndsTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := servers()
		lossy := &lossyServer{t: t, isLost: func(int) bool { return true }}
		ctx, cancel := context.WithCancel(t.Context())
		sockets := &sockets{dial: func(context.Context, string, string) (net.Conn, error) {
			conn, err := lossy.dial(ctx, "", "")
			return &endedConn{Conn: conn, cancel: cancel}, err
		}}
		if took, err := lossy.ask(ctx, sockets, server); err == nil || took != 0 {
			t.Errorf("%v, %v", took, err)
		}
	})
}

// The second reply may come later, and would be taken for a forged one.
func TestResend_aSocketWithTwoQuestionsIsNotUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _ := servers()
		lossy := &lossyServer{t: t, isLost: func(asked int) bool { return asked == 2 }}
		sockets := &sockets{dial: lossy.dial, inFlight: reuseFrom}
		for _, idle := range []int{1, 0} {
			if _, err := lossy.ask(t.Context(), sockets, server); err != nil || len(sockets.idle) != idle {
				t.Errorf("%v, %d idle sockets, want %d", err, len(sockets.idle), idle)
			}
		}
	})
}

func TestResender_waitsLongerForSlowServers(t *testing.T) {
	var r resender
	for i := range 200 {
		r.replied(time.Duration(100+100*(i%3))*time.Millisecond, true)
	}
	if w := r.wait(); w < 300*time.Millisecond || w > 700*time.Millisecond {
		t.Errorf("replies after 100 to 300 ms: waits %v", w)
	}
	before := r.wait()
	for range 10 {
		r.replied(20*time.Second, false)
	}
	if r.wait() != before {
		t.Error("a reply counts that may be one to an earlier message")
	}
}
