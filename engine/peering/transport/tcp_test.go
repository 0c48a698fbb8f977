package transport

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// openTCP opens a Transport on a free port of loopback.
func openTCP(t testing.TB, o Options) (*Transport, Peer) {
	t.Helper()
	o.Addr = netip.MustParseAddrPort("127.0.0.1:0")
	if o.Receive == nil {
		o.Receive = acceptAll
	}
	transport, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := transport.Close(); err != nil {
			t.Error(err)
		}
	})
	return transport, Peer{transport.opt.Self, transport.Addr()}
}

// Over TCP: batches and requests both ways, with certificates and without; a receiver that stops and comes back.
func TestTCP(t *testing.T) {
	authority := newAuthority(t, "crawl-1")
	for name, options := range map[string]func(id string) Options{
		"TLS":   func(id string) Options { return Options{Identity: issue(t, authority, id, time.Hour)} },
		"plain": func(id string) Options { return Options{Self: id, Crawl: "crawl-1", Plain: true} },
	} {
		t.Run(name, func(t *testing.T) {
			var received atomic.Int64
			with := func(id string) Options {
				o := options(id)
				o.Receive = func(_ context.Context, _ string, b []byte) error { received.Add(int64(len(b))); return nil }
				o.Respond = func(_ context.Context, from string, _ byte, q []byte) ([]byte, error) {
					return append(q, from...), nil
				}
				return o
			}
			one, toOne := openTCP(t, with("one"))
			two, toTwo := openTCP(t, with("two"))
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if err := errors.Join(send(t, one, toTwo, noise(1<<20)), send(t, two, toOne, noise(1<<20))); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if received.Load() != 16<<20 {
				t.Errorf("%d bytes arrived", received.Load())
			}
			response, err := one.Call(t.Context(), toTwo, 1, []byte("my name? "))
			if err != nil || string(response) != "my name? one" {
				t.Errorf("%q, %v", response, err)
			}
			if err := two.Close(); err != nil {
				t.Error(err)
			}
			o := with("two")
			o.Addr = toTwo.Addr
			restarted, err := Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			err = send(t, one, toTwo, []byte("batch"))
			if errors.Is(err, ErrUnknown) { // it had not noticed yet
				err = send(t, one, toTwo, []byte("batch"))
			}
			if err != nil {
				t.Error(err)
			}
			if err := restarted.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
