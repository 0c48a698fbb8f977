package message

// The kinds of items, by their first byte.
const (
	Link           byte = 'L' // a URL
	Site           byte = 'S' // a site with queued URLs
	RobotsRedirect byte = 'R' // a redirect of a robots.txt
	RobotsResult   byte = 'V' // the rules that it led to
	Fetched        byte = 'F' // URLs that an agent has an answer of
	Retained       byte = 'T' // what another agent was sent
)

// Kinds are all kinds of items.
func Kinds() string {
	return string([]byte{Link, Site, RobotsRedirect, RobotsResult, Fetched, Retained})
}

// The kinds of questions, by their first byte. The packages that ask them have their forms.
const (
	QuestionStatus    byte = 'C' // how far an agent is: package termination
	QuestionEnded     byte = 'O' // says that the crawl has ended: package termination
	QuestionFetched   byte = 'F' // which URLs an agent has fetched: package recovery
	QuestionLease     byte = 'L' // leases of addresses: package leasing
	QuestionConsensus byte = 'Q' // a message of package consensus
	QuestionLeave     byte = 'G' // how far the asking agent is with leaving
	QuestionLeft      byte = 'B' // whether a third agent has left
	QuestionURL       byte = 'U' // what an agent knows about a URL, for its operator
	QuestionDigests   byte = 'D' // which payloads an agent has stored since the last question: package payloads
	QuestionPayload   byte = 'P' // which record of an agent has a payload: package payloads
)

// The answers to QuestionLeave and QuestionLeft.
const (
	LeaveWait byte = iota
	LeaveDone
)

// version is the second byte of an item of kinds that have one.
const version = 1

// IsRetained says of an item for another agent that it is sent again to the agent that takes its place.
func IsRetained(item []byte) bool {
	return len(item) > 0 && (item[0] == Link || item[0] == RobotsRedirect)
}
