package agent

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
)

// What an agent that keeps the rules never comes near: it sends no letter that cannot be read, and when it is told to
// wait, the few letters that are under way are all that come before it does.
const (
	garbledMost = 3  // letters and questions in a row
	earlyMost   = 64 // letters before the end of a wait
)

// standingWait is how long who is over the quota waits before it tries again.
const standingWait = 5 * time.Second

// The first ban, which doubles up to the longest.
const (
	banFirst = 10 * time.Minute
	banMost  = 24 * time.Hour
)

// quotaAhead is how many items more may come for each URL that this agent is done with. Agents send each other a few
// links for each page at most (BENCHMARKS.md has e/n and lambda).
const quotaAhead = 16

// itemBytes is how long an item of a letter is that counts as one. Longer ones count for several.
const itemBytes = 256

// standings are what the other agents have sent, and who is banned. What an agent may send depends on the work of the
// one it sends to: so many items as the quota, and some for each URL that it is done with. Beyond that letters are not
// taken, and their sender keeps them. So nobody is flooded, nothing is lost, and a queue that is handed over, however
// long, comes as fast as it is worked off. An agent that has nothing to do takes everything. Safe for concurrent use.
type standings struct {
	quota int64        // items; 0 for no limit
	done  func() int64 // URLs that this agent is done with
	say   *slog.Logger

	bans func() // is called when an agent is banned; nil for nobody

	mu sync.Mutex
	of map[string]*standing // by name of the agent
}

// standing is that of one agent.
type standing struct {
	items  int64     // received in this run
	since  int64     // items when this agent had nothing to do last
	done   int64     // URLs that it was done with then
	until  time.Time // it was told to wait until then
	early  int       // letters since that came too early
	waits  int64     // letters that were not taken for the quota
	faults int       // letters and questions in a row that cannot be read

	asked  time.Time       // when its questions so far are worked off, at the pace that is granted
	passed map[string]bool // lines of agents that left, whose lists it passed on; at most passedMost
	cut    int64           // statements that were not taken, since it has no authority for them
	said   [256]bool       // of what kinds the log says so

	banned  time.Time // until then
	why     string
	bans    int
	refused int64 // letters and questions, since it is banned
}

func newStandings(quota int64, done func() int64, say *slog.Logger) *standings {
	return &standings{quota: quota, done: done, say: say, of: map[string]*standing{}}
}

// get finds an agent's; the caller holds the lock. There are as many as there are agents with a certificate.
func (s *standings) get(id string) *standing {
	one := s.of[id]
	if one == nil {
		one = &standing{done: s.done()}
		s.of[id] = one
	}
	return one
}

// hear says why nothing of an agent is listened to; nil if it is.
func (s *standings) hear(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of[id]
	if one == nil || !time.Now().Before(one.banned) {
		return nil
	}
	one.refused++
	return one.refusal()
}

// bannedFor is for how long an agent is banned yet; 0 if it is not.
func (s *standings) bannedFor(id string, now time.Time) time.Duration {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.of[id]; one != nil {
		return max(one.banned.Sub(now), 0)
	}
	return 0
}

// The quota of questions. An agent that fetches a thousand pages a second asks a few hundred.
const (
	questionTime  = time.Second / 2000       // each question takes this much of the quota
	questionByte  = time.Second / (32 << 20) // and each of its bytes this much
	questionAhead = 10 * time.Second         // so much may be asked at a time
)

// ask charges a question to its sender. Beyond the quota it is not answered: the sender asks again later.
func (s *standings) ask(id string, size int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, now := s.get(id), time.Now()
	if one.asked.Before(now) {
		one.asked = now
	}
	if over := one.asked.Sub(now) - questionAhead; over > 0 {
		one.waits++
		return &cluster.WaitError{Wait: over}
	}
	one.asked = one.asked.Add(questionTime + time.Duration(size)*questionByte)
	return nil
}

// overstep notes that an agent said something of a kind for which it has no authority. The log has the first of each
// kind.
func (s *standings) overstep(id string, kind byte, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.get(id)
	one.cut++
	if !one.said[kind] {
		one.said[kind] = true
		s.say.Info("a statement of another agent is not taken, since it has no authority for it; more of this kind are only counted",
			"agent", id, "statement", what)
	}
}

// passesOn says that an agent may pass on the list of an agent that left, and notes that it does.
func (s *standings) passesOn(id, line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.get(id)
	if one.passed[line] || len(one.passed) >= passedMost {
		return one.passed[line]
	}
	if one.passed == nil {
		one.passed = make(map[string]bool)
	}
	one.passed[line] = true
	return true
}

func (o *standing) refusal() error {
	return fmt.Errorf("%w for another %v: %s", cluster.ErrBanned, time.Until(o.banned).Round(time.Second), o.why)
}

// garbled notes that an agent said something that cannot be read, and gives the error that it is told.
func (s *standings) garbled(id string, fault error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.get(id)
	if one.faults++; one.faults < garbledMost {
		return fault
	}
	one.faults = 0
	return s.ban(id, one, fmt.Sprintf("%d letters or questions in a row cannot be read, the last one: %.200v",
		garbledMost, fault))
}

// ban bans an agent. The caller holds the lock.
func (s *standings) ban(id string, one *standing, why string) error {
	length := min(banFirst<<min(one.bans, 16), banMost)
	one.bans++
	one.banned, one.why, one.refused, one.early = time.Now().Add(length), why, 0, 0
	s.say.Error("an agent is banned: its letters and questions are refused for a while; if it goes on, stop it, and make it a new file (orbweaver ca issue --force)",
		"agent", id, "for", length, "why", why)
	if s.bans != nil {
		s.bans()
	}
	return one.refusal()
}

// charge counts a letter that can be read, and gives what takes it back, if it is not taken after all. The error says
// that it is not to be taken now.
func (s *standings) charge(id string, letter []byte) (back func(), err error) {
	n := weigh(letter)
	s.mu.Lock()
	defer s.mu.Unlock()
	one, now := s.get(id), time.Now()
	one.faults = 0
	room := s.quota + quotaAhead*(s.done()-one.done)
	// a letter is taken in any case when nothing was before
	if s.quota == 0 || one.items-one.since+n <= room || one.items == one.since {
		one.items += n
		return func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			one.items -= n
		}, nil
	}
	one.waits++
	if now.Before(one.until) {
		if one.early++; one.early > earlyMost {
			return nil, s.ban(id, one,
				fmt.Sprintf("it has sent %d URLs in this run and does not wait when it is told to", one.items))
		}
	} else {
		one.until, one.early = now.Add(standingWait), 0
		if one.waits == 1 {
			s.say.Warn("an agent sends more than this one works off, and is told to wait", "agent", id, "items",
				one.items)
		}
	}
	return nil, &cluster.WaitError{Wait: one.until.Sub(now)}
}

// weigh is what a letter that can be read counts for.
func weigh(letter []byte) (n int64) {
	for item, err := range outbox.Items(letter) {
		if err == nil {
			n += 1 + int64(len(item)/itemBytes)
		}
	}
	return n
}

// forgive lets all begin anew, since this agent has nothing to do.
func (s *standings) forgive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.of {
		one.since, one.done, one.until = one.items, s.done(), time.Time{}
	}
}

// report adds what is known of an agent.
func (s *standings) report(a *cluster.AgentReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of[a.ID]
	if one == nil {
		return
	}
	a.Received, a.ToldToWait, a.NotTaken = one.items, one.waits, one.cut
	if time.Now().Before(one.banned) {
		a.Banned, a.BannedFor, a.Refused = one.banned.UTC().Format(time.RFC3339), one.why, one.refused
	}
}
