package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"orbweaver/engine/outbox"
)

// ErrBanned says that an agent does not speak with another for a while.
var ErrBanned = errors.New("engine: banned")

// WaitError says that an agent takes no more letters of another for now: it is to keep them, and to wait for so long before it
// sends the next.
type WaitError struct{ Wait time.Duration }

// Error says it.
func (e *WaitError) Error() string {
	return fmt.Sprintf("engine: over the quota of a peer: wait for %v", e.Wait)
}

// What an agent that keeps the rules never comes near: it sends no letter that cannot be read, and when it is told to wait, the few letters that
// are under way are all that come before it does.
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

// quotaAhead is how many items more may come for each URL that this agent is done with. Agents send each other a few links for each page at
// most (BENCHMARKS.md has e/n and lambda).
const quotaAhead = 16

// itemBytes is how long an item of a letter is that counts as one. Longer ones count for several.
const itemBytes = 256

// standings are what the other agents have sent, and who is banned. What an agent may send depends on the work of the one it sends to: so
// many items as the quota, and some for each URL that it is done with. Beyond that letters are not taken, and their sender keeps
// them. So nobody is flooded, nothing is lost, and a queue that is handed over, however long, comes as fast as it is worked off. An agent that
// has nothing to do takes everything. Safe for concurrent use.
type standings struct {
	quota int64        // items; 0 for no limit
	done  func() int64 // URLs that this agent is done with
	say   *slog.Logger

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
	one := s.get(id)
	if !time.Now().Before(one.banned) {
		return nil
	}
	one.refused++
	return one.refusal()
}

func (o *standing) refusal() error {
	return fmt.Errorf("%w for another %v: %s", ErrBanned, time.Until(o.banned).Round(time.Second), o.why)
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
	return s.ban(id, one, fmt.Sprintf("%d letters or questions in a row cannot be read, the last one: %.200v", garbledMost, fault))
}

// ban bans an agent. The caller holds the lock.
func (s *standings) ban(id string, one *standing, why string) error {
	length := min(banFirst<<min(one.bans, 16), banMost)
	one.bans++
	one.banned, one.why, one.refused, one.early = time.Now().Add(length), why, 0, 0
	s.say.Error("an agent is banned: its letters and questions are refused for a while; if it goes on, stop it, and make it a new file (orbweaver ca issue --force)",
		"agent", id, "for", length, "why", why)
	return one.refusal()
}

// charge counts a letter that can be read, and gives what takes it back, if it is not taken after all. The error says that it is not
// to be taken now.
func (s *standings) charge(id string, letter []byte) (back func(), err error) {
	n := weigh(letter)
	s.mu.Lock()
	defer s.mu.Unlock()
	one, now := s.get(id), time.Now()
	one.faults = 0
	room := s.quota + quotaAhead*(s.done()-one.done)
	if s.quota == 0 || one.items-one.since+n <= room || one.items == one.since { // a letter is taken in any case when nothing was before
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
			return nil, s.ban(id, one, fmt.Sprintf("it has sent %d URLs in this run and does not wait when it is told to", one.items))
		}
	} else {
		one.until, one.early = now.Add(standingWait), 0
		if one.waits == 1 {
			s.say.Warn("an agent sends more than this one works off, and is told to wait", "agent", id, "items", one.items)
		}
	}
	return nil, &WaitError{one.until.Sub(now)}
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
func (s *standings) report(a *AgentReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of[a.ID]
	if one == nil {
		return
	}
	a.Received, a.ToldToWait = one.items, one.waits
	if time.Now().Before(one.banned) {
		a.Banned, a.BannedFor, a.Refused = one.banned.UTC().Format(time.RFC3339), one.why, one.refused
	}
}
