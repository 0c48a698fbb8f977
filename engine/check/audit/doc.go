// Package audit decides which agent's copy of each page counts, over the directories of all agents of a cluster. It
// marks the other copies as superseded. UbiCrawler (2004) calls the property self-stabilisation: after a while no agent
// has pages that it does not own.
//
// A page is a URL with a stored answer. Two agents can have it after a failure, a partition or an unanswered request.
// Then the copy counts whose agent would own the host if only the agents with a copy existed. This depends on the names
// and capacities of these agents alone. So all agents decide alike, whatever agents join or leave. A new agent moves no
// host between two others, so the copy of the present owner counts if it has one.
//
//	indexes of each archive --> sorted by host and URL --> at two agents? --> their records are read --> superseded
//	                                                                                                        |
//	superseded/AGENT.cdxj of each directory (the marks) ----------------------------------------------------+
//	                                                                                                        |
//	                                                                                                  missing, stale
//
// At the end of a crawl agents mark what they learn by asking each other. This package checks these marks and adds the
// missing ones.
//
// Marks are lines of the directory's own indexes, byte by byte, in DIR/superseded/AGENT.cdxj. AGENT is the agent whose
// copy counts. Their order has no meaning. So the index of all copies that count is
//
//	export LC_ALL=C; comm -23 <(sort a*/warc/*.cdxj) <(sort a*/superseded/*.cdxj)
//
// Promises:
//
//   - U1: after an audit that marks, each page has exactly one agent with a copy that is not marked.
//   - U2: the same directories always give the same marks, whatever the earlier marks and the order of the directories.
//   - U3: a kill leaves each file of marks as it was or as it will be, and the next audit detects which.
//
// It reads what the last checkpoint of each agent has; in a recrawl, the last pass. It ignores robots.txt: each agent
// has its own copies.
//
// Run takes the locks of all directories and releases them. It writes only marks, and only if asked to.
//
// Cost: each index is read once, and a second time if marks are written. Memory and temporary disk: 24 bytes for each
// capture and each mark, beyond what the options allow on disk; the lines of one archive file without an index; 32
// bytes for each mark of one file. Two URLs of one host are compared by 56 bits first, then by their records.
package audit
