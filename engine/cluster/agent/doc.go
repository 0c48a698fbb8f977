// Package agent is this agent in a cluster: it implements the roles of package engine/state/cluster for a crawl with
// several agents. Package engine calls Open, Connect and Resume, and knows nothing else of it. A crawl of one agent has
// Alone.
//
// Its parts, each in the file of its name:
//
//	agent                the parts and their wiring: open.go, wire.go; methods.go has those of engine/state/cluster
//	follower             the loop that follows membership and makes the ownership view from it
//	members              which agents count
//	beginning            whether the crawl has begun
//	viewInstaller        puts a view in force
//	crawlHistory         what agents that come later must know of the crawl
//	router               sends URLs to their owners (route.go)
//	lostAgents           sends again what lost agents were sent (lost.go)
//	server               takes messages and answers questions of other agents
//	authority            what a sender may say
//	items, questions     what the items of messages do; the answers to questions. itemkinds.go has the table of kinds
//	urlQuestions         the question of an operator about a URL that another agent owns
//	supersededCaptures   marks captures that other agents have, too (superseded.go)
//
// What an agent does for a URL happens in the step that moves the URL (journal.Steps); the ownership view changes while
// all steps stand still. How an agent leaves is in package leave. docs/cluster-design.md has the protocol and its
// promises; docs/cluster-use.md has what an operator sees.
//
// # The part quota
//
// This part limits what other agents may send to this agent, and bans agents that break the limits. It keeps one
// account for each agent, by the name in its certificate.
//
// The package decides; it sends nothing and starts no goroutines. Its user asks before it takes a message or answers a
// question, and tells what it found:
//
//	CheckBan -> NoteMalformed, if the message cannot be read -> ChargeMessage -> NoteUnauthorised for each statement
//	CheckBan -> ChargeQuestion -> NoteMalformed, if the question cannot be read
//
// An agent may send as many items as the quota, and ItemsAhead more for each URL that this agent has completed. Beyond
// that its messages are not taken: it keeps them, and sends them again later. So no agent is flooded, nothing is lost,
// and a queue that is handed over arrives as fast as it is worked off. An idle agent takes everything (ForgiveAll).
//
// # Promises
//
//   - PQ1: what an agent may send grows with the URLs that the receiver completes. A sender that waits when it is told
//     to loses nothing, and no agent is charged for another.
//   - PQ2: an agent that does not wait, or sends malformed messages again and again, is banned. A ban ends, and the
//     next one is longer. An agent that keeps the rules is never banned.
//
// # Units and limits
//
// A message counts one item for each of its items, and one more for each full 256 bytes of an item. Questions are
// charged in time: 0.5 ms each and 32 MiB in a second, 10 s ahead. A ban lasts from ten minutes to a day. There are as
// many accounts as agents with a certificate of this crawl.
package agent
