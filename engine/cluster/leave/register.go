package leave

import (
	"maps"
	"slices"
	"sync"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/notify"
)

// Stage is how far an agent is with leaving, as it tells the others.
type Stage byte

// The stages.
const (
	Asking    Stage = iota // it would like to leave; nothing changes
	Announced              // no agent counts on it any more; what was sent to it goes to its new owner
	Done                   // it has nothing left
)

// Register knows the agents that leave.
type Register struct {
	o    Options
	news chan struct{} // capacity 1

	mu         sync.Mutex
	stages     map[string]Stage // guarded by mu: of other agents that are leaving, by instance
	leftAgents map[string]bool  // guarded by mu: instances that have left, in this run
	ownStage   Stage            // guarded by mu: Announced when no agent counts on this one any more
	isLeaving  bool             // guarded by mu: this agent leaves
}

// New makes a Register that knows of none.
func New(o Options) *Register {
	return &Register{o: o, news: make(chan struct{}, 1), stages: map[string]Stage{}, leftAgents: map[string]bool{}}
}

// Changed receives when an agent has announced that it leaves, or Wake was called.
func (l *Register) Changed() <-chan struct{} { return l.news }

// Wake makes Changed receive.
func (l *Register) Wake() { notify.Send(l.news) }

// Restore goes on where the last run ended. An agent that may have announced that it leaves does so again: some of the
// others do not count on it any more, and those that have not heard of it must.
func (l *Register) Restore(state *cluster.Checkpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isLeaving = state.IsLeaving
	if l.isLeaving && (state.AnnouncedLeave || !slices.Contains(ownership.Instances(state.Agents), l.o.Self)) {
		l.ownStage = Announced
	}
	for _, instance := range state.LeavingAgents {
		l.stages[instance] = Announced
	}
	for _, instance := range state.DoneAgents {
		l.stages[instance] = Done
	}
}

// FillCheckpoint notes how far the agents are. hasLeft says that this agent has left.
func (l *Register) FillCheckpoint(state *cluster.Checkpoint, hasLeft bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	state.IsLeaving = l.isLeaving && !hasLeft
	state.AnnouncedLeave = l.ownStage == Announced && !hasLeft
	for instance, stage := range l.stages {
		state.LeavingAgents = append(state.LeavingAgents, instance)
		if stage == Done {
			state.DoneAgents = append(state.DoneAgents, instance)
		}
	}
	slices.Sort(state.LeavingAgents)
	slices.Sort(state.DoneAgents)
}

// Leave makes this agent one that leaves.
func (l *Register) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isLeaving = true
}

// IsLeaving says that this agent leaves.
func (l *Register) IsLeaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isLeaving
}

// Announce says that no agent counts on this one from now on.
func (l *Register) Announce() {
	l.mu.Lock()
	l.ownStage = Announced
	l.mu.Unlock()
	l.Wake()
}

// HasAnnounced says that an agent, perhaps this one, has announced that it leaves, and has not left.
func (l *Register) HasAnnounced(instance string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stages[instance] != 0 || l.ownStage == Announced && instance == l.o.Self
}

// HasLeft says that an agent has left, or has nothing left, and has not come back.
func (l *Register) HasLeft(instance string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leftAgents[instance] || l.stages[instance] == Done
}

// Leaving are the agents that are there and leave, but have something left. They own no hosts. Agents that have come
// since have no list of what they have fetched, and those that have one do not speak for them yet.
func (l *Register) Leaving() (agents []ownership.Agent) {
	l.mu.Lock()
	stages := maps.Clone(l.stages)
	l.mu.Unlock()
	if len(stages) == 0 {
		return nil
	}
	for _, a := range l.o.Agents() {
		if stages[a.Instance()] == Announced {
			agents = append(agents, a)
		}
	}
	return agents
}

// NoteAgreed notes what the agents have agreed on: that some leave. Their own words may come later.
func (l *Register) NoteAgreed(leaving []ownership.Agent) {
	for _, a := range leaving {
		if a.Instance() != l.o.Self && a.Instance() == InstanceOf(l.o.Agents(), a.ID) {
			l.noteLeaving(a.ID, a.Instance(), Announced)
		}
	}
}

// Staying are those of some agents that do not leave. If there are none, those that have something left stay, until
// another agent comes. Agents that have nothing left and are not there any more have left from now on.
func (l *Register) Staying(there []ownership.Agent) []ownership.Agent {
	here := make(map[string]bool)
	for _, a := range there {
		here[a.Instance()] = true
	}
	l.mu.Lock()
	maps.DeleteFunc(l.leftAgents, func(instance string, _ bool) bool { return here[instance] })
	for instance, stage := range l.stages {
		if stage == Done && !here[instance] {
			delete(l.stages, instance)
			l.leftAgents[instance] = true
		}
	}
	l.mu.Unlock()
	without := func(is func(instance string) bool) []ownership.Agent {
		return slices.DeleteFunc(slices.Clone(there), func(a ownership.Agent) bool { return is(a.Instance()) })
	}
	if staying := without(l.HasAnnounced); len(staying) > 0 {
		return staying
	}
	return without(l.HasLeft)
}

// noteStage notes how far another agent is, and says whether it was not known to leave. There is one entry for each ID:
// what the agent did with other data before does not count any more.
func (l *Register) noteStage(id, instance string, stage Stage) (isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.stages[instance]
	maps.DeleteFunc(l.stages,
		func(other string, _ Stage) bool { return other != instance && ownership.AgentID(other) == id })
	l.stages[instance] = max(was, stage)
	return was == 0
}

// noteLeaving notes how far another agent is, and says so if it was not known to leave.
func (l *Register) noteLeaving(id, instance string, stage Stage) {
	if l.noteStage(id, instance, stage) {
		l.o.Log.Info("an agent leaves permanently: its hosts are given to the others", "agent", id)
		l.Wake()
	}
}

// noteLeft notes that an agent has left.
func (l *Register) noteLeft(instance string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leftAgents[instance] = true
}
