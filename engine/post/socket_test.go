package post

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// onSockets opens an Office on a free port of loopback.
func onSockets(t testing.TB, o Options) (*Office, Peer) {
	t.Helper()
	o.Addr = netip.MustParseAddrPort("127.0.0.1:0")
	if o.Receive == nil {
		o.Receive = func(context.Context, string, []byte) error { return nil }
	}
	office, err := Listen(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := office.Close(); err != nil {
			t.Error(err)
		}
	})
	return office, Peer{office.opt.Self, office.Addr()}
}

// The same on the sockets of life: letters and questions, both ways, with certificates and without; a receiver that goes and comes back.
func TestSockets(t *testing.T) {
	a := authority(t, "crawl-1")
	for name, options := range map[string]func(id string) Options{
		"TLS":   func(id string) Options { return Options{Identity: issue(t, a, id, time.Hour)} },
		"plain": func(id string) Options { return Options{Self: id, Crawl: "crawl-1", Plain: true} },
	} {
		t.Run(name, func(t *testing.T) {
			var got atomic.Int64
			with := func(id string) Options {
				o := options(id)
				o.Receive = func(_ context.Context, _ string, b []byte) error { got.Add(int64(len(b))); return nil }
				o.Answer = func(_ context.Context, from string, _ byte, q []byte) ([]byte, error) { return append(q, from...), nil }
				return o
			}
			one, toOne := onSockets(t, with("one"))
			two, toTwo := onSockets(t, with("two"))
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if err := errors.Join(one.Send(t.Context(), toTwo, noise(1<<20)), two.Send(t.Context(), toOne, noise(1<<20))); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if got.Load() != 16<<20 {
				t.Errorf("%d bytes arrived", got.Load())
			}
			if answer, err := one.Ask(t.Context(), toTwo, 1, []byte("who am I? ")); err != nil || string(answer) != "who am I? one" {
				t.Errorf("%q, %v", answer, err)
			}
			if err := two.Close(); err != nil {
				t.Error(err)
			}
			o := with("two")
			o.Addr = toTwo.Addr
			again, err := Listen(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			err = one.Send(t.Context(), toTwo, []byte("letter"))
			if errors.Is(err, ErrUnknown) { // it had not yet noticed
				err = one.Send(t.Context(), toTwo, []byte("letter"))
			}
			if err != nil {
				t.Error(err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
