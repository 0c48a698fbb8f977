package cluster

// StatusReport is what one of several agents says of itself and the others. What it counts of links is of the whole
// crawl; what it counts of letters is of this run.
type StatusReport struct {
	Self     string        `json:"self"`
	Agents   []AgentReport `json:"agents"` // those there are and those there were, by their names
	Pages    int64         `json:"pages"`  // n: crawled by this agent
	Overhead float64       `json:"overhead" metric:"peers_overhead" help:"URLs sent for each page crawled: e/n."`
	Lambda   float64       `json:"lambda" metric:"peers_lambda" help:"Links to other hosts for each page crawled."`

	LinksSent     int64 `json:"links_sent" metric:"peers_links_sent_total" help:"URLs sent to the agents that own them: e."`
	LinksReceived int64 `json:"links_received" metric:"peers_links_received_total" help:"URLs that other agents sent."`
	LinksOut      int64 `json:"links_out" metric:"peers_links_out_total" help:"Links found that lead to another host than where they were."`
	HandedOver    int64 `json:"handed_over"` // admitted URLs that went to the agent that is responsible now

	Asked      int64 `json:"asked"`      // questions of this run whether others have pages
	Unanswered int64 `json:"unanswered"` // of these
	Recovered  int64 `json:"recovered"`  // admitted URLs whose pages others have, or this agent had before
	Retold     int64 `json:"retold"`     // URLs that were sent to lost agents, and are sent again, in this run

	Superseded int64 `json:"superseded"` // captures that were marked in this run, since another agent's counts

	MessagesSent     int64 `json:"letters_sent" metric:"peers_letters_sent_total" help:"Letters that other agents have acknowledged, in this run."`
	MessagesReceived int64 `json:"letters_received" metric:"peers_letters_received_total" help:"Letters of other agents that were taken, in this run."`
	MessagesFailed   int64 `json:"letters_failed" metric:"peers_letters_failed_total" help:"Letters that did not arrive, and are sent again, in this run."`
	MessagesHeld     int64 `json:"letters_held" metric:"peers_letters_held_total" help:"Letters for which the other agent had no room yet, and that are sent again, in this run."`
	MessagesRefused  int64 `json:"letters_refused" metric:"peers_letters_refused_total" help:"Letters that could not be read, there or here, in this run."`
	Strangers        int64 `json:"strangers_refused" metric:"peers_strangers_refused_total" help:"Letters and questions refused in this run since their sender is not a member of the crawl, as this agent knows it."`
	NotTaken         int64 `json:"not_taken"` // statements in letters for which their sender has no authority
	BytesSent        int64 `json:"bytes_sent" metric:"peers_sent_bytes_total" help:"Bytes of letters sent, before they were packed, in this run."`
	BytesReceived    int64 `json:"bytes_received" metric:"peers_received_bytes_total" help:"Bytes of letters received, after they were unpacked, in this run."`

	LeasesWished     int64 `json:"leases_wished" metric:"peers_leases_wished_total" help:"Addresses that this agent wished to ask, in this run."`
	LeasesAsked      int64 `json:"leases_asked" metric:"peers_leases_asked_total" help:"Questions in which such wishes went to other agents, in this run."`
	LeasesUnanswered int64 `json:"leases_unanswered" metric:"peers_leases_unanswered_total" help:"Questions for addresses that were not answered, in this run."`
	LeasesAborted    int64 `json:"leases_aborted" metric:"peers_leases_aborted_total" help:"Exchanges aborted since the lease of the address ended, in this run."`
	LeasesKept       int   `json:"leases_kept" metric:"peers_leases_kept" help:"Addresses that this agent has leased to agents, itself among them."`

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
