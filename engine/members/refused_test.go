package members_test

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

	"orbweaver/engine/members"
	"orbweaver/engine/members/memberstest"
)

// paper is a log that can be read while it is written.
type paper struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *paper) count(words string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Count(p.b.String(), words)
}

func key(b byte) []byte { return bytes.Repeat([]byte{b}, members.KeySize) }

func TestG06_anotherKeyIsRefused(t *testing.T) {
	for _, c := range []struct {
		name         string
		ours, theirs []byte
	}{{"another", key(1), key(2)}, {"none", key(1), nil}, {"one where there should be none", nil, key(2)}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &paper{}
				w := newTown(t, 1)
				defer w.close()
				w.options = func(o *members.Options) {
					o.Key, o.Log = c.ours, slog.New(slog.NewTextHandler(log, nil))
				}
				w.populate(3)
				// Two come as seeds tell them to; another starts before them, and finds them later.
				for i := range 2 {
					o, _ := w.make("stranger", place(7), 1, place(0))
					o.Key, o.Log = c.theirs, nil
					if _, err := members.Join(t.Context(), o); !errors.Is(err, members.ErrKey) || !strings.Contains(err.Error(), "give all agents") {
						t.Fatalf("attempt %d: %v", i, err)
					}
				}
				w.net.Split(places(0, 3), places(7, 8))
				o, _ := w.make("stranger", place(7), 1, place(0))
				o.Key, o.Log = c.theirs, nil
				stranger := w.stranger(o)
				w.net.Heal()
				time.Sleep(time.Minute)
				if !w.agree() || len(stranger.View().Agents) != 1 {
					t.Errorf("they met: %s; the stranger sees %v", w.views(), ids(stranger.View()))
				}
				if n := w.agents[name(0)].Stats().Key; n < 3 {
					t.Errorf("counted %d refusals", n)
				}
				if n := log.count("level=WARN"); n != 1 {
					t.Errorf("said %d times: %s", n, log.b.String())
				}
				if stranger.Stats().Key == 0 {
					t.Error("the stranger did not notice")
				}
			})
		})
	}
}

func TestWithOneKeyAllIsWell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.options = func(o *members.Options) { o.Key = key(1) }
		w.net.Tap(func(d memberstest.Datagram) {
			if bytes.Contains(d.Bytes, []byte("agent-")) || bytes.Contains(d.Bytes, []byte("crawl")) {
				t.Errorf("in the clear: %q", d.Bytes)
			}
		})
		w.populate(5)
		w.kill(name(1))
		if _, ok := w.agreeWithin(15 * time.Second); !ok {
			t.Errorf("no agreement: %s", w.views())
		}
		for id, r := range w.agents {
			if s := r.Stats(); s != (members.Stats{}) {
				t.Errorf("%s: %+v", id, s)
			}
		}
	})
}

func TestG06_anotherCrawlIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &paper{}
		w := newTown(t, 1)
		defer w.close()
		w.options = func(o *members.Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) }
		w.populate(3)
		o, _ := w.make("stranger", place(7), 1, place(0))
		o.Self.Crawl, o.Log = "another", nil
		if _, err := members.Join(t.Context(), o); !errors.Is(err, members.ErrCrawl) || !strings.Contains(err.Error(), `"a crawl"`) {
			t.Fatalf("joined: %v", err)
		}
		// Two of them, one of which finds us later.
		w.net.Split(places(0, 3), places(7, 9))
		var strangers []*members.Group
		for n := 7; n < 9; n++ {
			o, _ := w.make(name(n), place(n), 1, place(0))
			if o.Self.Crawl, o.Log = "another", nil; n == 8 {
				o.Seeds = []string{place(7).String()}
			}
			strangers = append(strangers, w.stranger(o))
		}
		w.net.Heal()
		time.Sleep(time.Minute)
		if !w.agree() || len(strangers[0].View().Agents) != 2 || len(strangers[1].View().Agents) != 2 {
			t.Errorf("they met: %s; the strangers see %v", w.views(), ids(strangers[0].View()))
		}
		if n := w.agents[name(0)].Stats().Crawl; n < 2 {
			t.Errorf("counted %d refusals", n)
		}
		if n := log.count("refused an agent of another crawl"); n < 1 || n > 3 {
			t.Errorf("said %d times: %s", n, log.b.String())
		}
	})
}

func TestG06_wordsOfTheDeadArePlayedBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.options = func(o *members.Options) { o.Key = key(1) } // whoever plays them back cannot read them
		w.populate(4)
		var mu sync.Mutex
		var record []memberstest.Datagram
		w.net.Tap(func(d memberstest.Datagram) {
			mu.Lock()
			defer mu.Unlock()
			record = append(record, memberstest.Datagram{From: d.From, To: d.To, Bytes: bytes.Clone(d.Bytes)})
		})
		// It joins, is suspected, refutes, restarts, and dies.
		w.join("victim", place(9), 1, place(0))
		time.Sleep(5 * time.Second)
		w.agents["victim"].line.Freeze(2 * time.Second)
		time.Sleep(5 * time.Second)
		w.kill("victim")
		w.join("victim", place(9), 2, place(0))
		time.Sleep(5 * time.Second)
		w.kill("victim")
		if _, ok := w.agreeWithin(15 * time.Second); !ok {
			t.Fatalf("not dead: %s", w.views())
		}
		w.net.Tap(nil)
		w.join("newcomer", place(10), 1, place(0)) // it has never known the victim
		if _, ok := w.agreeWithin(15 * time.Second); !ok {
			t.Fatalf("not there: %s", w.views())
		}
		serials := map[string]uint64{}
		for id, r := range w.agents {
			serials[id] = r.View().Serial
		}
		for _, pause := range []time.Duration{0, 10 * time.Minute} { // memberlist has forgotten the victim by then
			time.Sleep(pause)
			for _, to := range append(places(0, 4), place(10)) {
				for _, d := range record {
					w.net.Inject(memberstest.Datagram{From: d.From, To: to, Bytes: d.Bytes})
				}
				time.Sleep(time.Second)
			}
			time.Sleep(20 * time.Second)
			for id, r := range w.agents {
				if v := r.View(); v.Serial != serials[id] {
					t.Errorf("%s: the View has changed: %v", id, ids(v))
				}
			}
		}
		if len(record) < 100 || w.agents["newcomer"].Stats().Ended == 0 {
			t.Errorf("%d datagrams played back; nobody noticed", len(record))
		}
		// It may come back all the same.
		w.join("victim", netip.AddrPortFrom(place(11).Addr(), 9999), 3, place(2))
		if took, ok := w.agreeWithin(15 * time.Second); !ok {
			t.Errorf("not back after %v: %s", took, w.views())
		}
	})
}
