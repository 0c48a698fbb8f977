package post

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/grpc/credentials"
)

// Frames that are none, numbers out of order, bombs and batches above the limit: the peer loses its connection, is counted, and is
// not spoken with for a while. Nothing of it reaches Receive, and others notice nothing.
func TestG05_whoBreaksTheProtocolIsBanned(t *testing.T) {
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer packer.Close()
	bomb := packer.EncodeAll(make([]byte, 64<<20), nil)
	little := packer.EncodeAll([]byte("little"), nil)
	hi := helloOf("crawl-1", "evil", "b")
	for name, c := range map[string]struct {
		why    Refusal
		frames [][]byte
	}{
		"no hello":         {RefusedMalformed, [][]byte{letterOf(1, formPlain, 2, []byte("hi"))}},
		"empty":            {RefusedMalformed, [][]byte{hi, {}}},
		"noise":            {RefusedMalformed, [][]byte{hi, []byte("GET / HTTP/1.1\r\n\r\n")}},
		"two hellos":       {RefusedMalformed, [][]byte{hi, hi}},
		"out of order":     {RefusedMalformed, [][]byte{hi, letterOf(2, formPlain, 1, []byte("x"))}},
		"length that lies": {RefusedMalformed, [][]byte{hi, letterOf(1, formPlain, 1000, []byte("x"))}},
		"no zstd":          {RefusedMalformed, [][]byte{hi, letterOf(1, formZstd, 1000, []byte("this does not unpack"))}},
		"less than said":   {RefusedMalformed, [][]byte{hi, letterOf(1, formZstd, 1000, little)}},
		"bomb":             {RefusedMalformed, [][]byte{hi, letterOf(1, formZstd, 1<<20, bomb)}},
		"honest bomb":      {RefusedMalformed, [][]byte{hi, letterOf(1, formZstd, 64<<20, bomb)}},
		"too long":         {RefusedTooLong, [][]byte{hi, letterOf(1, formPlain, 2<<20, make([]byte, 2<<20))}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVillage(t, true)
				var received atomic.Int64
				b, toB := v.agent("b", Options{Receive: func(context.Context, string, []byte) error { received.Add(1); return nil }})
				good, _ := v.agent("good", Options{})
				evil := issue(t, v.authority, "evil", time.Hour)
				if err := good.Send(t.Context(), toB, nil); err != nil {
					t.Fatal(err)
				}
				s := v.stranger(t, toB, evil)
				_, err := s.ends(c.frames...)
				if err == nil || errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := b.Stats().Refused; got[c.why] != 1 || received.Load() != 1 {
					t.Errorf("%v, received %d", got, received.Load())
				}
				honest, _ := v.agent("evil", Options{Identity: evil})
				if err := honest.Send(t.Context(), toB, nil); !errors.Is(err, ErrBanned) {
					t.Errorf("within the ban: %v", err)
				}
				time.Sleep(2 * time.Minute)
				if err := honest.Send(t.Context(), toB, nil); err != nil {
					t.Errorf("after the ban: %v", err)
				}
				if err := good.Send(t.Context(), toB, nil); err != nil || good.Stats().Peers[0].Out.Unknown != 0 {
					t.Errorf("another agent noticed: %v", err)
				}
			})
		})
	}
}

