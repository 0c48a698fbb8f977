package membership

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/memberlist"
)

// publishPause is the least time between two Views, for each living process. Without it, a thousand agents that join
// together would make each agent write a thousand Views of a thousand agents.
const publishPause = 500 * time.Microsecond

// maintain does what callbacks of memberlist must not do: it publishes Views, sends messages, and keeps the incarnation
// of this process right. It runs until the Service is closed or lost.
func (s *Service) maintain() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var published time.Time
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		wait, err := s.updateSelf()
		if err != nil {
			s.endMembership(err)
			return
		}
		wait = earlier(wait, s.queueSuspicions())
		s.sendMessages()
		s.state.mu.Lock()
		outdated := s.state.viewOutdated
		pause := publishPause*time.Duration(len(s.state.table.living)) - time.Since(published)
		s.state.mu.Unlock()
		switch {
		case outdated && pause > 0:
			wait = earlier(wait, pause)
		case outdated:
			published = time.Now()
			s.publish()
		}
		if wait > 0 {
			timer.Reset(wait)
		}
	}
}

// earlier returns the shorter one of two waiting times. A time of 0 means none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// sendMessages sends the queued messages, without acknowledgement. A sender that needs an answer repeats its message.
func (s *Service) sendMessages() {
	st := &s.state
	st.mu.Lock()
	outgoing := st.outgoing
	st.outgoing = nil
	st.mu.Unlock()
	for _, o := range outgoing {
		_ = s.list.SendToAddress(memberlist.Address{Addr: o.to.String(), Name: o.process}, o.message.append(nil))
	}
}

// queueSuspicions queues a message for each suspicion, once in a ProbeInterval, until the process is reported alive. A
// process that receives it makes sure that its refutation arrives. It returns when to call again, 0 for no time.
func (s *Service) queueSuspicions() (wait time.Duration) {
	st := &s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	now, interval := time.Now(), s.o.Timings.ProbeInterval
	for _, p := range st.table.suspicions {
		if left := interval - now.Sub(p.suspicionSent); left > 0 {
			wait = earlier(wait, left)
			continue
		}
		p.suspicionSent = now
		st.outgoing = append(st.outgoing, outgoingMessage{
			to: p.agent.GossipAddr, process: p.name, message: message{kind: suspicion, process: p.name},
		})
		wait = earlier(wait, interval)
	}
	return wait
}

// updateSelf makes this process a member, gives it the next incarnation if its own one ended, and finds another living
// process with its ID (M3). It returns when to call again, 0 for no time, or an error if the other process has the
// name.
func (s *Service) updateSelf() (wait time.Duration, err error) {
	st := &s.state
	st.mu.Lock()
	t := st.table
	self, other := &t.self, t.conflicting()
	var announce, admitted bool
	switch {
	case self.stage == leaving:
	case other != nil && (self.stage == member && other.stage == member && other.wins(self) ||
		self.stage == joining && (other.stage == member || other.name < self.name)):
		// The other process may be dead already. Then memberlist will report it. If it is alive, it answers.
		if st.conflict.answered && st.conflict.process == other.name {
			err = conflictError(other)
		} else {
			wait = s.requestLiveness(other)
		}
	case self.stage == member && self.incarnation <= t.ended[self.agent.ID]:
		self.incarnation, announce = t.nextIncarnation(), true
		st.stats.Revived++
	case self.stage == joining && st.endedKnown && len(t.living) > 0: // without another agent there is none to ask
		self.incarnation, self.stage = t.nextIncarnation(), member
		announce, admitted = true, true
	}
	st.mu.Unlock()
	if announce {
		_ = s.announceMetadata(queueOnly) // its timeout is expected
	}
	if admitted {
		close(s.admitted)
	}
	return wait, err
}

// requestLiveness asks a process whether it is alive, once in a ProbeInterval. It returns when to call again.
func (s *Service) requestLiveness(other *process) time.Duration {
	st := &s.state
	now, interval := time.Now(), s.o.Timings.ProbeInterval
	if st.conflict.process != other.name {
		st.conflict = conflictCheck{process: other.name, nonce: rand.Uint64()}
	} else if elapsed := now.Sub(st.conflict.sentAt); elapsed < interval {
		return interval - elapsed
	}
	st.conflict.sentAt = now
	st.outgoing = append(st.outgoing, outgoingMessage{
		to: other.agent.GossipAddr, process: other.name,
		message: message{
			kind: livenessRequest, nonce: st.conflict.nonce, process: other.name, replyTo: st.table.self.agent.GossipAddr,
		},
	})
	return interval
}

func conflictError(other *process) error {
	return fmt.Errorf("%w: agent %q runs at %v: choose another --agent, or stop that agent first",
		ErrNameInUse, other.agent.ID, other.agent.GossipAddr)
}

// endMembership ends the membership after a conflict. Other agents remove this process from their Views, without
// reporting a leave.
func (s *Service) endMembership(err error) {
	s.state.mu.Lock()
	s.state.table.self.stage = leaving
	s.state.mu.Unlock()
	_ = s.announceMetadata(queueOnly)
	s.o.Log.Error("another agent has the name of this agent: membership ended", "error", err)
	s.err = err
	close(s.lost)
}
