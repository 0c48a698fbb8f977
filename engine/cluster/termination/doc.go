// Package termination decides that a crawl of several agents is complete, and tells all of them. A Detector serves one
// agent:
//
//	NegotiateEnd   the distributor says that nothing is left to do, at a step count
//	Run            asks all agents twice: Mattern, Algorithms for distributed termination detection, 1987, two waves
//	Answer         answers the waves of other agents, and takes their word that the crawl has ended
//
// Each agent counts its steps (StepCount). An agent that says in both waves that it is idle, and has counted nothing in
// between, was idle all the while. The two intervals of all agents have a moment in common, between the waves. At that
// moment all agents were idle and no message waited or was on its way, so no agent can ever have something to do again.
//
// # Promises
//
//   - TD1: no agent ends while another one has something to do, or a message is on its way.
//   - TD2: when all agents are idle, all of them end, also if one cannot be reached for a while: an agent that knows of
//     the end waits until the others know it.
//
// # Agents that do not take part
//
// An agent that all others have banned is not asked: it could say for ever that it has something to do. If only some
// agents know of a ban, the banned agent is asked, too, but its word that the crawl has ended counts for nothing. An
// agent that comes when the crawl has just ended had no part in it, and ends as well.
package termination
