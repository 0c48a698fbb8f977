package traps

import (
	"maps"
	"net/netip"
	"strings"
	"time"
)

// Kind is what a page is in truth.
type Kind uint8

// The kinds.
const (
	Other  Kind = iota // robots.txt, redirects, missing pages: requests for these are no fault
	Honest             // a page that a visitor would miss
	Trap               // one of endlessly many pages, or a copy of another page
)

// Answer is what a site says.
type Answer struct {
	Status   int // 0 for 200
	Location string
	Body     []byte
	Type     string // media type, "" for text/html
	Kind     Kind
	Slow     time.Duration // before the body
	Of       string        // of an honest page: its name, where it has several URLs
}

// Case is one trap with what is honest beside it.
type Case struct {
	ID, Name string
	Seeds    []string
	Honest   int // pages
	Addr     func(name string) netip.Addr
	Answer   func(host, target string) Answer
}

// Tally counts what a crawler asked for.
type Tally struct {
	honest map[string]int // requests of each honest page
	trap   int
	hosts  map[string]struct{}
}

// NewTally makes an empty one.
func NewTally() *Tally { return &Tally{honest: map[string]int{}, hosts: map[string]struct{}{}} }

// Note counts an answer. The second copy of an honest page is waste.
func (t *Tally) Note(host, target string, a *Answer) {
	t.hosts[host] = struct{}{}
	switch a.Kind {
	case Honest:
		name := a.Of
		if name == "" {
			name = host + target
		}
		if t.honest[name]++; t.honest[name] > 1 {
			t.trap++
		}
	case Trap:
		t.trap++
	case Other:
	}
}

// clone copies what was counted so far.
func (t *Tally) clone() *Tally {
	return &Tally{honest: maps.Clone(t.honest), hosts: maps.Clone(t.hosts), trap: t.trap}
}

// Score is what came of a crawl.
type Score struct{ Honest, Trap, Hosts int }

// Score sums up.
func (t *Tally) Score() Score {
	return Score{len(t.honest), t.trap, len(t.hosts)}
}

// Waste is the share of trap pages among the pages that were asked for.
func (s Score) Waste() float64 {
	if s.Trap == 0 {
		return 0
	}
	return float64(s.Trap) / float64(s.Honest+s.Trap)
}

// spread gives each name one of n addresses.
func spread(n int) func(string) netip.Addr {
	return func(name string) netip.Addr {
		h := uint32(2166136261)
		for _, c := range []byte(strings.TrimSuffix(name, ".")) {
			h = (h ^ uint32(c)) * 16777619
		}
		h ^= h >> 15
		return netip.AddrFrom4([4]byte{10, 1, byte(h % uint32(n) >> 8), byte(h % uint32(n))})
	}
}
