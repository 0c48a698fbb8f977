package leave

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// Options are what a Register needs of the agent that they serve.
type Options struct {
	Self     string // instance of this agent
	Agents   func() []ownership.Agent
	Log      *slog.Logger
	HasEnded func() bool // the crawl has ended
	// Ask puts a question to another agent.
	Ask func(ctx context.Context, agent string, question []byte) ([]byte, error)
}

// errUnknown says that membership does not know the agent that says that it leaves.
var errUnknown = errors.New("leave: the agent that leaves is not known to this one")

const (
	// askAboutMax is how many other agents are asked about one that is gone. Nearly all know: those that were there.
	askAboutMax = 8
	// AskAboutTries is how often they are asked if some of them do not answer.
	AskAboutTries = 5
)

// InstanceOf is the instance of an agent among some; empty if it is not among them.
func InstanceOf(agents []ownership.Agent, id string) string {
	if i := slices.IndexFunc(agents, func(a ownership.Agent) bool { return a.ID == id }); i >= 0 {
		return agents[i].Instance()
	}
	return ""
}

// MayLeave says why this agent cannot leave now: no agent stays, or one does not answer or does not let it.
func (l *Register) MayLeave(ctx context.Context) error {
	others := slices.DeleteFunc(l.Staying(l.o.Agents()),
		func(a ownership.Agent) bool { return a.Instance() == l.o.Self })
	if len(others) == 0 {
		return cluster.ErrNoAgentStays
	}
	_, err := l.Tell(ctx, Asking)
	return err
}

// Tell tells all other agents how far this one is, and says whether all have done what that asks of them. An agent that
// is not there any more has. Agents that leave as well are told, too: they may have something for this one on its way.
func (l *Register) Tell(ctx context.Context, stage Stage) (haveAllDone bool, err error) {
	question := append([]byte{message.QuestionLeave, byte(stage)}, l.o.Self...)
	haveAllDone = true
	for _, a := range l.o.Agents() {
		if a.ID == ownership.AgentID(l.o.Self) || stage == Asking && l.HasAnnounced(a.Instance()) {
			continue
		}
		answer, fault := l.o.Ask(ctx, a.ID, question)
		switch {
		case errors.Is(fault, peering.ErrMalformed):
			return false, fmt.Errorf("%w: %s", cluster.ErrLeaveUnknown, a.ID)
		case fault != nil && stage == Asking:
			return false, fmt.Errorf("leave: agent %s does not answer: %w", a.ID, fault)
		case fault != nil, !isDone(answer):
			haveAllDone = false
		}
	}
	return haveAllDone, ctx.Err()
}

// isDone says that an answer is message.LeaveDone.
func isDone(answer []byte) bool { return len(answer) == 1 && answer[0] == message.LeaveDone }

// Note notes how far another agent is: the content of message.QuestionLeave. It returns its instance and stage. An
// error is the answer.
func (l *Register) Note(from string, content []byte) (instance string, stage Stage, err error) {
	if len(content) < 2 || Stage(content[0]) > Done {
		return "", 0, fmt.Errorf("%w: a question of %q about leaving", peering.ErrMalformed, from)
	}
	stage, instance = Stage(content[0]), string(content[1:])
	if !ownership.IsInstance(instance) || ownership.AgentID(instance) != from {
		return "", 0, fmt.Errorf("%w: %q says that %.200q leaves", peering.ErrMalformed, from, instance)
	}
	switch {
	case instance != InstanceOf(l.o.Agents(), from): // membership will tell of it, and it asks again
		return "", 0, fmt.Errorf("%w: %s", errUnknown, instance)
	case stage > Asking:
		l.noteLeaving(from, instance, stage)
	case l.o.HasEnded():
		return "", 0, cluster.ErrEnding
	}
	return instance, stage, nil
}

// An agent that comes when another one has just left sees only that this one went in order, as an agent does that is
// stopped for a while. It would wait for it as long. The other agents have heard that it leaves, so some are asked.

// AskAbout asks some of the agents that are there whether an agent has left, and notes it. isAnswered says that none of
// them must be asked again.
func (l *Register) AskAbout(ctx context.Context, instance string) (hasLeft, isAnswered bool) {
	isAnswered = true
	there := slices.Clone(l.o.Agents())
	self := slices.IndexFunc(there, func(a ownership.Agent) bool { return a.ID == ownership.AgentID(l.o.Self) })
	for k := 1; k <= min(askAboutMax, len(there)-1); k++ {
		other := there[(self+k+len(there))%len(there)] // so not all agents ask the same ones
		answer, err := l.o.Ask(ctx, other.ID, append([]byte{message.QuestionLeft}, instance...))
		switch {
		case err == nil && isDone(answer):
			l.o.Log.Info("an agent has left permanently, the others say", "agent", ownership.AgentID(instance))
			l.noteLeft(instance)
			return true, true
		case err != nil && !errors.Is(err, peering.ErrMalformed) && !errors.Is(err, peering.ErrBanned):
			isAnswered = false
		}
	}
	return false, isAnswered
}

// AnswerLeft answers message.QuestionLeft.
func (l *Register) AnswerLeft(instance string) []byte {
	if l.HasLeft(instance) || l.HasAnnounced(instance) {
		return []byte{message.LeaveDone}
	}
	return []byte{message.LeaveWait}
}
