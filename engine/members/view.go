package members

import "time"

// View is who is there, as this agent sees it. It never changes: a change is another View.
type View struct {
	Serial uint64 // grows by one with each change of Agents
	Self   Agent
	Agents []Agent // alive or merely suspected, sorted by ID, Self included

	Suspected []string // IDs of those in Agents that did not answer the last probe of this agent, sorted
	Gone      []Gone   // who is not there any more, sorted by ID
}

// Gone is an agent that is not there any more.
type Gone struct {
	Agent Agent
	When  time.Time // when this agent saw it go; for durations, since it is the monotonic clock that counts
	Left  bool      // in good order; else it was taken for dead

	term uint64
}

// Stats count what was refused, since Join.
type Stats struct {
	Crawl   int64 // agents of another crawl, each time one spoke
	Key     int64 // messages without our key, or with another
	Garbled int64 // data of members, or messages, that cannot be read
	Ended   int64 // words of a term that has ended: echoes, replays, and those who come back
	Crowd   int64 // agents beyond those that are remembered
	Revived int64 // how often this agent was taken for dead and said that it is not
}
