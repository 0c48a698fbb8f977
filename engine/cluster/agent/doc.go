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
//	senders, giver       see the parts delivery and handoff
//	relay, majority      see the parts robots relay and quorum
//
// What an agent does for a URL happens in the step that moves the URL (journal.Steps); the ownership view changes while
// all steps stand still. How an agent leaves is in package leave. docs/cluster-design.md has the protocol and its
// promises; docs/cluster-use.md has what an operator sees.
//
// # The part delivery
//
// This part sends the messages of the outbox to the other agents.
//
//	senders.Add -> four senders for each agent: wait for a message -> outbox.Outbox.TakeBatch -> cluster.Network.Send
//	    delivered, or malformed: outbox.Outbox.Acknowledge
//	    refused for now, or failed: outbox.Outbox.Return, and again after a wait that doubles
//	senders.Remove ends the sending to an agent and waits for that
//
// A message costs the same with one link as with hundreds. So the first item of a message waits for others, the longer
// the more agents there are; all messages of an agent leave at the same moments, which wakes it and the others once.
//
// A message is acknowledged in the outbox only after its receiver has it on disk, or can never read it (P1 of the
// outbox). What is taken out of the outbox is always put back or acknowledged, in a step of the journal.
//
// It starts five goroutines for each agent: four senders, and the loop that senderOptions.Attend returns. Wait waits
// for all of them.
//
// # The part handoff
//
// This part moves sites between agents when the ownership view changes.
//
//	giver.NoteView   another view is in force
//	giver.Step       gives a part of the sites to their new owners, as items of kind message.Site
//	takeSite         the new owner sets the clocks and rules of a site, before its URLs pass admission
//
// A site goes with its clocks, its rules and all its queued URLs; each URL has the outcome handed-over here, once. No
// two agents visit a site: it goes when its Visit is back.
//
// A step takes 5 ms at most, during which the view does not change. The walk reads the sites of the workbench in chunks
// of 1,024, and then their queues on disk, 256 URLs in one go. It starts no goroutines.
//
// # The part robots relay
//
// This part carries redirects of a robots.txt to other agents, and the rules back. A robots.txt may be redirected to a
// host of another agent: that agent fetches it, in the turn of its host.
//
//	relay.SendRedirect -> message.RobotsRedirect -> relay.TakeRedirect there
//	relay.SendResult   -> message.RobotsResult   -> relay.TakeResult here, which ends the wait of the site
//
// Only the owner of the site asks another agent for it: so it knows from which agent it may take the rules
// (AskedAgent). If a redirect leads on to a third agent, the agent that fetched it sends it back to the owner, which
// asks the third.
//
// The site is parked while it waits, at most two minutes. If the asked agent fails, the redirect is sent again to the
// new owner of its host. If the owner of the site fails, it or the next owner fetches the robots.txt again. Agents do
// not hear of changes of the view at the same moment, so a message may reach an agent that is not concerned: then the
// wait ends as if the robots.txt were unreachable. A redirect that comes twice is fetched twice.
//
// It starts no goroutines. A relay is safe for concurrent use; its methods are called within a step of the journal.
//
// # The part quorum
//
// This part is --quorum: an agent fetches only with a lease of a majority of the agents, and acts by the ownership
// view that the majority has agreed on. The consensus itself is package consensus. noQuorum is the form without
// --quorum: each side of a partition goes on.
//
//	Propose        what this agent sees of the others becomes a proposal; the agreed view comes back
//	ActByAgreed    the agent has put that view in force: exchanges with hosts of other agents are cancelled
//	FollowLease    follows whether this agent may fetch, and cancels all exchanges when its lease ends
//	BeginExchange  registers an exchange, so that it can be cancelled
//
// The promises of package consensus hold for exchanges: none goes on after the lease of the agent has ended, or after
// its host has another owner in the agreed view. An agent that may have missed a view leaves all hosts alone for a
// while (agreement.MissedView).
//
// FollowLease is a goroutine of the agent. Propose and ActByAgreed are called by one goroutine, the one that follows
// membership. Everything else is safe for concurrent use.
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
