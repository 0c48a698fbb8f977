package membership_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/membership/membershiptest"
)

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logBuffer) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

func gossipKey(b byte) []byte { return bytes.Repeat([]byte{b}, membership.KeySize) }

// recordDatagrams copies each datagram of the network until stop, which returns the copies.
func (c *testCluster) recordDatagrams() (stop func() []membershiptest.Datagram) {
	var mu sync.Mutex
	var record []membershiptest.Datagram
	c.net.Tap(func(d membershiptest.Datagram) {
		mu.Lock()
		defer mu.Unlock()
		record = append(record, membershiptest.Datagram{From: d.From, To: d.To, Bytes: bytes.Clone(d.Bytes)})
	})
	return func() []membershiptest.Datagram {
		c.net.Tap(nil)
		mu.Lock()
		defer mu.Unlock()
		return record
	}
}

func TestG06_anotherKeyIsRefused(t *testing.T) {
	for _, c := range []struct {
		name        string
		key, theirs []byte
	}{
		{"another key", gossipKey(1), gossipKey(2)},
		{"no key", gossipKey(1), nil},
		{"a key, and the cluster has none", nil, gossipKey(2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &logBuffer{}
				cluster := newTestCluster(t, 1)
				defer cluster.close()
				cluster.options = func(o *membership.Options) {
					o.Key, o.Log = c.key, slog.New(slog.NewTextHandler(log, nil))
				}
				cluster.populate(3)
				for i := range 2 {
					o, _ := cluster.agentOptions("outsider", addr(7), 1, addr(0))
					o.Key, o.Log = c.theirs, nil
					_, err := membership.Join(t.Context(), o)
					if !errors.Is(err, membership.ErrOtherKey) || !strings.Contains(err.Error(), "give all agents") {
						t.Fatalf("attempt %d: %v", i, err)
					}
				}
				// This one starts while it cannot reach the seed, and reaches it later.
				cluster.net.Split(addrs(0, 3), addrs(7, 8))
				o, _ := cluster.agentOptions("outsider", addr(7), 1, addr(0))
				o.Key, o.Log = c.theirs, nil
				outsider := cluster.joinOutsider(o)
				cluster.net.Heal()
				time.Sleep(time.Minute)
				if !cluster.agree() || len(outsider.View().Agents) != 1 {
					t.Errorf("the outsider was admitted: %s; it sees %v", cluster.views(), ids(outsider.View()))
				}
				if n := cluster.agents[agentID(0)].Stats().OtherKey; n < 3 {
					t.Errorf("counted %d refusals, want at least 3", n)
				}
				if n := log.count("level=WARN"); n != 1 {
					t.Errorf("%d warnings, want 1: %s", n, log.b.String())
				}
				if outsider.Stats().OtherKey == 0 {
					t.Error("the outsider counted no refusal")
				}
			})
		})
	}
}

func TestKeys_withOneKeyNothingIsRefusedOrReadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.options = func(o *membership.Options) { o.Key = gossipKey(1) }
		cluster.net.Tap(func(d membershiptest.Datagram) {
			if bytes.Contains(d.Bytes, []byte("agent-")) || bytes.Contains(d.Bytes, []byte("crawl")) {
				t.Errorf("not encrypted: %q", d.Bytes)
			}
		})
		cluster.populate(5)
		cluster.kill(agentID(1))
		if _, ok := cluster.agreeWithin(15 * time.Second); !ok {
			t.Errorf("no equal Views: %s", cluster.views())
		}
		for id, a := range cluster.agents {
			if s := a.Stats(); s != (membership.Stats{}) {
				t.Errorf("%s: %+v", id, s)
			}
		}
	})
}

func TestM5_anotherCrawlIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logBuffer{}
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.options = func(o *membership.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) }
		cluster.populate(3)
		o, _ := cluster.agentOptions("outsider", addr(7), 1, addr(0))
		o.Self.Crawl, o.Log = "another", nil
		_, err := membership.Join(t.Context(), o)
		if !errors.Is(err, membership.ErrOtherCrawl) || !strings.Contains(err.Error(), `"a crawl"`) {
			t.Fatalf("joined: %v", err)
		}
		// These two start while they cannot reach the cluster. One of them reaches it later.
		cluster.net.Split(addrs(0, 3), addrs(7, 9))
		var outsiders []*membership.Service
		for n := 7; n < 9; n++ {
			o, _ := cluster.agentOptions(agentID(n), addr(n), 1, addr(0))
			if o.Self.Crawl, o.Log = "another", nil; n == 8 {
				o.Seeds = []string{addr(7).String()}
			}
			outsiders = append(outsiders, cluster.joinOutsider(o))
		}
		cluster.net.Heal()
		time.Sleep(time.Minute)
		if !cluster.agree() || len(outsiders[0].View().Agents) != 2 || len(outsiders[1].View().Agents) != 2 {
			t.Errorf("outsiders were admitted: %s; they see %v", cluster.views(), ids(outsiders[0].View()))
		}
		if n := cluster.agents[agentID(0)].Stats().OtherCrawl; n < 2 {
			t.Errorf("counted %d refusals, want at least 2", n)
		}
		if n := log.count("refused an agent of another crawl"); n < 1 || n > 3 {
			t.Errorf("%d warnings, want 1 for each agent: %s", n, log.b.String())
		}
	})
}

func TestM6_messagesOfADeadAgentAreReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.options = func(o *membership.Options) { o.Key = gossipKey(1) } // replay needs no key
		cluster.populate(4)
		stopRecording := cluster.recordDatagrams()
		// The victim joins, becomes suspect, refutes, restarts and dies.
		cluster.join("victim", addr(9), 1, addr(0))
		time.Sleep(5 * time.Second)
		cluster.agents["victim"].transport.Freeze(2 * time.Second)
		time.Sleep(5 * time.Second)
		cluster.kill("victim")
		cluster.join("victim", addr(9), 2, addr(0))
		time.Sleep(5 * time.Second)
		cluster.kill("victim")
		if _, ok := cluster.agreeWithin(15 * time.Second); !ok {
			t.Fatalf("the victim is not dead: %s", cluster.views())
		}
		record := stopRecording()
		cluster.join("newcomer", addr(10), 1, addr(0)) // it has never known the victim
		if _, ok := cluster.agreeWithin(15 * time.Second); !ok {
			t.Fatalf("the newcomer is no member: %s", cluster.views())
		}
		serials := cluster.serials()
		for _, pause := range []time.Duration{0, 10 * time.Minute} { // after 10 minutes memberlist has forgotten the victim
			time.Sleep(pause)
			for _, to := range append(addrs(0, 4), addr(10)) {
				for _, d := range record {
					cluster.net.Inject(membershiptest.Datagram{From: d.From, To: to, Bytes: d.Bytes})
				}
				time.Sleep(time.Second)
			}
			time.Sleep(20 * time.Second)
			for id, a := range cluster.agents {
				if v := a.View(); v.Serial != serials[id] {
					t.Errorf("%s: the View has changed: %v", id, ids(v))
				}
			}
		}
		if len(record) < 100 || cluster.agents["newcomer"].Stats().EndedIncarnation == 0 {
			t.Errorf("%d datagrams replayed, none counted", len(record))
		}
		// The victim itself can come back.
		cluster.join("victim", netip.AddrPortFrom(addr(11).Addr(), 9999), 3, addr(2))
		if took, ok := cluster.agreeWithin(15 * time.Second); !ok {
			t.Errorf("the victim is no member after %v: %s", took, cluster.views())
		}
	})
}
