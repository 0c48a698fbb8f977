package membership

import "time"

// View is the membership as this agent knows it. A View never changes (M1): each change makes another View.
type View struct {
	Serial uint64 // grows by 1 with each change of Agents
	Self   Agent
	Agents []Agent // alive or suspect, sorted by ID, with Self

	Suspected []string     // sorted IDs of those in Agents that did not answer the last probe of this agent
	Past      []PastMember // dead or left, sorted by ID
}

// PastMember is an agent that is dead or left.
type PastMember struct {
	Agent   Agent
	At      time.Time // when this agent noticed; use it for durations only
	HasLeft bool      // it left in order; otherwise it is dead

	incarnation uint64
}

// Stats count what a Service refused since Join.
type Stats struct {
	OtherCrawl       int64 // attempts of agents of another crawl
	OtherKey         int64 // packets and streams that no gossip key opens
	Malformed        int64 // metadata and messages that cannot be parsed
	EndedIncarnation int64 // messages of ended incarnations: late, recorded, or of an agent that was declared dead
	TableFull        int64 // processes beyond the limit
	Revived          int64 // how often this agent was declared dead and took the next incarnation
}
