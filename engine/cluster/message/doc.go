// Package message has the forms of all that agents of a cluster say to each other: the kinds of items that a message
// carries, and the kinds of questions. It writes and reads bytes. What an agent may say, and what follows from it, is
// decided in package engine/cluster/agent, whose table of item kinds has one row for each kind here.
//
// A message is a sequence of items, framed as package outbox frames them. The first byte of an item is its kind:
//
//	'L' Item                              a URL, whole, as package queued writes it
//	'S' 1  age (8)  site (s)  due (u)  State (s)  Item (s)*
//	                                      what is known of a site, and URLs that are queued for it, by their paths
//	'H' 1  least (1)  site                the order of visits counts from this depth of the host, less 1 (per-host)
//	'R' Item                              a redirect of a robots.txt: its whole URL, and the site whose rules it is for
//	'V' 1  age (8)  site (s)  rules (s)   the rules of a redirected robots.txt; empty if they could not be fetched
//	'F' 1  seed (8)  instance (s)  fingerprint (16)*
//	                                      URLs that an agent which leaves has an answer of; their hash is seeded
//	'T' 1  instance (s)  (item)*          what that agent sent to another one: the receiver retains it in its place
//
// (8) and (16) are fixed sizes in bytes, little endian; u is a uvarint; s is a text behind its length as a uvarint.
//
// A question is one byte and what follows; its answer goes back at once:
//
//	'C'                            how far is the receiver? answer: package agent's status, as JSON
//	'O' agents (8) [1]             all agents with this hash had nothing to do at one moment: the crawl has ended; the
//	                               last byte says that it stalled. agents is big endian. answer: as of 'C'
//	'F' (url)*                     which of the URLs, framed as items, has the receiver fetched? answer: a byte for
//	                               each, 1 for those that it has
//	'L' ...                        leases of addresses: see package leasing
//	'Q' ...                        a message of package consensus; so is the answer
//	'G' stage instance             the sender leaves, and is so far. answer: LeaveDone, or LeaveWait to be asked again
//	'B' instance                   has that agent left? answer: LeaveDone if it has, or is about to; LeaveWait if the
//	                               receiver knows nothing of that
//	'D' 1 from (8)                 the digests of payloads that the receiver has stored durably, from a place of its
//	                               list on; 0 is the first. answer: more (1)  next (8)  digest (20)*
//	'P' 1 digest (20)              which record has this payload? answer: nothing, or  id (16)  date (8)  offset (8)
//	                               file (s)  URI (s)
//
// # Ages
//
// No agent sees the clock of another. In the outbox the age of an item is the time of day at which it was put there, by
// the clock of this machine, in Unix nanoseconds. WithAges replaces it, when the message is sent, by how long ago that
// was. A due is in nanoseconds, counted from the arrival: a message that was long on its way makes it later, never
// earlier. The end of rules in a State is in seconds from the arrival, less the age.
//
// # Reading
//
// Messages come from other agents, so every form is read with bounds. Read decodes and checks a message once: all that
// follows uses its items. URLs must be in their normal form. Items borrow the memory of the message unless they say
// otherwise. An error names what could not be read. The items of a message of short URLs take 13 times its size.
//
// Decode reads an item that this agent wrote, or has read before.
package message