// Questions obey the same rules.
func TestG05_questionsToo(t *testing.T) {
	q := question{Version: 1, Kind: 1, Crawl: "crawl-1", From: "evil", To: "b", load: load{Form: formPlain, Size: 1}}
	whole := append(q.append(nil), 'x')
	liar := q
	liar.From = "good"
	old := q
	old.Version = 9
	for name, c := range map[string]struct {
		why   Refusal
		frame []byte
		ban   bool
	}{
		"cut short":   {RefusedMalformed, whole[:len(whole)-1], true},
		"too long":    {RefusedTooLong, append(whole, make([]byte, 2<<20)...), true},
		"a liar":      {RefusedIdentity, append(liar.append(nil), 'x'), false},
		"a version":   {RefusedVersion, append(old.append(nil), 'x'), false},
		"all is well": {-1, whole, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVillage(t, true)
				var asked atomic.Int64
				b, toB := v.agent("b", Options{Answer: func(context.Context, string, byte, []byte) ([]byte, error) { asked.Add(1); return nil, nil }})
				s := v.stranger(t, toB, issue(t, v.authority, "evil", time.Hour))
				var in incoming
				defer in.free()
				err := s.conn.Invoke(t.Context(), askMethod, &outgoing{head: c.frame}, &in)
				if c.why < 0 {
					if err != nil || asked.Load() != 1 {
						t.Error(err)
					}
					return
				}
				synctest.Wait()
				if err == nil || asked.Load() != 0 || b.Stats().Refused[c.why] != 1 {
					t.Errorf("%v, asked %d, refused %v", err, asked.Load(), b.Stats().Refused)
				}
				if banned := b.bans.check("evil") != nil; banned != c.ban {
					t.Errorf("banned: %v", banned)
				}
			})
		})
	}
}

// A peer that opens as many connections as it can, and streams on each, has a few connections and at most one stream that is read.
func TestG05_aFloodOfStreams(t *testing.T) {
	for name, frame := range map[string][]byte{"hellos": helloOf("crawl-1", "evil", "b"), "silence": nil} {
		synctest.Test(t, func(t *testing.T) {
			v := newVillage(t, true)
			b, toB := v.agent("b", Options{})
			good, _ := v.agent("good", Options{})
			card := issue(t, v.authority, "evil", time.Hour)
			var all sync.WaitGroup
			for range 20 {
				s := v.stranger(t, toB, card)
				for range 20 {
					all.Go(func() {
						if frame == nil {
							_, _ = s.ends()
						} else {
							_, _ = s.ends(frame)
						}
					})
				}
			}
			synctest.Wait()
			b.inbox.mu.Lock()
			streams := len(b.inbox.of)
			b.inbox.mu.Unlock()
			b.conns.mu.Lock()
			conns := b.conns.all
			b.conns.mu.Unlock()
			if streams > 1 || conns > connsOfOne || frame == nil && (conns != connsOfOne || b.Stats().Refused[RefusedCrowd] < 16) {
				t.Errorf("%s: %d streams, %d connections, refused %v", name, streams, conns, b.Stats().Refused)
			}
			if err := good.Send(t.Context(), toB, nil); err != nil {
				t.Error(err)
			}
			all.Wait()
		})
	}
}

// entry is a way in that ought to be shut, and as what it is counted.
type entry struct {
	why   Refusal
	enter func(t *testing.T, v *village, to Peer) error
}

