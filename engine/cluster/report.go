package cluster

// StatusReport is what one of several agents says of itself and the others. What it counts of links is of the whole
// crawl; what it counts of letters is of this run.
type StatusReport struct {
	Self     string        `json:"self"`
	Agents   []AgentReport `json:"agents"` // those there are and those there were, by their names
	Pages    int64         `json:"pages"`  // n: crawled by this agent
	Overhead float64       `json:"overhead"`
	Lambda   float64       `json:"lambda"`

	LinksSent     int64 `json:"links_sent"`     // e: URLs for which others are responsible
	LinksReceived int64 `json:"links_received"` // from others
	LinksOut      int64 `json:"links_out"`      // links found that lead to another host than where they were
	HandedOver    int64 `json:"handed_over"`    // admitted URLs that went to the agent that is responsible now

	Asked      int64 `json:"asked"`      // questions of this run whether others have pages
	Unanswered int64 `json:"unanswered"` // of these
	Recovered  int64 `json:"recovered"`  // admitted URLs whose pages others have, or this agent had before
	Retold     int64 `json:"retold"`     // URLs of this run that agents had been told who are gone

	Superseded int64 `json:"superseded"` // captures that were marked in this run, since another agent's counts

	LettersSent     int64 `json:"letters_sent"` // and acknowledged: the other agent has them for good
	LettersReceived int64 `json:"letters_received"`
	LettersFailed   int64 `json:"letters_failed"` // that did not arrive, or are not known to have; they are sent again
	LettersHeld     int64 `json:"letters_held"`   // that the other agent has no room for yet, as it says; they are sent again
	LettersRefused  int64 `json:"letters_refused"`
	Strangers       int64 `json:"strangers_refused"` // letters and questions of agents that are no members
	NotTaken        int64 `json:"not_taken"`         // statements in letters for which their sender has no authority
	BytesSent       int64 `json:"bytes_sent"`        // of letters, before they are packed
	BytesReceived   int64 `json:"bytes_received"`

	LeasesWished     int64 `json:"leases_wished"`     // addresses that were wished for, in this run
	LeasesAsked      int64 `json:"leases_asked"`      // questions in which such wishes went to others
	LeasesUnanswered int64 `json:"leases_unanswered"` // of these
	LeasesAborted    int64 `json:"leases_aborted"`    // exchanges that were aborted since nobody prolonged the lease
	LeasesKept       int   `json:"leases_kept"`       // addresses that this agent has leased to somebody, now

	Waiting int64 `json:"waiting"` // URLs in outboxes, on their way or not

	Quorum *QuorumReport `json:"quorum,omitempty"` // nil if each side of a partition goes on
}

// QuorumReport is what an agent knows of the majority without whose lease it fetches nothing.
type QuorumReport struct {
	Majority bool     `json:"majority"` // it has a lease, and may fetch
	Agreed   []string `json:"agreed"`   // the voters
	Answer   []string `json:"answer"`   // the agents that it or the leader heard within the last 10 s, this one among them
	Grounded int64    `json:"grounded"` // exchanges of this run that were broken off since it might not go on with them, and are asked for again
}

// AgentReport is one agent, as another sees it.
type AgentReport struct {
	ID       string     `json:"id"`
	Capacity int        `json:"capacity"`
	State    AgentState `json:"state"`
	Since    string     `json:"since,omitempty"` // when it was seen to come; or to go, if it is not there any more
	Share    float64    `json:"share"`           // of all hosts
	Waiting  int64      `json:"waiting"`         // URLs in the outbox for it

	Received   int64  `json:"received"`               // URLs of its letters, in this run; long ones count for several
	ToldToWait int64  `json:"told_to_wait,omitempty"` // letters and questions of it that were not taken, since it was over its quota
	NotTaken   int64  `json:"not_taken,omitempty"`    // statements in its letters for which it has no authority
	Banned     string `json:"banned,omitempty"`       // until then its letters and questions are refused
	BannedFor  string `json:"banned_for,omitempty"`
	Refused    int64  `json:"refused,omitempty"` // letters and questions, since it is banned
}

// Here is how many agents are there, this one among them.
func (r *StatusReport) Here() (n int) {
	for _, a := range r.Agents {
		if a.State == AgentAlive || a.State == AgentSuspected {
			n++
		}
	}
	return n
}
