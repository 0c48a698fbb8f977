// Package ownership says which agent of a crawl owns each host: now (View), and recently (Timeline).
//
// A View follows from the agents alone, so all agents that know the same agents make the same one. It never changes;
// Current holds the one in force. Admission reads it for every link, so it is a struct and no interface.
//
// A host whose owner is away has a temporary owner until the agent comes back. The fingerprints of URLs that go to
// another agent, or whose owner is temporary, are salted: when a host changes hands, exactly its URLs pass admission
// again.
package ownership
