// Package agent is this agent in a cluster: it implements the roles of package engine/state/cluster for a crawl with
// several agents. Package engine calls Open, Connect and Resume, and knows nothing else of it. A crawl of one agent has
// Alone.
//
// Its parts, each in the file of its name:
//
//	agent                the parts and their wiring: open.go, wire.go; roles.go has those of engine/state/cluster
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
package agent
