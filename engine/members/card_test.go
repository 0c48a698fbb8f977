package members

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

func someCard() card {
	return card{agent: Agent{ID: "a-1", Capacity: 3, Post: netip.MustParseAddrPort("192.0.2.7:7947"), Incarnation: 77, Crawl: "c", Version: 2}, term: 5, stage: member}
}

func TestCardsGoThereAndBack(t *testing.T) {
	long := strings.Repeat("x", nameMax)
	for _, c := range []card{
		someCard(),
		{agent: Agent{ID: "a", Capacity: 1, Crawl: "c"}},
		{agent: Agent{ID: long, Capacity: CapacityMax, Post: netip.MustParseAddrPort("[2001:db8::1]:65535"), Incarnation: math.MaxUint64, Crawl: long, Version: 65535},
			term: math.MaxUint64, stage: leaving},
	} {
		data := c.append(nil)
		if len(data) > 220 {
			t.Errorf("%d bytes", len(data))
		}
		if got, err := parseCard(data); err != nil || got != c {
			t.Errorf("%+v came back as %+v: %v", c, got, err)
		}
		for n := range data {
			if _, err := parseCard(data[:n]); err == nil {
				t.Errorf("%+v: the first %d bytes were enough", c, n)
			}
		}
		if _, err := parseCard(append(data, 0)); !errors.Is(err, errCard) {
			t.Errorf("with a byte more: %v", err)
		}
	}
	other := bytes.Clone(someCardBytes())
	other[0] = 2
	if _, err := parseCard(other); !errors.Is(err, errCardVersion) {
		t.Errorf("another version: %v", err)
	}
}

// TestCardLayout holds the layout: agents of other builds read it.
func TestCardLayout(t *testing.T) {
	want := "\x01\x01\x05\x4d\x03\x02\x04\xc0\x00\x02\x07\x1f\x0b\x03a-1\x01c"
	if got := string(someCardBytes()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func someCardBytes() []byte {
	c := someCard()
	return c.append(nil)
}

func FuzzCard(f *testing.F) {
	f.Add(someCardBytes())
	f.Add([]byte{cardVersion, 0, 0, 0, 1, 0, 0, 0, 0, 1, 'a', 1, 'c'})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseCard(data)
		if err != nil {
			return
		}
		if faults := c.agent.faults(); faults != nil {
			t.Errorf("%q: %v", data, faults)
		}
		if back := c.append(nil); !bytes.Equal(back, data) {
			t.Errorf("%q is written %q", data, back)
		}
	})
}

func FuzzWord(f *testing.F) {
	for _, w := range []word{
		{kind: knock, nonce: 7, name: "a@1", answer: netip.MustParseAddrPort("192.0.2.7:7946")},
		{kind: answer, nonce: math.MaxUint64, name: "a@1"},
		{kind: ended, name: "a@1", term: 300},
	} {
		f.Add(w.append(nil))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := parseWord(data)
		if err != nil {
			return
		}
		if back := w.append(nil); !bytes.Equal(back, data) {
			t.Errorf("%q is written %q", data, back)
		}
	})
}

func FuzzFloors(f *testing.F) {
	f.Add(appendFloors(nil, map[string]uint64{"a": 1, "b-2": math.MaxUint64}))
	f.Add([]byte{floorsVersion})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		floors := map[string]uint64{}
		if err := parseFloors(data, func(id string, term uint64) { floors[id] = term }); err != nil {
			return
		}
		again := map[string]uint64{}
		if err := parseFloors(appendFloors(nil, floors), func(id string, term uint64) { again[id] = term }); err != nil || !maps.Equal(floors, again) {
			t.Errorf("%q: %v became %v: %v", data, floors, again, err)
		}
	})
}

func TestOptionsTellAllFaults(t *testing.T) {
	if err := (Options{Self: someAgent()}).WithDefaults().Validate(); err != nil {
		t.Errorf("the least there can be: %v", err)
	}
	bad := Options{
		Self:    Agent{ID: "no spaces", Capacity: -1, Gossip: netip.MustParseAddrPort("0.0.0.0:7946"), Crawl: "\x00", Version: -1},
		Listen:  netip.MustParseAddrPort("127.0.0.1:1"),
		Seeds:   []string{"a.example:7946", "192.0.2.1:0"},
		Key:     make([]byte, 16),
		Timings: Timings{Probe: time.Microsecond, Answer: time.Second, Patience: -1},
	}
	err := bad.WithDefaults().Validate()
	for _, word := range []string{"identifier", "capacity", `crawl "\x00"`, "version -1", "Gossip 0.0.0.0", `"a.example:7946"`, `"192.0.2.1:0"`, "16 bytes", "Probe", "Answer", "Patience"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("nothing about %s: %v", word, err)
		}
	}
	if !errors.Is(err, ErrOptions) || !errors.Is(err, ErrAgent) {
		t.Errorf("%v", err)
	}
	if _, err := Join(t.Context(), Options{}); !errors.Is(err, ErrOptions) {
		t.Errorf("joined: %v", err)
	}
	byName := Options{Self: someAgent(), Seeds: []string{"a.example:7946"}, Resolve: func(context.Context, string) ([]netip.AddrPort, error) { return nil, nil }}
	if err := byName.WithDefaults().Validate(); err != nil {
		t.Errorf("a seed by name: %v", err)
	}
}

func someAgent() Agent {
	return Agent{ID: "a", Gossip: netip.MustParseAddrPort("192.0.2.1:7946"), Crawl: "c"}
}

func TestPatienceDoesNotDependOnTheSizeOfTheGroup(t *testing.T) {
	timings := Timings{}.WithDefaults()
	for n := range 2000 {
		// What memberlist makes of it.
		scale := max(1, math.Log10(max(1, float64(n))))
		waits := time.Duration(float64(timings.suspicionMult(n)) * scale * float64(timings.Probe))
		if waits < 5*time.Second || waits > 7*time.Second {
			t.Fatalf("%d agents: %v", n, waits)
		}
	}
}

// TestRosterForgets holds what is remembered of the dead to its bound, and to those who were there last.
func TestRosterForgets(t *testing.T) {
	r := newRoster(process{name: "self@0", card: card{agent: someAgent(), stage: member, term: 1}})
	now := time.Now()
	var all []string
	for i := range rosterMax + 100 {
		c := card{agent: someAgent(), term: uint64(i) + 1, stage: member}
		c.agent.ID = "m" + strings.Repeat("i", i%7) + string(rune('a'+i%26)) + time.Duration(i).String()
		c.agent.ID = strings.ReplaceAll(c.agent.ID, "µ", "u")
		all = append(all, c.agent.ID)
		r.put(c.agent.ID+"@1", c, now)
		now = now.Add(time.Second)
		r.end(c.agent.ID+"@1", now, time.Minute)
	}
	if len(r.floors) > rosterMax || len(r.gone) > rosterMax || len(r.deaths) > 61 || len(r.living) != 0 {
		t.Errorf("%d floors, %d gone, %d deaths, %d living", len(r.floors), len(r.gone), len(r.deaths), len(r.living))
	}
	for i, id := range all {
		if _, kept := r.floors[id]; kept != (i >= 100) {
			t.Fatalf("number %d is kept: %v", i, kept)
		}
	}
	if !slices.IsSortedFunc(r.absent(), func(a, b Gone) int { return strings.Compare(a.Agent.ID, b.Agent.ID) }) {
		t.Error("not sorted")
	}
}
