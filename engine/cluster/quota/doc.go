// Package quota limits what other agents may send to this agent, and bans agents that break the limits. It keeps one
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
package quota
