// Package cluster says what the engine of one agent needs from the other agents of a crawl: small interfaces, one for
// each user, and the values that they share. It has no logic of several agents; that is in the packages below it.
//
//	Router          admission, distributor: which agent owns a URL, send it there
//	VisitGate       fetch workers: may this agent visit this site now, and contact this address
//	RobotsRouter    returner, distributor: redirects of a robots.txt between agents
//	Handoff         distributor: give sites to their new owners
//	Termination     distributor: end the crawl when no agent has anything left to do
//	FetchedLog      parse workers, rebuild: which URLs have an answer
//	CheckpointPart  checkpointer: the cluster's part of a checkpoint
//	URLQuestions    operator: what another agent knows about a URL
//	PayloadSharing  parse workers: which payloads other agents have stored
//	Member          engine: the life of this agent in the cluster
//
// Alone implements all of them for a crawl with one agent, so no user asks whether there are other agents. The
// ownership view is no interface: admission reads it for every link (package ownership).
//
// Network is the way to the other agents, and Handler what this agent does for them.
package cluster
