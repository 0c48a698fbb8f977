package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// sameAnswers is the network to two other agents that give the same answer.
type sameAnswers struct {
	cluster.Network
	answer string // "" for no answer
	asked  string
}

func (*sameAnswers) Self() string { return "b" }

func (s *sameAnswers) Ask(_ context.Context, to string, _ []byte) ([]byte, error) {
	s.asked += to
	if s.answer == "" {
		return nil, errors.New("no answer")
	}
	return []byte(s.answer), nil
}

// The crawl has begun if an agent says so that has the same view. If its view is another one, that counts after 15 s.
// An answer without a first view, or none, says that it has not begun.
func TestBeginning_theAnswersOfOthers(t *testing.T) {
	now := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2},
		{ID: "c", Capacity: 1, Store: 3}}
	f := func(says string, view uint64, at, later bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			t.Helper()
			if says != "" {
				says = fmt.Sprintf(says, view)
			}
			s := &sameAnswers{answer: says}
			b := &beginning{network: peers{s}, quorum: noQuorum{}}
			if got := b.hasBegun(t.Context(), now); got != at {
				t.Errorf("%s: %v", says, got)
			}
			time.Sleep(restartPatience)
			if got := b.hasBegun(t.Context(), now); got != later {
				t.Errorf("15 s later, %s: %v", says, got)
			}
			if s.asked != "ca" {
				t.Errorf("%q were asked", s.asked)
			}
			if b.hasBegun(t.Context(), now[1:2]) {
				t.Errorf("no other agent is there, and the crawl has begun")
			}
		})
	}
	f(`{"count":12,"view":%d,"first":9,"turns":2}`, ownership.Hash(now), true, true)
	f(`{"count":12,"view":%d,"first":9,"turns":2}`, ownership.Hash(now[:2]), false, true)
	f(`{"count":0,"view":%d,"first":0,"turns":0}`, ownership.Hash(now), false, false)
	f(`{"calm":false,"count":12,"view":%d}`, ownership.Hash(now), false, false)
	f(`"first %d"`, ownership.Hash(now), false, false)
	f("", 0, false, false)
}

// An agent that resumes with another assignment of hosts is refused, with the one to give. Each host would have another
// owner.
func TestBeginning_keepsTheAssignmentOfHosts(t *testing.T) {
	for _, before := range []ownership.Method{ownership.Consistent, ownership.Rendezvous} {
		p := &agent{parts: Parts{Options: Options{Assign: ownership.Rendezvous - before}}}
		err := p.Begin(&cluster.Checkpoint{Assign: before}, true)
		if !errors.Is(err, ErrAssign) || !strings.HasSuffix(err.Error(), "give --assign "+before.String()) {
			t.Errorf("%v: %v", before, err)
		}
	}
}
