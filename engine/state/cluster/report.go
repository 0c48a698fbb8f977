package cluster

// StatusReport is what one agent of a cluster reports about itself and the other agents. Numbers of links and pages are
// of the whole crawl; numbers of messages, leases and recovery are of this run.
type StatusReport struct {
	Self     string        `json:"self"`
	Agents   []AgentReport `json:"agents"` // present and former members, by name
	Pages    int64         `json:"pages"`  // n: crawled by this agent
	Overhead float64       `json:"overhead" metric:"cluster_overhead" help:"URLs sent for each page crawled: e/n."`
	Lambda   float64       `json:"lambda" metric:"cluster_lambda" help:"Links to other hosts for each page crawled."`

	LinksSent         int64 `json:"links_sent" metric:"cluster_links_sent_total" help:"URLs sent to the agents that own them: e."`
	LinksReceived     int64 `json:"links_received" metric:"cluster_links_received_total" help:"URLs received from other agents."`
	LinksToOtherHosts int64 `json:"links_to_other_hosts" metric:"cluster_links_to_other_hosts_total" help:"Links found that lead to another host."`
	URLsHandedOver    int64 `json:"urls_handed_over"` // admitted URLs that moved to the agent that owns their host now

	RecoveryRequests   int64 `json:"recovery_requests"`   // requests that ask other agents whether they have pages
	RecoveryUnanswered int64 `json:"recovery_unanswered"` // of these
	URLsRecovered      int64 `json:"urls_recovered"`      // admitted URLs whose pages are stored already, by any agent
	URLsResent         int64 `json:"urls_resent"`         // URLs sent again, since their receiver was lost

	PayloadsKnown             int64 `json:"payloads_known" metric:"cluster_payloads_known" help:"Payloads of other agents that this agent knows of: --dedup-agents."`
	PayloadRequests           int64 `json:"payload_requests" metric:"cluster_payload_requests_total" help:"Requests to other agents for the record with a payload, in this run."`
	PayloadRequestsUnanswered int64 `json:"payload_requests_unanswered" metric:"cluster_payload_requests_unanswered_total" help:"Requests for the record with a payload that were not answered in time, in this run. The payload was stored again."`
	PayloadsElsewhere         int64 `json:"payloads_elsewhere" metric:"cluster_payloads_elsewhere_total" help:"Payloads that were not stored, since another agent has them, in this run."`
	PayloadBytesElsewhere     int64 `json:"payload_bytes_elsewhere" metric:"cluster_payloads_elsewhere_bytes_total" help:"Bytes of these payloads, before compression."`

	CapturesSuperseded int64 `json:"captures_superseded"` // captures marked, since another agent's capture counts

	MessagesSent          int64 `json:"messages_sent" metric:"cluster_messages_sent_total" help:"Messages that other agents have acknowledged, in this run."`
	MessagesReceived      int64 `json:"messages_received" metric:"cluster_messages_received_total" help:"Messages of other agents that were accepted, in this run."`
	MessagesFailed        int64 `json:"messages_failed" metric:"cluster_messages_failed_total" help:"Messages that did not arrive and are sent again, in this run."`
	MessagesDeferred      int64 `json:"messages_deferred" metric:"cluster_messages_deferred_total" help:"Messages sent again later, since the receiver had no room for them, in this run."`
	MessagesRefused       int64 `json:"messages_refused" metric:"cluster_messages_refused_total" help:"Messages that this agent or the receiver could not decode, in this run."`
	UnknownSendersRefused int64 `json:"unknown_senders_refused" metric:"cluster_unknown_senders_refused_total" help:"Messages and requests refused because their sender is not a member of the cluster, in this run."`
	StatementsRefused     int64 `json:"statements_refused"` // statements in messages for which the sender has no authority
	BytesSent             int64 `json:"bytes_sent" metric:"cluster_sent_bytes_total" help:"Bytes of messages sent, before compression, in this run."`
	BytesReceived         int64 `json:"bytes_received" metric:"cluster_received_bytes_total" help:"Bytes of messages received, after decompression, in this run."`

	LeasesRequested         int64 `json:"leases_requested" metric:"cluster_leases_requested_total" help:"Address leases that this agent wanted, in this run."`
	LeaseRequests           int64 `json:"lease_requests" metric:"cluster_lease_requests_total" help:"Requests for address leases sent to other agents, in this run. A request asks for several leases."`
	LeaseRequestsUnanswered int64 `json:"lease_requests_unanswered" metric:"cluster_lease_requests_unanswered_total" help:"Requests for address leases that were not answered, in this run."`
	LeaseExchangesAborted   int64 `json:"lease_exchanges_aborted" metric:"cluster_lease_exchanges_aborted_total" help:"Exchanges aborted because the lease of the address ended, in this run."`
	LeasesGranted           int   `json:"leases_granted" metric:"cluster_leases_granted" help:"Address leases that this agent has granted and that are valid, its own included."`

	URLsWaiting int64 `json:"urls_waiting"` // URLs in outboxes, in transit or not

	Quorum *QuorumReport `json:"quorum,omitempty"` // nil without --quorum
}

// QuorumReport is what an agent with --quorum knows about the majority, without whose lease it fetches nothing.
type QuorumReport struct {
	HasLease bool     `json:"has_lease"` // the agent may fetch
	Voters   []string `json:"voters"`    // the agents of the committed configuration
	// Reachable are the agents that this agent or the leader heard within the last 10 s, this agent included.
	Reachable []string `json:"reachable"`
	// ExchangesAborted are the exchanges of this run that were aborted because the lease ended. They are repeated.
	ExchangesAborted int64 `json:"exchanges_aborted"`
}

// AgentReport is one agent, as another agent sees it.
type AgentReport struct {
	ID          string     `json:"id"`
	Capacity    int        `json:"capacity"`
	State       AgentState `json:"state"`
	StateSince  string     `json:"state_since,omitempty"` // when the agent joined; or when it left or failed
	Share       float64    `json:"share"`                 // of all hosts
	URLsWaiting int64      `json:"urls_waiting"`          // URLs in the outbox for it

	// IsSilent says that it has not answered three requests for address leases, and is still asked.
	IsSilent bool `json:"is_silent,omitempty"`

	URLsReceived      int64  `json:"urls_received"`                 // in its messages; a long URL counts as several
	MessagesOverQuota int64  `json:"messages_over_quota,omitempty"` // its messages and requests that were deferred
	StatementsRefused int64  `json:"statements_refused,omitempty"`  // statements for which it has no authority
	BannedUntil       string `json:"banned_until,omitempty"`        // its messages and requests are refused until then
	BanReason         string `json:"ban_reason,omitempty"`
	MessagesRefused   int64  `json:"messages_refused,omitempty"` // messages and requests refused since this ban began
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
