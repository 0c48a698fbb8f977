package audit

import (
	"fmt"
	"testing"

	"orbweaver/engine/peering/ring"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// The copy counts whose agent would own the host if only the agents with a copy existed. The copy of the owner among
// all agents counts if it has one.
func TestRings_ownerIsThatOfTheHolders(t *testing.T) {
	var agents []*agent
	var members []ring.Member
	for i := range 5 {
		agents = append(agents, &agent{id: fmt.Sprintf("a%d", i), report: AgentReport{Capacity: 1 + i}})
		members = append(members, ring.Member{ID: agents[i].id, Capacity: 1 + i})
	}
	whole, err := ring.NewConsistent(members, ring.DefaultReplicas)
	if err != nil {
		t.Fatal(err)
	}
	r := rings{}
	wins := map[int]int{}
	for n := range 2000 {
		key := captureEntry(fmt.Appendf(nil, "http://h%d.test/", n), 0, warc.Position{}).Hi
		for _, some := range [][]int{{3}, {0, 4}, {1, 2, 3}, {0, 1, 2, 3, 4}} {
			got, err := r.owner(agents, some, key)
			if err != nil {
				t.Fatal(err)
			}
			wins[got]++
			holds := false
			for _, k := range some {
				holds = holds || k == got
				if k == whole.Owner(key) && got != k {
					t.Fatalf("host %d: of %v %d counts, and %d is responsible", n, some, got, k)
				}
			}
			if !holds {
				t.Fatalf("host %d: of %v %d counts", n, some, got)
			}
		}
	}
	if len(wins) != 5 {
		t.Errorf("only %v ever count", wins)
	}
}

// A place goes through an entry and back, and the agent and the URL do, too.
func TestCaptureEntry(t *testing.T) {
	at := warc.Position{Serial: serialsMax - 1, Offset: offsetMask}
	e := captureEntry([]byte("http://a.test:8080/b"), dirsMax-1, at)
	other := captureEntry([]byte("https://a.test/c"), 0, warc.Position{})
	if placeOf(e) != at || e.Lo&^fingerprint != dirsMax-1 || e.Hi != other.Hi ||
		e.Hi != ring.Key(urlx.Host([]byte("http://a.test/"))) ||
		e.Lo&fingerprint == other.Lo&fingerprint {
		t.Errorf("%+v and %+v", e, other)
	}
}
