package membership

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// process is one start of an agent. Its name is unique: the ID and 64 random bits.
type process struct {
	name string
	metadata

	pingUnanswered   bool      // the last UDP ping of this agent got no answer
	unreachableSince time.Time // since when this agent's probes fail; zero if they do not
	suspicionSent    time.Time // when the last suspicion message was sent to the process
}

// maxProcesses bounds the living processes and the ended incarnations in a table.
const maxProcesses = 4096

// table holds the living processes and the past members. It knows neither memberlist nor clock nor lock: its user
// passes the time and holds a lock.
//
// The incarnation orders the processes of one ID. A new process takes the incarnation after the last ended one. So does
// a process that was declared dead but is alive. Messages of ended incarnations are refused (M6).
type table struct {
	self       process
	living     map[string]*process    // by name, without self
	byID       map[string][]*process  // the same by ID: more than one while an agent restarts
	ids        []string               // the keys of byID, sorted
	suspicions map[string]*process    // by name: unreachable processes that were not reported alive since then
	ended      map[string]uint64      // by ID: the last ended incarnation
	past       map[string]*PastMember // by ID
	removals   []time.Time            // of processes that memberlist may still count
}

func newTable(self process) *table {
	return &table{
		self:       self,
		living:     map[string]*process{},
		byID:       map[string][]*process{},
		suspicions: map[string]*process{},
		ended:      map[string]uint64{},
		past:       map[string]*PastMember{},
	}
}

// admit returns nil if memberlist may add or update a process. A known member is accepted in any incarnation, since it
// must be able to refute a suspicion. A joining process has no incarnation yet, and is in no View.
func (t *table) admit(name string, m *metadata) error {
	if m.agent.Crawl != t.self.agent.Crawl {
		return fmt.Errorf("%w: agent %q belongs to crawl %q, this agent to crawl %q: %s",
			ErrOtherCrawl, m.agent.ID, m.agent.Crawl, t.self.agent.Crawl, remedy(m.agent.Crawl, t.self.agent.Crawl))
	}
	known := t.living[name]
	if known == nil && len(t.living) >= maxProcesses {
		return errTableFull
	}
	if m.stage != joining && m.incarnation <= t.ended[m.agent.ID] && (known == nil || known.stage == joining) {
		return errEndedIncarnation
	}
	return nil
}

// remedy says what to do about the names of two crawls that differ.
func remedy(a, b string) string {
	theirs, ours := strings.Split(a, " --"), strings.Split(b, " --")
	if theirs[0] != ours[0] {
		return "check --join"
	}
	var differ []string
	for _, setting := range slices.Concat(theirs, ours) {
		name, _, _ := strings.Cut("--"+setting, " ")
		if slices.Contains(theirs, setting) != slices.Contains(ours, setting) && !slices.Contains(differ, name) {
			differ = append(differ, name)
		}
	}
	return "give all agents the same " + strings.Join(differ, " and ")
}

func (t *table) add(p *process) {
	t.living[p.name] = p
	t.addToIndex(p)
}

func (t *table) drop(p *process) {
	delete(t.living, p.name)
	delete(t.suspicions, p.name)
	t.removeFromIndex(p)
}

func (t *table) addToIndex(p *process) {
	id := p.agent.ID
	if len(t.byID[id]) == 0 {
		at, _ := slices.BinarySearch(t.ids, id)
		t.ids = slices.Insert(t.ids, at, id)
	}
	t.byID[id] = append(t.byID[id], p)
}

func (t *table) removeFromIndex(p *process) {
	id := p.agent.ID
	rest := slices.DeleteFunc(t.byID[id], func(q *process) bool { return q == p })
	if len(rest) > 0 {
		t.byID[id] = rest
		return
	}
	delete(t.byID, id)
	if at, found := slices.BinarySearch(t.ids, id); found {
		t.ids = slices.Delete(t.ids, at, at+1)
	}
}

// put adds or updates a living process. It reports whether anything changed.
func (t *table) put(name string, m metadata, now time.Time) bool {
	p := t.living[name]
	switch {
	case p == nil:
		p = &process{name: name, metadata: m}
		t.add(p)
	case p.metadata == m:
		return false
	case p.agent.ID != m.agent.ID: // an honest process keeps its ID
		t.removeFromIndex(p)
		p.metadata = m
		t.addToIndex(p)
	}
	p.metadata = m
	if m.stage == leaving {
		t.recordPast(p, now, true)
	}
	return true
}

// remove removes a process that memberlist declared dead or left. It reports whether the process was there. Memberlist
// still counts the process for the retention time.
func (t *table) remove(name string, now time.Time, retention time.Duration) bool {
	p := t.living[name]
	if p == nil {
		return false
	}
	t.drop(p)
	t.removals = slices.DeleteFunc(t.removals, func(at time.Time) bool { return now.Sub(at) > retention })
	t.removals = append(t.removals, now)
	t.recordPast(p, now, p.stage == leaving)
	return true
}

// recordPast ends the incarnation of a process. Its agent becomes a past member, unless another process of it is a
// member.
func (t *table) recordPast(p *process, now time.Time, left bool) {
	if p.stage == joining {
		return
	}
	id := p.agent.ID
	t.ended[id] = max(t.ended[id], p.incarnation)
	if old := t.past[id]; (old == nil || old.incarnation < p.incarnation) && !t.hasMember(id) {
		t.past[id] = &PastMember{Agent: p.agent, At: now, HasLeft: left, incarnation: p.incarnation}
	}
	if len(t.ended) > maxProcesses {
		t.forgetOldest()
	}
}

