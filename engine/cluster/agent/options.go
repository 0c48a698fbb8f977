package agent

import (
	"time"

	"orbweaver/engine/peering/ownership"
)

// Options configures an agent that shares the crawl with others.
type Options struct {
	Agents    int              `help:"Number of agents, this one included, that must be present before the crawl begins. An agent that joins a running crawl does not wait. An agent that resumes waits 15s for the agents that it knew." default:"1" least:"1" most:"65536" placeholder:"N"`
	AgentAway time.Duration    `name:"agent-return-wait" help:"Time the hosts of an agent that stopped in good order wait for it. Then other agents take them over. Raise it for long maintenance." default:"10m" placeholder:"TIME"`
	Quorum    bool             `help:"Fetch only with a lease of 10s from a majority of the agents, so that at most one side of a partition continues. Hosts of a lost agent are asked 22s after the majority has agreed, at the earliest. Give it to all agents or to none. The smaller side stops; of two equal halves both stop; of two agents each stops when the other is lost."`
	Recover   int              `help:"Number of other agents that are asked for a page before it is fetched, after agents joined or left. No page is fetched twice if at most so many changed. 0 asks none." default:"3" zero:"-1" most:"16" placeholder:"N"`
	Assign    ownership.Method `type:"word" help:"How hosts are assigned to agents (docs/ring.md). rendezvous has more even shares, and takes time in proportion to the number of agents. Give it to all agents: others are refused. It holds for the whole crawl." oneof:"consistent,rendezvous" default:"consistent" placeholder:"METHOD"`
	PeerQuota int              `help:"Number of URLs that another agent may send before this agent has finished any; 16 more for each finished URL. An agent that sends more must wait; one that does not wait is banned. 0 for no limit." default:"1000000" zero:"-1" placeholder:"N"`
	Payloads  int64            `name:"dedup-agents" type:"size" help:"Payloads of at least this size that another agent has stored become revisit records here: keep the archives of all agents. 4KiB is a good value. 0 stores them again." default:"0" zero:"meant" placeholder:"SIZE"`
	// Invited says that other agents are named. If none answers they may have just stopped, and no host is asked for
	// ten seconds.
	Invited bool `kong:"-"`
}
