package network

import (
	"sync"
	"time"

	"orbweaver/engine/peering/membership"
)

// arrivals notes when each agent was first seen with its data. It is safe for concurrent use.
type arrivals struct {
	mu   sync.Mutex
	byID map[string]arrival // guarded by mu: those in the last View that was noted
}

// arrival is when an agent was first seen with these data.
type arrival struct {
	store uint64
	at    time.Time
}

// note notes the agents of a View, and forgets all others.
func (a *arrivals) note(view *membership.View) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, noted := time.Now(), make(map[string]arrival, len(view.Agents))
	for i := range view.Agents {
		member := &view.Agents[i]
		if before, ok := a.byID[member.ID]; ok && before.store == member.Store {
			noted[member.ID] = before
			continue
		}
		noted[member.ID] = arrival{member.Store, now}
	}
	a.byID = noted
}

// timeOf is when an agent of the last View was first seen.
func (a *arrivals) timeOf(id string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byID[id].at
}
