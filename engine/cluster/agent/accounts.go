package agent

import (
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/peering"
	"orbweaver/engine/state/cluster"
)

// An honest agent stays far below both: it sends no malformed message, and after it is told to wait, only the few
// messages that are already in flight arrive early.
const (
	malformedMost = 3  // malformed messages and questions in a row
	earlyMost     = 64 // messages before the end of a wait
)

// quotaWait is how long an agent over its quota waits before it tries again.
const quotaWait = 5 * time.Second

// The first ban. The length doubles with each ban, up to the longest.
const (
	banFirst = 10 * time.Minute
	banMost  = 24 * time.Hour
)

// itemsAhead is how many more items may come for each URL that this agent completes. Agents send each other a few links
// for each page at most (BENCHMARKS.md has e/n and lambda).
const itemsAhead = 16

// itemBytes is the length of an item that counts once. A longer item counts several times.
const itemBytes = 256

// listsMost is how many lists of fetched URLs of agents that have left an agent may pass on.
const listsMost = 8

// The quota of questions. An agent that fetches a thousand pages a second asks a few hundred.
const (
	questionTime  = time.Second / 2000       // each question takes this much of the quota
	questionByte  = time.Second / (32 << 20) // and each of its bytes this much
	questionAhead = 10 * time.Second         // what may be asked at a time
)

// accounts are the accounts of all other agents. Safe for concurrent use.
type accounts struct {
	quota     int64        // items; 0 for no limit
	completed func() int64 // URLs that this agent has completed
	onBan     func()
	log       *slog.Logger

	mu struct {
		sync.Mutex
		byAgent map[string]*account // by name
	}
}

// account is that of one agent.
type account struct {
	items         int64     // received in this run
	itemsAtIdle   int64     // items when this agent was idle last
	completedThen int64     // URLs completed at that time
	waitUntil     time.Time // the agent was told to wait until then
	early         int       // messages since, that came before
	waits         int64     // messages that were not taken because of the quota
	malformed     int       // messages and questions in a row that could not be read

	questionsUntil time.Time       // when its questions so far are worked off, at the granted rate
	listsOf        map[string]bool // instances that left, whose lists it passed on; at most listsMost
	unauthorised   int64           // statements that were not taken
	logged         [256]bool       // kinds of statements that the log has an example of

	bannedUntil time.Time
	banReason   string
	bans        int
	refused     int64 // messages and questions since the last ban began
}

// newAccounts makes the accounts of a run. quota is in items, 0 for no limit. completed counts the URLs that this agent
// has completed, of former runs too. onBan is called after each ban, with the lock of the accounts held: it must not
// block or call them.
func newAccounts(quota int64, completed func() int64, onBan func(), log *slog.Logger) *accounts {
	s := &accounts{quota: quota, completed: completed, onBan: onBan, log: log}
	s.mu.byAgent = map[string]*account{}
	return s
}

// account finds or opens the account of an agent. The caller holds the lock.
func (s *accounts) account(id string) *account {
	a := s.mu.byAgent[id]
	if a == nil {
		a = &account{completedThen: s.completed()}
		s.mu.byAgent[id] = a
	}
	return a
}

// CheckBan returns nil if the agent is not banned. Else it counts a refused message and returns the reason.
func (s *accounts) CheckBan(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.mu.byAgent[id]
	if a == nil || !time.Now().Before(a.bannedUntil) {
		return nil
	}
	a.refused++
	return a.refusal()
}

// BannedFor is the rest of an agent's ban; 0 if it is not banned.
func (s *accounts) BannedFor(id string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.mu.byAgent[id]; a != nil {
		return max(a.bannedUntil.Sub(now), 0)
	}
	return 0
}

// ChargeQuestion charges a question of some bytes. The error is a *peering.WaitError if the agent has asked too much:
// the question is not to be answered now.
func (s *accounts) ChargeQuestion(id string, size int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, now := s.account(id), time.Now()
	if a.questionsUntil.Before(now) {
		a.questionsUntil = now
	}
	if over := a.questionsUntil.Sub(now) - questionAhead; over > 0 {
		a.waits++
		return &peering.WaitError{Wait: over}
	}
	a.questionsUntil = a.questionsUntil.Add(questionTime + time.Duration(size)*questionByte)
	return nil
}

