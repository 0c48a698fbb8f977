// Package robotsrelay carries redirects of a robots.txt to other agents, and the rules back. A robots.txt may be
// redirected to a host of another agent: that agent fetches it, in the turn of its host.
//
//	Relay.SendRedirect -> message.RobotsRedirect -> Relay.TakeRedirect there
//	Relay.SendResult   -> message.RobotsResult   -> Relay.TakeResult here, which ends the wait of the site
//
// Only the owner of the site asks another agent for it: so it knows from which agent it may take the rules
// (AskedAgent). If a redirect leads on to a third agent, the agent that fetched it sends it back to the owner, which
// asks the third.
//
// # Lost messages
//
// The site is parked while it waits, at most two minutes. If the asked agent fails, the redirect is sent again to the
// new owner of its host. If the owner of the site fails, it or the next owner fetches the robots.txt again. Agents do
// not hear of changes of the view at the same moment, so a message may reach an agent that is not concerned: then the
// wait ends as if the robots.txt were unreachable. A redirect that comes twice is fetched twice.
//
// The package starts no goroutines. A Relay is safe for concurrent use; its methods are called within a step of the
// journal.
package robotsrelay