// forgetOldest removes the ended incarnation of the agent that has been absent longest.
func (t *table) forgetOldest() {
	var oldest string
	var oldestAt time.Time
	for id := range t.ended {
		if t.hasMember(id) || id == t.self.agent.ID {
			continue
		}
		var at time.Time
		if p := t.past[id]; p != nil {
			at = p.At
		}
		if oldest == "" || at.Before(oldestAt) {
			oldest, oldestAt = id, at
		}
	}
	delete(t.ended, oldest)
	delete(t.past, oldest)
}

// hasMember reports whether a living process with this ID is a member.
func (t *table) hasMember(id string) bool {
	return slices.ContainsFunc(t.byID[id], func(p *process) bool { return p.stage == member })
}

// addEnded adds an ended incarnation that another agent reported. A process that lives here is not ended by such a
// report: memberlist decides which processes are dead.
func (t *table) addEnded(id string, incarnation uint64) {
	if slices.ContainsFunc(t.byID[id], func(p *process) bool { return p.incarnation <= incarnation }) {
		return
	}
	if incarnation > t.ended[id] && (len(t.ended) < maxProcesses || t.ended[id] > 0) {
		t.ended[id] = incarnation
	}
}

// memberlistSize estimates the number of processes that memberlist counts.
func (t *table) memberlistSize() int { return 1 + len(t.living) + len(t.removals) }

// setUnreachable notes that probes of a process fail, if its last UDP ping had no answer. It reports a change.
func (t *table) setUnreachable(name string, now time.Time) bool {
	p := t.living[name]
	if p == nil || !p.pingUnanswered {
		return false
	}
	t.suspicions[name] = p
	if !p.unreachableSince.IsZero() {
		return false
	}
	p.unreachableSince = now
	return true
}

// setReachable notes that a process answered a probe of this agent. It reports a change.
func (t *table) setReachable(name string) bool {
	p := t.living[name]
	if p == nil {
		return false
	}
	changed := !p.unreachableSince.IsZero()
	p.pingUnanswered, p.unreachableSince = false, time.Time{}
	delete(t.suspicions, name)
	return changed
}

// wins decides between two members of one ID (M3): the higher incarnation wins. Two members can have one incarnation
// only after a partition. Then the smaller name wins.
func (p *process) wins(q *process) bool {
	return p.incarnation > q.incarnation || p.incarnation == q.incarnation && p.name < q.name
}

// agents returns the members, one for each ID, sorted by ID, and the sorted IDs of those that are unreachable.
func (t *table) agents() (agents []Agent, suspected []string) {
	agents = make([]Agent, 0, len(t.ids)+1)
	add := func(p *process) {
		agents = append(agents, p.agent)
		if !p.unreachableSince.IsZero() {
			suspected = append(suspected, p.agent.ID)
		}
	}
	hasSelf := false
	for _, id := range t.ids {
		if !hasSelf && id >= t.self.agent.ID {
			add(&t.self)
			hasSelf = true
		}
		if id == t.self.agent.ID {
			continue
		}
		var best *process
		for _, p := range t.byID[id] {
			if p.stage == member && (best == nil || p.wins(best)) {
				best = p
			}
		}
		if best != nil {
			add(best)
		}
	}
	if !hasSelf {
		add(&t.self)
	}
	return agents, suspected
}

// pastMembers returns the past members sorted by ID. It forgets those that are members again.
func (t *table) pastMembers() (past []PastMember) {
	for id, p := range t.past {
		if t.hasMember(id) || id == t.self.agent.ID {
			delete(t.past, id)
			continue
		}
		past = append(past, *p)
	}
	slices.SortFunc(past, func(a, b PastMember) int { return strings.Compare(a.Agent.ID, b.Agent.ID) })
	return past
}

// hasRemaining reports whether another process remains that is not leaving.
func (t *table) hasRemaining() bool {
	for _, p := range t.living {
		if p.stage != leaving {
			return true
		}
	}
	return false
}

// conflicting returns a living process with this agent's ID at another address; nil if there is none. A process at this
// agent's own address cannot be alive. Of several it returns the one that wins.
func (t *table) conflicting() (found *process) {
	for _, p := range t.byID[t.self.agent.ID] {
		if p.stage == leaving || p.agent.GossipAddr == t.self.agent.GossipAddr {
			continue
		}
		if found == nil || cmp.Or(
			cmp.Compare(p.stage, found.stage),
			cmp.Compare(p.incarnation, found.incarnation),
			strings.Compare(found.name, p.name),
		) > 0 {
			found = p
		}
	}
	return found
}

// nextIncarnation is higher than all incarnations that this agent's ID had.
func (t *table) nextIncarnation() uint64 {
	last := t.ended[t.self.agent.ID]
	for _, p := range t.byID[t.self.agent.ID] {
		last = max(last, p.incarnation)
	}
	if last == math.MaxUint64 {
		return last
	}
	return max(t.self.incarnation, last+1)
}

// hasProcessAt reports whether a living process listens at an address and is not leaving.
func (t *table) hasProcessAt(at netip.AddrPort) bool {
	for _, p := range t.living {
		if p.agent.GossipAddr == at && p.stage != leaving {
			return true
		}
	}
	return at == t.self.agent.GossipAddr
}