func entries() map[string]entry {
	return map[string]entry{
		"no certificate": {RefusedHandshake, func(t *testing.T, v *village, to Peer) error {
			_, err := v.strangerWith(t, to, credentials.NewTLS(tlsWithout(tls.VersionTLS13, tls.VersionTLS13))).ends(helloOf("crawl-1", "x", "b"))
			return err
		}},
		"plain text": {RefusedHandshake, func(t *testing.T, v *village, to Peer) error {
			_, err := v.stranger(t, to, nil).ends(helloOf("crawl-1", "x", "b"))
			return err
		}},
		"TLS 1.2": {RefusedHandshake, func(t *testing.T, v *village, to Peer) error {
			config := tlsOf(issue(t, v.authority, "x", time.Hour))
			config.MinVersion, config.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
			_, err := v.strangerWith(t, to, credentials.NewTLS(config)).ends(helloOf("crawl-1", "x", "b"))
			return err
		}},
		"another authority": {RefusedIdentity, func(t *testing.T, v *village, to Peer) error {
			config := tlsWithout(tls.VersionTLS13, tls.VersionTLS13)
			config.Certificates = tlsOf(issue(t, authority(t, "crawl-1"), "x", time.Hour)).Certificates
			_, err := v.strangerWith(t, to, credentials.NewTLS(config)).ends(helloOf("crawl-1", "x", "b"))
			return err
		}},
		"expired": {RefusedExpired, func(t *testing.T, v *village, to Peer) error {
			card := issue(t, v.authority, "x", time.Hour)
			time.Sleep(2 * time.Hour)
			_, err := v.stranger(t, to, card).ends(helloOf("crawl-1", "x", "b"))
			return err
		}},
		"replaced": {RefusedReplaced, func(t *testing.T, v *village, to Peer) error {
			stolen := issue(t, v.authority, "x", time.Hour)
			time.Sleep(time.Second)
			x, _ := v.agent("x", Options{})
			if err := x.Send(t.Context(), to, nil); err != nil {
				t.Fatal(err)
			}
			_, err := v.stranger(t, to, stolen).ends(helloOf("crawl-1", "x", "b"))
			return err
		}},
		"another's name": {RefusedIdentity, func(t *testing.T, v *village, to Peer) error {
			_, err := v.stranger(t, to, issue(t, v.authority, "x", time.Hour)).ends(helloOf("crawl-1", "y", "b"))
			return err
		}},
		"our name": {RefusedIdentity, func(t *testing.T, v *village, to Peer) error {
			_, err := v.stranger(t, to, issue(t, v.authority, "b", time.Hour)).ends(helloOf("crawl-1", "b", "b"))
			return err
		}},
		"another crawl": {RefusedIdentity, func(t *testing.T, v *village, to Peer) error {
			_, err := v.stranger(t, to, issue(t, v.authority, "x", time.Hour)).ends(helloOf("crawl-2", "x", "b"))
			return err
		}},
		"a certificate for another crawl": {RefusedIdentity, func(t *testing.T, v *village, to Peer) error {
			other := *v.authority
			other.Crawl = "crawl-2"
			_, err := v.stranger(t, to, issue(t, &other, "x", time.Hour)).ends(helloOf("crawl-1", "x", "b"))
			return err
		}},
		"a hello for another": {RefusedIdentity, func(t *testing.T, v *village, to Peer) error { // as one that was recorded there
			_, err := v.stranger(t, to, issue(t, v.authority, "x", time.Hour)).ends(helloOf("crawl-1", "x", "c"))
			return err
		}},
		"silence": {RefusedSilent, func(t *testing.T, v *village, to Peer) error {
			_, err := v.stranger(t, to, issue(t, v.authority, "x", time.Hour)).ends()
			return err
		}},
	}
}

// Whoever has no certificate of the crawl's, or one that has ended, or says to be another, gets no word in: it is counted by reason, and the log
// says each kind once in a while.
func TestG06_strangersAreRefused(t *testing.T) {
	for name, c := range entries() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVillage(t, true)
				var said bytes.Buffer
				var received atomic.Int64
				b, toB := v.agent("b", Options{
					Log:     slog.New(slog.NewTextHandler(&said, nil)),
					Receive: func(context.Context, string, []byte) error { received.Add(1); return nil },
				})
				err := c.enter(t, v, toB)
				if err == nil || errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "DeadlineExceeded") {
					t.Errorf("it ended with %v", err)
				}
				before := received.Load()
				synctest.Wait()
				var want [refusalsEnd]int64
				want[c.why] = 1
				got := b.Stats().Refused
				if got[RefusedHandshake] > 1 { // gRPC tries again by itself
					want[RefusedHandshake] = got[RefusedHandshake]
				}
				if got != want || received.Load() != before || before > 1 {
					t.Errorf("refused %v, want %v; received %d: %v", got, want, received.Load(), err)
				}
				if lines := strings.Count(said.String(), "\n"); lines != 1 || !strings.Contains(said.String(), "why="+c.why.String()) {
					t.Errorf("the log says:\n%s", said.String())
				}
			})
		})
	}
}

// In plain text a name is only said, but nobody else may say ours, or none.
func TestG06_plainTextKnowsItsOwnName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		b, toB := v.agent("b", Options{})
		for _, name := range []string{"b", ""} {
			if came, err := v.stranger(t, toB, nil).ends(helloOf("crawl-1", name, "b")); came != 0 || !errors.Is(refusedBy(err), ErrIdentity) {
				t.Errorf("%d frames, %v", came, err)
			}
		}
		if got := b.Stats().Refused[RefusedIdentity]; got != 2 {
			t.Error(got)
		}
	})
}

