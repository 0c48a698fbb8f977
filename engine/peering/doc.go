// Package peering is this agent's seat among the others of its crawl: membership (engine/members) and letters (engine/post) behind the one seam
// that the engine knows (engine.Peering).
//
//	engine --Join, Peers, Changed, Leave--> Seat --> members.Group   who is there
//	       --Send, Ask-------------------->      --> post.Office     where that one takes letters, by what members says
//	       <--Letter, Answer---------------      <--
//
// It carries and translates, and decides nothing. Open takes the port for letters at once, so that one that is in use is an error before a
// crawl begins; who sends letters before Join is told to try again. Join makes the agent known to the others. Leave says goodbye; Close lets go
// of what Leave has not, and does nothing after it.
//
// Without an Identity everything is said in plain text, between loopback addresses alone, and everybody is who it says.
package peering
