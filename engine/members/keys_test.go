package members_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/members"
	"orbweaver/engine/members/memberstest"
)

// The gossip key of a running group is changed, one agent after the other. No agent is taken for dead and no message is refused. Afterwards an
// agent with the old key is refused, and what was recorded under the old key cannot be played back.
func TestHostilePeer_P5_theKeyOfARunningGroupIsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.options = func(o *members.Options) { o.Key = key(1) }
		w.populate(5)
		var mu sync.Mutex
		var record []memberstest.Datagram
		w.net.Tap(func(d memberstest.Datagram) {
			mu.Lock()
			defer mu.Unlock()
			record = append(record, memberstest.Datagram{From: d.From, To: d.To, Bytes: bytes.Clone(d.Bytes)})
		})
		time.Sleep(5 * time.Second)
		w.net.Tap(nil)
		serials := map[string]uint64{}
		for id, r := range w.agents {
			serials[id] = r.View().Serial
		}
		steps := []struct {
			key      []byte
			accepted [][]byte
		}{{key(1), [][]byte{key(2)}}, {key(2), [][]byte{key(1)}}, {key(2), nil}}
		for i, step := range steps {
			for n := range 5 {
				if err := w.agents[name(n)].SetKeys(step.key, step.accepted); err != nil {
					t.Fatal(err)
				}
				time.Sleep(15 * time.Second) // longer than a death takes
			}
			for id, r := range w.agents {
				if s := r.Stats(); s != (members.Stats{}) {
					t.Errorf("step %d: %s refused messages: %+v", i, id, s)
				}
				if r.View().Serial != serials[id] {
					t.Errorf("step %d: the View of %s changed: %v", i, id, ids(r.View()))
				}
			}
		}
		o, _ := w.make("stranger", place(7), 1, place(0))
		if _, err := members.Join(t.Context(), o); !errors.Is(err, members.ErrKey) {
			t.Errorf("an agent with the old key joins: %v", err)
		}
		before := w.agents[name(1)].Stats().Key
		for _, d := range record {
			w.net.Inject(memberstest.Datagram{From: d.From, To: place(1), Bytes: d.Bytes})
		}
		time.Sleep(time.Second)
		if refused := w.agents[name(1)].Stats().Key - before; len(record) == 0 || refused != int64(len(record)) {
			t.Errorf("%d of %d old datagrams were refused", refused, len(record))
		}
		w.options = func(o *members.Options) { o.Key = key(2) }
		w.join("newcomer", place(8), 1, place(2))
		if took, ok := w.agreeWithin(15 * time.Second); !ok {
			t.Errorf("an agent with the new key is not there after %v: %s", took, w.views())
		}
	})
}

// Keys are set in any order, while other goroutines read them: the race detector looks on. What is set last holds.
func TestSetKeys_inAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		w.options = func(o *members.Options) { o.Key, o.Accepted = key(1), [][]byte{key(2), key(3)} }
		w.populate(3)
		for i := range 20 {
			for n := range 3 {
				first, second := byte(1+(i+n)%4), byte(1+(i+n+1)%4)
				if err := w.agents[name(n)].SetKeys(key(first), [][]byte{key(second), key(9)}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
		for n := range 3 {
			if err := w.agents[name(n)].SetKeys(key(9), nil); err != nil {
				t.Fatal(err)
			}
		}
		if took, ok := w.agreeWithin(time.Minute); !ok {
			t.Errorf("no agreement after %v: %s", took, w.views())
		}
		o, _ := w.make("stranger", place(7), 1, place(0))
		if _, err := members.Join(t.Context(), o); !errors.Is(err, members.ErrKey) {
			t.Errorf("an agent with a key that was removed joins: %v", err)
		}
	})
}

// Encryption neither begins nor ends by SetKeys, and a key that is none is refused.
func TestSetKeys_refusesWhatIsNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, 1)
		defer w.close()
		plain := w.join(name(0), place(0), 1)
		w.options = func(o *members.Options) { o.Key = key(1) }
		sealed := w.join(name(1), place(1), 1)
		delete(w.agents, name(1))
		w.others = append(w.others, sealed.Group)
		for what, c := range map[string]struct {
			g        *members.Group
			key      []byte
			accepted [][]byte
			want     error
		}{
			"a key for an agent without encryption": {plain.Group, key(1), nil, members.ErrNoKey},
			"no key":                                {sealed.Group, nil, nil, members.ErrNoKey},
			"a short key":                           {sealed.Group, key(1)[:16], nil, members.ErrOptions},
			"an empty key":                          {sealed.Group, key(1), [][]byte{{}}, members.ErrOptions},
			"no key for an agent without":           {plain.Group, nil, nil, nil},
		} {
			if err := c.g.SetKeys(c.key, c.accepted); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
