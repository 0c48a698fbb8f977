package recovery

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

// pair are two agents; the first one asks.
type pair struct {
	pages     [2]*Pages
	view      int64 // changes of the view
	questions int
	isLost    bool // the second one does not answer
	isGone    bool // and membership knows it
	durable   int  // how often an answer waited for the disk
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{view: 2}
	agents := []ownership.Agent{{ID: "a0", Capacity: 1, Store: 1}, {ID: "a1", Capacity: 1, Store: 2}}
	for i := range agents {
		fetched, err := OpenFetched(vfs.NewMem(1), "fetched", 1<<16, 1<<12, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := ownership.NewView(ownership.Consistent, agents, nil, 0, agents[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		views := ownership.NewTimeline(0)
		views.Store(v)
		p.pages[i] = NewPages(PagesOptions{
			Self: agents[i].Instance(), Fetched: fetched, HashSeed: func() uint64 { return uint64(i) }, Views: views,
			InFlight: attempt.NewInFlight(), Most: 3, Changes: func() int64 { return p.view },
			BeganTogether: func() bool { return true }, Leaving: func() []ownership.Agent { return nil },
			IsThere: func(string) bool { return !p.isGone }, SpeaksFor: func(string) bool { return false },
			Ask: func(ctx context.Context, to string, question []byte) ([]byte, error) {
				p.questions++
				if p.isLost || to != "a1" || question[0] != message.QuestionFetched {
					return nil, errors.New("no answer")
				}
				return p.pages[1].Answer(ctx, "a0", question[1:])
			},
			AwaitDurable: func(context.Context) error {
				p.durable++
				return nil
			},
		})
		t.Cleanup(func() {
			if err := fetched.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return p
}

// recover asks for the page /1 of a site of the first agent.
func (p *pair) recover(t *testing.T) cluster.Holder {
	t.Helper()
	items := [][]byte{queued.Append(nil, &queued.URL{Rest: []byte("/1")})}
	holders, err := p.pages[0].Recover(t.Context(), p.site(), items)
	if err != nil {
		t.Fatal(err)
	}
	if holders == nil {
		return cluster.Holder{}
	}
	return holders[0]
}

// site is a site that the first agent owns.
func (p *pair) site() []byte {
	for i := 0; ; i++ {
		if site := fmt.Appendf(nil, "http://h%d.test", i); p.pages[0].o.Views.Load().Owns(site) {
			return site
		}
	}
}

func (p *pair) note(agent int) {
	p.pages[agent].NoteAnswered(outcome.OK, append(p.site(), "/1"...))
}

// A page that another agent has is found there, when it is durable; one that this agent has is not asked for; one that
// no agent has is asked for once in a view.
func TestPages_whichAgentHasAPage(t *testing.T) {
	p := newPair(t)
	if h := p.recover(t); h != (cluster.Holder{}) || p.questions != 1 || p.durable != 0 {
		t.Errorf("a page that no agent has: %+v, %d questions, %d waits", h, p.questions, p.durable)
	}
	if p.recover(t); p.questions != 1 {
		t.Errorf("%d questions in one view", p.questions)
	}
	p.note(1)
	p.view++
	if h := p.recover(t); h.Instance != p.pages[1].o.Self || p.questions != 2 || p.durable != 1 {
		t.Errorf("a page of the other agent: %+v, %d questions, %d waits", h, p.questions, p.durable)
	}
	p.note(0)
	if h := p.recover(t); h.Instance != p.pages[0].o.Self || p.questions != 2 {
		t.Errorf("a page of this agent: %+v, %d questions", h, p.questions)
	}
	p.view = 1
	if p.recover(t); p.questions != 2 {
		t.Error("all agents began together, and one was asked")
	}
}

// After a change of the view the other agent may still be in an exchange for the page. It says that it has none, and
// has one a moment later. So it is asked again, until such an exchange has ended for certain.
func TestPages_anAgentIsAskedAgainWhileTheViewIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		views := p.pages[0].o.Views
		views.Grace = 22 * time.Second
		views.Replace(views.Load(), time.Now())
		time.Sleep(5 * time.Second)
		if h := p.recover(t); h != (cluster.Holder{}) || p.questions != 1 {
			t.Errorf("a page that no agent has: %+v, %d questions", h, p.questions)
		}
		p.note(1) // the exchange has ended
		if h := p.recover(t); h.Instance != p.pages[1].o.Self || p.questions != 2 {
			t.Errorf("a page that the other agent has now: %+v, %d questions", h, p.questions)
		}
	})
}

// Later one answer is enough in a view.
func TestPages_anAgentIsAskedOnceInAViewThatIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		views := p.pages[0].o.Views
		views.Grace = 22 * time.Second
		views.Replace(views.Load(), time.Now())
		time.Sleep(views.Grace)
		for range 2 {
			if h := p.recover(t); h != (cluster.Holder{}) || p.questions != 1 {
				t.Errorf("%+v, %d questions", h, p.questions)
			}
		}
	})
}

// An agent that does not answer is asked again, once a second, until membership drops it.
func TestPages_anAgentThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.isLost = true
		for n := range 3 {
			h := p.recover(t)
			if wait := time.Until(h.RetryAt); h.Instance != "" || wait <= 0 || wait > time.Second || p.questions != n+1 {
				t.Errorf("try %d: %+v in %v, %d questions", n, h, wait, p.questions)
			}
			if p.recover(t); p.questions != n+1 {
				t.Error("it is asked again at once")
			}
			time.Sleep(time.Second)
		}
		p.isGone = true
		if h := p.recover(t); h != (cluster.Holder{}) {
			t.Errorf("the agent is gone: %+v", h)
		}
	})
}

// A question with a malformed item, or with too many, is refused.
func TestPages_malformedQuestions(t *testing.T) {
	p := newPair(t)
	var many []byte
	for range QuestionMax + 1 {
		many = outbox.AppendItem(many, []byte("http://a.test/"))
	}
	for name, question := range map[string][]byte{"cut short": {200, 'x'}, "too long": many} {
		if _, err := p.pages[1].Answer(t.Context(), "a0", question); !errors.Is(err, peering.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
