// Package audit says which agent's copy of each page counts, over the directories of all agents that shared a crawl,
// and marks the others: an index of ownership, since an archive is only ever appended to (UbiCrawler, 2004, calls it
// self-stabilisation: after a while no agent has pages that it is not responsible for).
//
// A page is a URL with an answer: what page recovery knows as one. It is where it was fetched. If two agents have it
// (one had died, and came back with its disk; a partition; nobody answered in time), the one counts that would be
// responsible if there were only those that have it. That depends on the names and capacities of these alone, so that
// everybody comes to the same, whoever else comes or goes; and since an agent that comes never moves a host between two
// others, it is the one that is responsible if that one has the page.
//
// The picture.
//
//	indexes of each archive --> sorted by host and URL --> at two agents? --> their records are read --> superseded
//	                                                                                                        |
//	superseded/AGENT.cdxj of each directory (the marks) ----------------------------------------------------+--> missing, stale
//
// Agents mark at the end of a crawl what they can find out by asking each other (engine/superseded.go). This checks
// that, and does the rest.
//
// Marks are lines of the directory's own indexes, byte by byte, in DIR/superseded/AGENT.cdxj, where AGENT is whose copy
// counts. In what order they are says nothing. So the index of all that counts is
//
//	export LC_ALL=C; comm -23 <(sort a*/warc/*.cdxj) <(sort a*/superseded/*.cdxj)
//
// The promises:
//
//   - U1: after an audit that marks, each page has exactly one agent with a copy that is not marked.
//   - U2: the same directories always give the same marks, whatever marks there were, and in whatever order they are
//     named.
//   - U3: a kill leaves each file of marks as it was or as it will be, and the next audit tells the difference.
//
// It looks at what the last checkpoint of each agent has, and in a crawl that was begun again at the last pass.
// robots.txt is not looked at: each agent has those that it went by.
//
// Who owns what. Run takes the locks of all directories and gives them back. It writes nothing but marks, and those
// only if it is asked to.
//
// What it costs. Each index is read once, and once more if something is to be marked. Memory and temporary disk: 24
// bytes for each capture and each mark, beyond what the options say on disk; the lines of one archive file that has no
// index; 32 bytes for each mark of one file. Two URLs of one host are compared by 56 bits first, and then by their
// records.
package audit