// NoteUnauthorised counts a statement of an agent that had no authority for it. The log gets the first of each kind.
func (s *accounts) NoteUnauthorised(id string, kind byte, statement string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account(id)
	a.unauthorised++
	if !a.logged[kind] {
		a.logged[kind] = true
		s.log.Info("a statement of another agent is not taken, since it has no authority for it; "+
			"more of this kind are only counted",
			"agent", id, "statement", statement)
	}
}

// MayPassOn says whether an agent may pass on the list of an instance that left, and notes that it does.
func (s *accounts) MayPassOn(id, instance string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account(id)
	if a.listsOf[instance] || len(a.listsOf) >= listsMost {
		return a.listsOf[instance]
	}
	if a.listsOf == nil {
		a.listsOf = make(map[string]bool)
	}
	a.listsOf[instance] = true
	return true
}

func (a *account) refusal() error {
	return fmt.Errorf("%w for another %v: %s",
		peering.ErrBanned, time.Until(a.bannedUntil).Round(time.Second), a.banReason)
}

// NoteMalformed notes that a message or question of an agent could not be read, and returns the error for its sender:
// fault, or the ban that follows.
func (s *accounts) NoteMalformed(id string, fault error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account(id)
	if a.malformed++; a.malformed < malformedMost {
		return fault
	}
	a.malformed = 0
	return s.ban(id, a, fmt.Sprintf("%d malformed messages or requests in a row, the last one: %.200v",
		malformedMost, fault))
}

// ban bans an agent. The caller holds the lock.
func (s *accounts) ban(id string, a *account, reason string) error {
	length := min(banFirst<<min(a.bans, 16), banMost)
	a.bans++
	a.bannedUntil, a.banReason, a.refused, a.early = time.Now().Add(length), reason, 0, 0
	s.log.Error("an agent is banned: its messages and requests are refused for a while; "+
		"if it continues, stop it, and make it a new file (orbweaver ca issue --force)",
		"agent", id, "for", length, "why", reason)
	s.onBan()
	return a.refusal()
}

// ChargeMessage charges the items of a message that can be read. refund takes the charge back, for a message that is
// not taken after all. An error says that the message is not to be taken now: a *peering.WaitError, or a ban.
func (s *accounts) ChargeMessage(id string, items []message.Item) (refund func(), err error) {
	n := int64(len(items))
	for i := range items {
		n += int64(len(items[i].Bytes) / itemBytes)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, now := s.account(id), time.Now()
	a.malformed = 0
	ahead := itemsAhead * (s.completed() - a.completedThen)
	allowed := ahead + min(s.quota, math.MaxInt64-ahead)
	// the first message is taken however large it is
	if s.quota == 0 || a.items-a.itemsAtIdle+n <= allowed || a.items == a.itemsAtIdle {
		a.items += n
		return func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			a.items -= n
		}, nil
	}
	a.waits++
	if now.Before(a.waitUntil) {
		if a.early++; a.early > earlyMost {
			return nil, s.ban(id, a,
				fmt.Sprintf("it has sent %d URLs in this run and does not wait when it is told to", a.items))
		}
	} else {
		a.waitUntil, a.early = now.Add(quotaWait), 0
		if a.waits == 1 {
			s.log.Warn("an agent sends more than this one works off, and is told to wait", "agent", id, "items", a.items)
		}
	}
	return nil, &peering.WaitError{Wait: a.waitUntil.Sub(now)}
}

// ForgiveAll begins all quotas again, since this agent is idle.
func (s *accounts) ForgiveAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.mu.byAgent {
		a.itemsAtIdle, a.completedThen, a.waitUntil = a.items, s.completed(), time.Time{}
	}
}

// FillReport adds the account of an agent to its report.
func (s *accounts) FillReport(r *cluster.AgentReport) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.mu.byAgent[r.ID]
	if a == nil {
		return
	}
	r.URLsReceived, r.MessagesOverQuota, r.StatementsRefused = a.items, a.waits, a.unauthorised
	if time.Now().Before(a.bannedUntil) {
		r.BannedUntil, r.BanReason, r.MessagesRefused = a.bannedUntil.UTC().Format(time.RFC3339), a.banReason, a.refused
	}
}
