package post

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/post/identity"
)

// saved keeps generations as a disk would.
type saved struct {
	newest map[string]uint64
	times  int
	fault  error
}

func (s *saved) save(newest map[string]uint64) error {
	s.times++
	if s.fault != nil {
		return s.fault
	}
	s.newest = newest
	return nil
}

// The file of agent x was stolen, and x has a new one. Agent b has seen it, and is started again: the stolen file is still refused.
func TestHostilePeer_P5_aReplacedCertificateIsRefusedAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		stolen := issue(t, v.authority, "x", time.Hour)
		time.Sleep(time.Second)
		disk := new(saved)
		b, toB := v.agent("b", Options{SaveGenerations: disk.save})
		x, _ := v.agent("x", Options{})
		if err := x.Send(t.Context(), toB, nil); err != nil {
			t.Fatal(err)
		}
		if len(disk.newest) != 2 {
			t.Fatalf("saved: %v", disk.newest)
		}
		if err := errors.Join(x.Close(), b.Close()); err != nil {
			t.Fatal(err)
		}
		b, toB = v.agent("b", Options{Generations: disk.newest, SaveGenerations: disk.save})
		if _, err := v.stranger(t, toB, stolen).ends(helloOf("crawl-1", "x", "b")); err == nil || b.Stats().Refused[RefusedReplaced] != 1 {
			t.Errorf("%v; refused %v", err, b.Stats().Refused)
		}
	})
}

// An agent takes a new certificate while it runs. Another one that sees it ends the connections that were made with the old one, and saves the
// generation before a letter of the new one is received. Letters go on both ways.
func TestHostilePeer_P5_aNewCertificateEndsConnectionsWithTheOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		disk := new(saved)
		old := issue(t, v.authority, "x", time.Hour)
		var at []uint64 // generation of x that was saved when a letter came
		b, toB := v.agent("b", Options{SaveGenerations: disk.save, Receive: func(context.Context, string, []byte) error {
			at = append(at, disk.newest["x"])
			return nil
		}})
		x, toX := v.agent("x", Options{Identity: old})
		for _, send := range []func() error{
			func() error { return x.Send(t.Context(), toB, nil) },
			func() error { return b.Send(t.Context(), toX, nil) },
		} {
			if err := send(); err != nil {
				t.Fatal(err)
			}
		}
		thief := v.stranger(t, toB, old) // its stream takes the place of that of x
		stream, err := thief.say(helloOf("crawl-1", "x", "b"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		renewed := issue(t, v.authority, "x", time.Hour)
		if err := x.Renew(renewed); err != nil {
			t.Fatal(err)
		}
		if err := x.Send(t.Context(), toB, nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var in incoming
		for err = error(nil); err == nil; {
			err = stream.RecvMsg(&in)
		}
		if n := b.Stats().Refused[RefusedReplaced]; n == 0 {
			t.Errorf("the connection with the old certificate is open: refused %v", b.Stats().Refused)
		}
		if err := b.Send(t.Context(), toX, nil); err != nil {
			time.Sleep(rest) // the connection broke while it was sent
			if err := b.Send(t.Context(), toX, nil); err != nil {
				t.Error(err)
			}
		}
		if want := identity.Generation(renewed.Certificate.Leaf); len(at) != 2 || at[1] != want {
			t.Errorf("when letters came generations %v were saved, want %d for the last", at, want)
		}
		if _, err := v.stranger(t, toB, old).ends(helloOf("crawl-1", "x", "b")); err == nil {
			t.Error("the old certificate is taken")
		}
	})
}

// When the disk is full, agents go on talking: the generation holds in memory, and is saved with the next connection.
func TestGenerations_aFullDiskKeepsNoAgentOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		disk := &saved{fault: errors.New("disk full")}
		stolen := issue(t, v.authority, "x", time.Hour)
		time.Sleep(time.Second)
		b, toB := v.agent("b", Options{SaveGenerations: disk.save})
		x, _ := v.agent("x", Options{})
		if err := x.Send(t.Context(), toB, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := v.stranger(t, toB, stolen).ends(helloOf("crawl-1", "x", "b")); err == nil || b.Stats().Refused[RefusedReplaced] != 1 {
			t.Errorf("%v; refused %v", err, b.Stats().Refused)
		}
		disk.fault = nil
		y, _ := v.agent("y", Options{})
		if err := y.Send(t.Context(), toB, nil); err != nil {
			t.Fatal(err)
		}
		if len(disk.newest) != 3 {
			t.Errorf("saved: %v", disk.newest)
		}
		before := disk.times
		v.cut()
		synctest.Wait()
		if err := y.Send(t.Context(), toB, nil); err != nil {
			t.Fatal(err)
		}
		if disk.times != before {
			t.Error("it is saved again, and nothing has changed")
		}
	})
}

// A certificate that this agent has replaced itself, of another agent, or of another authority, is no certificate for it.
func TestRenew_refusesWhatIsNotItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage(t, true)
		older := issue(t, v.authority, "a", time.Hour)
		time.Sleep(time.Second)
		disk := new(saved)
		now := issue(t, v.authority, "a", time.Hour)
		a, _ := v.agent("a", Options{Identity: now, SaveGenerations: disk.save})
		for want, id := range map[string]*identity.Identity{
			"replaced by a newer one": older,
			"that of agent b":         issue(t, v.authority, "b", time.Hour),
			"of another authority":    issue(t, authority(t, "crawl-1"), "a", time.Hour),
		} {
			if err := a.Renew(id); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), want) {
				t.Errorf("want %q: %v", want, err)
			}
		}
		if err := a.Renew(now); err != nil {
			t.Errorf("the certificate that it has: %v", err)
		}
		o := Options{Identity: older, Generations: maps.Clone(disk.newest), Addr: netip.MustParseAddrPort("127.0.0.1:6999"), Network: v.wires,
			Receive: func(context.Context, string, []byte) error { return nil }}
		if _, err := Listen(t.Context(), o); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "ca issue a --force") {
			t.Errorf("an agent starts with a file that it has replaced: %v", err)
		}
		plain := newVillage(t, false)
		p, _ := plain.agent("p", Options{})
		if err := p.Renew(now); !errors.Is(err, ErrIdentity) {
			t.Errorf("in plain text: %v", err)
		}
	})
}
