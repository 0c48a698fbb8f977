// Package leave lets agents leave a crawl permanently, and knows how far they are. An agent leaves in five steps:
//
//  1. It stops fetching.
//  2. It gives the other agents the list of the URLs that it has answers of.
//  3. It announces that it leaves (Announced). From then on all agents, it too, go by a view without it.
//  4. It gives away all that is queued here, and all that it ever sent to other agents.
//  5. When no message waits for it any more it says that it has nothing left (Done). The other agents forget what they
//     sent to it.
//
// If it fails in between, it has failed as any agent does, and the others send again what they sent to it. If it starts
// again, it goes on with leaving.
//
// A Register has the stages of all agents, tells the others how far this agent is (Tell), takes what they tell (Note),
// and asks them about agents that were gone before this one came (AskAbout). A Departure does steps 2 to 5 for this
// agent: Run is called when nothing is fetched any more.
//
// The package starts no goroutines. A Register is safe for concurrent use.
package leave
