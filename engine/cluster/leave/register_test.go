package leave

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// fewAgents are the agents that are there, and what they answer.
type fewAgents struct {
	there    []ownership.Agent
	answers  map[string]error // by ID; without an entry an agent answers LeaveDone
	asked    []string
	hasEnded bool
}

func (f *fewAgents) register() *Register {
	return New(Options{
		Self: f.there[0].Instance(), Agents: func() []ownership.Agent { return f.there },
		Log: slog.New(slog.DiscardHandler), HasEnded: func() bool { return f.hasEnded },
		Ask: func(_ context.Context, id string, _ []byte) ([]byte, error) {
			f.asked = append(f.asked, id)
			return []byte{1}, f.answers[id]
		},
	})
}

func three() *fewAgents {
	return &fewAgents{there: []ownership.Agent{{ID: "a1", Store: 1}, {ID: "a2", Store: 2}, {ID: "a3", Store: 3}}}
}

// note lets an agent say how far it is.
func note(t *testing.T, l *Register, a ownership.Agent, stage Stage) {
	t.Helper()
	if _, _, err := l.Note(a.ID, append([]byte{byte(stage)}, a.Instance()...)); err != nil {
		t.Fatal(err)
	}
}

// What an agent has heard of others that leave it knows after a resume: an agent that had nothing left then has left,
// though it is not there any more to say so. And it knows how far it is itself.
func TestRegister_aCheckpointKeepsHowFarTheyAre(t *testing.T) {
	f := three()
	self, announced, done := f.there[0].Instance(), f.there[1].Instance(), f.there[2].Instance()
	before := f.register()
	before.Leave()
	before.Announce()
	note(t, before, f.there[1], Announced)
	note(t, before, f.there[2], Announced)
	note(t, before, f.there[2], Done)
	var state cluster.Checkpoint
	before.FillCheckpoint(&state, false)
	after := f.register()
	after.Restore(&state)
	if !after.IsLeaving() || !after.HasAnnounced(self) || !after.HasAnnounced(announced) || after.HasLeft(announced) ||
		!after.HasLeft(done) {
		t.Errorf("restored: %+v", state)
	}
	after.Staying([]ownership.Agent{f.there[0], {ID: "a4", Store: 4}})
	if after.HasLeft(announced) || !after.HasLeft(done) || after.HasAnnounced(done) {
		t.Error("when neither is there, only the one that had nothing left has left")
	}
	var last cluster.Checkpoint
	if before.FillCheckpoint(&last, true); last.IsLeaving || last.AnnouncedLeave || len(last.LeavingAgents) != 2 {
		t.Errorf("this agent has left: %+v", last)
	}
}

// With --quorum an agent may learn from the agreed view that another one leaves, before it is told. It does not take
// it for lost then. What the other one says itself counts as before. Agents that are not there are not noted,
// nor is this one.
func TestRegister_agreedViewsSayWhoLeaves(t *testing.T) {
	f := three()
	l := f.register()
	gone := ownership.Agent{ID: "a3", Store: 7} // with former data
	l.NoteAgreed([]ownership.Agent{f.there[0], f.there[1], gone})
	if l.HasAnnounced(f.there[0].Instance()) || !l.HasAnnounced(f.there[1].Instance()) || l.HasAnnounced(gone.Instance()) {
		t.Error("not exactly the other agent that is there is noted")
	}
	note(t, l, f.there[1], Done)
	l.NoteAgreed(f.there[1:2])
	if !l.HasLeft(f.there[1].Instance()) {
		t.Error("it had nothing left, and the view does not change that")
	}
}

// Agents that leave own no hosts; if all leave, those that have something left stay.
func TestRegister_remainingAgents(t *testing.T) {
	f := three()
	l := f.register()
	note(t, l, f.there[1], Announced)
	if got := l.Staying(f.there); len(got) != 2 || len(l.Leaving()) != 1 || l.Leaving()[0] != f.there[1] {
		t.Errorf("%v stay, %v leave", got, l.Leaving())
	}
	note(t, l, f.there[2], Done)
	l.Announce()
	if got := l.Staying(f.there); len(got) != 2 || got[1] != f.there[1] {
		t.Errorf("all leave, and %v stay", got)
	}
	note(t, l, f.there[2], Announced) // a stage never goes back
	if !l.HasLeft(f.there[2].Instance()) {
		t.Error("an agent that had nothing left has something")
	}
}

// answers lets an agent answer with an error.
func answers(id string, err error) func(f *fewAgents) {
	return func(f *fewAgents) { f.answers = map[string]error{id: err} }
}

// An agent may leave if another one stays and all answer that the crawl goes on.
func TestRegister_mayLeave(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *fewAgents)
		want   error
	}{
		"all let it":      {func(*fewAgents) {}, nil},
		"no agent stays":  {func(f *fewAgents) { f.there = f.there[:1] }, cluster.ErrNoAgentStays},
		"one has ended":   {answers("a2", cluster.ErrEnding), cluster.ErrEnding},
		"one is outdated": {answers("a2", peering.ErrMalformed), cluster.ErrLeaveUnknown},
	} {
		f := three()
		c.change(f)
		if err := f.register().MayLeave(t.Context()); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An agent speaks only for itself, as membership knows it, and may not leave a crawl that has ended.
func TestRegister_anAgentSpeaksOnlyForItself(t *testing.T) {
	f := three()
	l := f.register()
	for name, c := range map[string]struct {
		from, content string
		want          error
	}{
		"of another agent": {"a2", "\x01a3/0000000000000003", peering.ErrMalformed},
		"other data":       {"a2", "\x01a2/0000000000000009", errUnknown},
		"no stage":         {"a2", "\x03a2/0000000000000002", peering.ErrMalformed},
		"nothing":          {"a2", "", peering.ErrMalformed},
		"itself":           {"a2", "\x01a2/0000000000000002", nil},
	} {
		if _, _, err := l.Note(c.from, []byte(c.content)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f.hasEnded = true; !errors.Is(l.mustAsk(f.there[2]), cluster.ErrEnding) {
		t.Error("an agent may leave a crawl that has ended")
	}
	note(t, l, f.there[1], Done) // one that has announced it goes on
}

// mustAsk is the answer to an agent that would like to leave.
func (l *Register) mustAsk(a ownership.Agent) error {
	_, _, err := l.Note(a.ID, append([]byte{byte(Asking)}, a.Instance()...))
	return err
}

// Whether an agent has left is asked of the others until one says yes, or all have answered.
func TestRegister_askAbout(t *testing.T) {
	f := three()
	l := f.register()
	if left, answered := l.AskAbout(t.Context(), "a9/0000000000000009"); !left || !answered || len(f.asked) != 1 ||
		!l.HasLeft("a9/0000000000000009") {
		t.Errorf("left %v, answered %v by %v", left, answered, f.asked)
	}
	f = three()
	f.answers = map[string]error{"a2": context.DeadlineExceeded, "a3": peering.ErrBanned}
	if left, answered := f.register().AskAbout(t.Context(), "a9/0000000000000009"); left || answered || len(f.asked) != 2 {
		t.Errorf("left %v, answered %v by %v", left, answered, f.asked)
	}
}