// A sender that does not keep to the window it was told is read no further than that.
func TestG05_theWindowIsTheReceivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		var receiving atomic.Int64
		release := make(chan struct{})
		_, toB := v.agent("b", Options{Window: 3, Receive: func(context.Context, string, []byte) error {
			receiving.Add(1)
			<-release
			return nil
		}})
		s := v.stranger(t, toB, issue(t, v.authority, "evil", time.Hour))
		all := [][]byte{helloOf("crawl-1", "evil", "b")}
		for n := range uint64(20) {
			all = append(all, letterOf(n+1, formPlain, 1, []byte("x")))
		}
		if _, err := s.say(all...); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := receiving.Load(); n != 3 {
			t.Errorf("%d letters are being received", n)
		}
		close(release)
		synctest.Wait()
		if n := receiving.Load(); n != 20 {
			t.Errorf("%d letters were received", n)
		}
	})
}

// The log says a kind of refusal once in ten seconds, however many there are, and how many it left out.
func TestG06_theLogIsNotFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, false)
		var said bytes.Buffer
		b, _ := v.agent("b", Options{Log: slog.New(slog.NewTextHandler(&said, nil))})
		for range 1000 {
			b.refused(RefusedIdentity, "x", nil, errors.New("no"))
			time.Sleep(25 * time.Millisecond)
		}
		if lines := strings.Count(said.String(), "\n"); lines != 3 || !strings.Contains(said.String(), "more_before=399") {
			t.Errorf("%d lines:\n%s", lines, said.String())
		}
	})
}

// What was recorded of a connection and is played back to the same agent is noise to TLS.
func TestG06_aRecordedConnectionIsWorthNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		var received atomic.Int64
		b, toB := v.agent("b", Options{Receive: func(context.Context, string, []byte) error { received.Add(1); return nil }})
		a, _ := v.agent("a", Options{})
		v.record()
		if err := a.Send(t.Context(), toB, []byte("letter")); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		conn, err := v.Dial(t.Context(), toB.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if len(v.recorded) < 500 {
			t.Fatalf("%d bytes were recorded", len(v.recorded))
		}
		go func() { _, _ = conn.Write(v.recorded) }()
		time.Sleep(time.Minute)
		if received.Load() != 1 || b.Stats().Refused[RefusedHandshake] != 1 {
			t.Errorf("received %d, refused %v", received.Load(), b.Stats().Refused)
		}
	})
}

// The other way round: whoever is at the address of a peer has to be that peer, of this crawl. Send fails before its patience ends, says why, and
// does not ask again and again.
func TestG06_whoListensHasToShowItsNameToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		a, _ := v.agent("a", Options{})
		_, c := v.agent("c", Options{})
		began := time.Now()
		if err := a.Send(t.Context(), Peer{"b", c.Addr}, nil); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "there is c, and not b") {
			t.Error(err)
		}
		_, d := v.agent("d", Options{Identity: issue(t, authority(t, "crawl-1"), "d", time.Hour)})
		if err := a.Send(t.Context(), d, nil); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "unknown authority") {
			t.Error(err)
		}
		old := issue(t, v.authority, "old", time.Hour)
		time.Sleep(2 * time.Hour)
		o, _ := v.agent("old", Options{Identity: old})
		if err := o.Send(t.Context(), c, nil); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "expired") {
			t.Error(err)
		}
		if took := time.Since(began) - 2*time.Hour; took >= 5*time.Second { // an alert can be lost when its connection is closed behind it
			t.Errorf("it took %v to say so", took)
		}
		before := v.dialled.Load()
		time.Sleep(time.Hour)
		if n := v.dialled.Load() - before; n > 10 {
			t.Errorf("%d connections were made while nobody sent", n)
		}
	})
}
