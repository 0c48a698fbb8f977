package transport

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/identity"
)

// savedGenerations keeps generations as a disk does.
type savedGenerations struct {
	newest map[string]uint64
	times  int
	fault  error
}

func (s *savedGenerations) save(newest map[string]uint64) error {
	s.times++
	if s.fault != nil {
		return s.fault
	}
	s.newest = newest
	return nil
}

// deliverAsX makes a call as agent x, with some certificate.
func deliverAsX(t *testing.T, c *cluster, to Peer, id *identity.Identity) error {
	t.Helper()
	return c.rawClient(t, to, id).deliver(names("crawl-1", "x", to.ID), batchOf(t, nil))
}

// The file of agent x was stolen, and x has a new one. Agent b has seen it and starts again. It still refuses the
// stolen file.
func TestHostilePeer_P5_aReplacedCertificateIsRefusedAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		stolen := issue(t, c.authority, "x", time.Hour)
		time.Sleep(time.Second)
		disk := new(savedGenerations)
		b, toB := c.agent("b", Options{SaveGenerations: disk.save})
		x, _ := c.agent("x", Options{})
		if err := send(t, x, toB, nil); err != nil {
			t.Fatal(err)
		}
		if len(disk.newest) != 2 {
			t.Fatalf("saved: %v", disk.newest)
		}
		if err := errors.Join(x.Close(), b.Close()); err != nil {
			t.Fatal(err)
		}
		b, toB = c.agent("b", Options{Generations: disk.newest, SaveGenerations: disk.save})
		if err := deliverAsX(t, c, toB, stolen); err == nil || refusedBy(b)[RefusedReplaced] != 1 {
			t.Errorf("%v; refused %v", err, refusedBy(b))
		}
	})
}

// An agent takes a new certificate while it runs. An agent that sees it ends the connections that were made with the
// old one. It saves the generation before it receives a batch of the new one. Batches arrive in both directions.
func TestHostilePeer_P5_aNewCertificateEndsConnectionsWithTheOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		disk := new(savedGenerations)
		old := issue(t, c.authority, "x", time.Hour)
		var saved []uint64 // the generation of x that was saved when a batch came
		b, toB := c.agent("b", Options{SaveGenerations: disk.save, Receive: func(context.Context, string, []byte) error {
			saved = append(saved, disk.newest["x"])
			return nil
		}})
		x, toX := c.agent("x", Options{Identity: old})
		if err := errors.Join(send(t, x, toB, nil), send(t, b, toX, nil)); err != nil {
			t.Fatal(err)
		}
		thief := c.rawClient(t, toB, old) // its connection replaces that of x
		stream, err := thief.begin(names("crawl-1", "x", "b"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		renewed := issue(t, c.authority, "x", time.Hour)
		if err := x.Renew(renewed); err != nil {
			t.Fatal(err)
		}
		if err := send(t, x, toB, nil); err != nil {
			t.Fatal(err)
		}
		var answer []byte
		if err := stream.RecvMsg(&answer); err == nil {
			t.Error("the connection with the old certificate is open")
		}
		if n := refusedBy(b)[RefusedReplaced]; n == 0 {
			t.Errorf("refused %v", refusedBy(b))
		}
		if err := send(t, b, toX, nil); err != nil {
			t.Logf("the connection of b ended: %v", err)
			if err := send(t, b, toX, nil); err != nil {
				t.Error(err)
			}
		}
		if want := identity.Generation(renewed.Certificate.Leaf); len(saved) != 2 || saved[1] != want {
			t.Errorf("when batches came generations %v were saved, want %d for the last", saved, want)
		}
		if err := deliverAsX(t, c, toB, old); err == nil {
			t.Error("the old certificate is accepted")
		}
	})
}

// When the disk is full, agents communicate nevertheless: the generation is valid in memory, and is saved with the next
// connection.
func TestGenerations_aFullDiskKeepsNoAgentOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		disk := &savedGenerations{fault: errors.New("disk full")}
		stolen := issue(t, c.authority, "x", time.Hour)
		time.Sleep(time.Second)
		b, toB := c.agent("b", Options{SaveGenerations: disk.save})
		x, _ := c.agent("x", Options{})
		if err := send(t, x, toB, nil); err != nil {
			t.Fatal(err)
		}
		if err := deliverAsX(t, c, toB, stolen); err == nil || refusedBy(b)[RefusedReplaced] != 1 {
			t.Errorf("%v; refused %v", err, refusedBy(b))
		}
		disk.fault = nil
		y, _ := c.agent("y", Options{})
		if err := send(t, y, toB, nil); err != nil {
			t.Fatal(err)
		}
		if len(disk.newest) != 3 {
			t.Errorf("saved: %v", disk.newest)
		}
		before := disk.times
		c.cut()
		synctest.Wait()
		if err := send(t, y, toB, nil); err != nil {
			t.Fatal(err)
		}
		if disk.times != before {
			t.Error("it is saved again without a change")
		}
	})
}

// An agent does not take a certificate that it has replaced itself, one of another agent, or one of another authority.
func TestRenew_refusesForeignCertificates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, true)
		older := issue(t, c.authority, "a", time.Hour)
		time.Sleep(time.Second)
		disk := new(savedGenerations)
		now := issue(t, c.authority, "a", time.Hour)
		a, _ := c.agent("a", Options{Identity: now, SaveGenerations: disk.save})
		for want, id := range map[string]*identity.Identity{
			"replaced by a newer one": older,
			"that of agent b":         issue(t, c.authority, "b", time.Hour),
			"of another authority":    issue(t, newAuthority(t, "crawl-1"), "a", time.Hour),
		} {
			if err := a.Renew(id); !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), want) {
				t.Errorf("want %q: %v", want, err)
			}
		}
		if err := a.Renew(now); err != nil {
			t.Errorf("the certificate that it has: %v", err)
		}
		_, err := Open(t.Context(), Options{
			Identity: older, Generations: maps.Clone(disk.newest), Receive: acceptAll,
			Addr: netip.MustParseAddrPort("127.0.0.1:6999"), Network: c.memoryNetwork,
		})
		if !errors.Is(err, ErrIdentity) || !strings.Contains(err.Error(), "ca issue a --force") {
			t.Errorf("an agent starts with a file that it has replaced: %v", err)
		}
		p, _ := newCluster(t, false).agent("p", Options{})
		if err := p.Renew(now); !errors.Is(err, ErrIdentity) {
			t.Errorf("in plain text: %v", err)
		}
	})
}
