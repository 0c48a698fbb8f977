package membership

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Agent is one agent of a crawl, as the other agents know it.
type Agent struct {
	ID          string         // given by the operator, unique in a crawl: 1 to 64 of a-z A-Z 0-9 . _ -
	Capacity    int            // 1 to MaxCapacity: share of the hosts in proportion to the other capacities
	GossipAddr  netip.AddrPort // where it listens for membership messages, UDP and TCP
	MessageAddr netip.AddrPort // where it listens for messages of the crawl

	// Store identifies the data of the agent, so that other agents notice if it lost them. It is carried, not
	// interpreted.
	Store uint64
	// Crawl identifies the crawl: 1 to 240 printable ASCII characters. Agents of other crawls are refused. Settings that
	// all agents must have may follow the name, each as " --NAME VALUE".
	Crawl string
	// MessageVersion is the version of the messages of the crawl, 0 to 65535. It is carried, not interpreted.
	MessageVersion int
}

const (
	// MaxCapacity bounds capacities. Only their proportions matter.
	MaxCapacity = 1000
	// maxName bounds an ID, in bytes. With it the metadata of a member stay far below
	// memberlist's limit of 512 bytes.
	maxName = 64
	// maxCrawl bounds the name of a crawl with the settings that all agents must have.
	maxCrawl = 240
)

// ErrAgent is wrapped by every error about the fields of an Agent.
var ErrAgent = errors.New("membership: invalid agent")

// faults returns all invalid fields, whether they come from the caller or from another agent. Addresses are checked
// where they are used.
func (a *Agent) faults() (faults []error) {
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: %s", ErrAgent, fmt.Sprintf(format, args...)))
		}
	}
	check(isID(a.ID), "identifier %q: want 1 to %d of a-z A-Z 0-9 . _ -", a.ID, maxName)
	check(a.Capacity >= 1 && a.Capacity <= MaxCapacity, "capacity %d: want 1 to %d", a.Capacity, MaxCapacity)
	check(isPrintable(a.Crawl), "crawl %q: want 1 to %d printable ASCII characters", a.Crawl, maxCrawl)
	check(a.MessageVersion >= 0 && a.MessageVersion <= 1<<16-1, "message version %d: want 0 to 65535", a.MessageVersion)
	return faults
}

func isID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= maxCrawl
}

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
