package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/recovery"
)

// Who comes in the last moment of another's leaving for good sees only that this one has gone in good order, as an
// agent does that is stopped for a while. It would wait for it as long as for that one (Config.AgentAway). The others
// have heard that it leaves: so some of them are asked.

const (
	// inquireMost is how many others are asked about one that has gone. Nearly all know: those who were there before.
	inquireMost = 8
	// inquireTries is how often, if some of them do not answer.
	inquireTries = 5
)

// answerLeft says what this agent has heard of another one.
func (p *agent) answerLeft(line string) ([]byte, error) {
	if p.hasLeft(line) || p.isGoing(line) {
		return []byte{message.LeaveDone}, nil
	}
	return []byte{message.LeaveWait}, nil
}

// hasLeft says that an agent has left for good, or has nothing left and does so, and has not come back.
func (p *agent) hasLeft(line string) bool {
	p.leavers.mu.Lock()
	defer p.leavers.mu.Unlock()
	return p.leavers.left[line] || p.leavers.going[line] == leaveGone
}

// inquire asks others about those who have gone in good order. It says whether one of these has left for good, and
// whether somebody is to be asked again.
func (p *agent) inquire(ctx context.Context) (news, again bool) {
	ctx, cancel := context.WithTimeout(ctx, recovery.Patience)
	defer cancel()
	for line, one := range p.stopped {
		if !one.back || one.tries >= inquireTries {
			continue
		}
		left, all := p.askLeft(ctx, line)
		switch {
		case left:
			id, _, _ := strings.Cut(line, "/")
			p.log.Info("an agent has left for good, the others say", "agent", id)
			p.leavers.mu.Lock()
			p.leavers.left[line] = true
			p.leavers.mu.Unlock()
			news = true
		case all:
			one.tries = inquireTries
		default:
			one.tries++
			again = again || one.tries < inquireTries
		}
	}
	return news, again
}

// askLeft asks some of those who are there whether an agent has left for good; all says that none of them is to be
// asked again.
func (p *agent) askLeft(ctx context.Context, line string) (left, all bool) {
	all = true
	there := slices.Clone(p.network.Agents())
	self := slices.IndexFunc(there, func(other ownership.Agent) bool { return other.ID == p.network.Self() })
	for k := 1; k <= min(inquireMost, len(there)-1); k++ {
		other := there[(self+k+len(there))%len(there)] // not all ask the same
		answer, err := p.ask(ctx, other.ID, append([]byte{message.QuestionLeft}, line...))
		switch {
		case err == nil && slices.Equal(answer, []byte{message.LeaveDone}):
			return true, true
		case err != nil && !errors.Is(err, cluster.ErrMalformed) && !errors.Is(err, cluster.ErrBanned):
			all = false
		}
	}
	return false, all
}
