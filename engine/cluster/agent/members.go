package agent

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// members knows which agents count: those that are there and those that stopped and are expected back, without those
// that leave or are banned. Fields without an atomic type belong to the loop that follows membership.
type members struct {
	network  peers
	views    *ownership.Timeline
	leaving  *leave.Register
	accounts *accounts
	awayMax  time.Duration // how long the hosts of an agent that stopped wait for it

	stopped  map[string]*stoppedAgent          // agents that stopped in order, by instance
	expected []string                          // instances in the view that are expected back, or agreed to be
	banned   atomic.Pointer[[]ownership.Agent] // members that are not in the view
}

// stoppedAgent is an agent that stopped in order.
type stoppedAgent struct {
	noticedAt  time.Time // when this agent saw it
	tries      int       // how often other agents were asked whether it has left permanently
	isExpected bool      // it is expected back
}

// present are the agents that are there, and the members of the view that stopped in order and are expected back.
// again is after which time the answer may change by itself, 0 for never.
func (m *members) present(at time.Time) (now []ownership.Agent, again time.Duration) {
	now = slices.Clone(m.network.Agents())
	stopped := make(map[string]*stoppedAgent)
	m.expected = nil
	for _, k := range m.network.KnownAgents() {
		instance, counted := k.Instance(), m.views.Load().Has(k.Agent)
		isHere := slices.ContainsFunc(now, func(other ownership.Agent) bool { return other.ID == k.ID })
		if isHere || k.State != cluster.AgentLeft || m.leaving.HasLeft(instance) ||
			!counted && !m.leaving.HasAnnounced(instance) {
			continue
		}
		stop := m.stopped[instance]
		if stop == nil {
			stop = &stoppedAgent{noticedAt: at}
		}
		stopped[instance] = stop
		wait := m.awayMax - at.Sub(stop.noticedAt)
		if stop.isExpected = wait > 0; !stop.isExpected {
			continue
		}
		if again == 0 || wait < again {
			again = wait
		}
		if counted {
			now, m.expected = append(now, k.Agent), append(m.expected, instance)
		}
	}
	m.stopped = stopped
	now, again = m.withoutBanned(now, at, again)
	now = m.leaving.Staying(now)
	slices.SortFunc(now, func(a, b ownership.Agent) int { return strings.Compare(a.ID, b.ID) })
	return now, again
}

// leavingAgents are those that are there and have announced that they leave, perhaps this one.
func (m *members) leavingAgents() []ownership.Agent {
	return slices.DeleteFunc(slices.Clone(m.network.Agents()),
		func(a ownership.Agent) bool { return !m.leaving.HasAnnounced(a.Instance()) })
}

// isStopped says that an agent stopped in order and is expected back.
func (m *members) isStopped(instance string) bool {
	stop := m.stopped[instance]
	return stop != nil && stop.isExpected
}

// withoutBanned leaves out the agents that this one has banned: their hosts go to others until the ban ends. again is
// as in present.
func (m *members) withoutBanned(
	now []ownership.Agent, at time.Time, again time.Duration,
) ([]ownership.Agent, time.Duration) {
	var banned []ownership.Agent
	now = slices.DeleteFunc(now, func(a ownership.Agent) bool {
		left := m.accounts.BannedFor(a.ID, at)
		if left > 0 {
			banned = append(banned, a)
		}
		if left > 0 && (again == 0 || left < again) {
			again = left
		}
		return left > 0
	})
	banned = slices.DeleteFunc(banned, func(a ownership.Agent) bool { return m.leaving.HasAnnounced(a.Instance()) })
	m.banned.Store(&banned)
	return now, again
}

// bannedAgents are those that withoutBanned left out last.
func (m *members) bannedAgents() []ownership.Agent {
	if banned := m.banned.Load(); banned != nil {
		return *banned
	}
	return nil
}

// askAboutStopped asks other agents about those that stopped in order. It says whether one of these has left, and
// whether the others must be asked again.
func (m *members) askAboutStopped(ctx context.Context) (news, again bool) {
	ctx, cancel := context.WithTimeout(ctx, recovery.Patience)
	defer cancel()
	for instance, stop := range m.stopped {
		if !stop.isExpected || stop.tries >= leave.AskAboutTries {
			continue
		}
		hasLeft, isAnswered := m.leaving.AskAbout(ctx, instance)
		switch {
		case hasLeft:
			news = true
		case isAnswered:
			stop.tries = leave.AskAboutTries
		default:
			stop.tries++
			again = again || stop.tries < leave.AskAboutTries
		}
	}
	return news, again
}
