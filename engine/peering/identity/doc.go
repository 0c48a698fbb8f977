// Package identity has the identities of agents: the certificates of a crawl that several agents share, and the file
// that gives an agent its own.
//
//	New ---> Authority --Issue--> the file of an agent --Parse--> Identity
//	            |  ^
//	       Files|  |ParseAuthority
//	            v  |
//	      ca.crt, ca.key
//
// A crawl has one authority, whose certificate names it. It signs one certificate for each agent, which names crawl and
// agent in a URI (orbweaver:CRAWL/AGENT) and is good at both ends of a connection. The file of an agent holds its
// certificate, its key, the certificate of the authority, and the key that gossip between agents is encrypted with,
// which all agents of a crawl have in common.
//
// A certificate's serial number is its generation: what is issued later has the greater one. An agent that has seen a
// newer certificate of another agent refuses the older one, also after a restart (package post keeps the generations).
// There are no lists of revocation.
//
// All files have the same gossip key. It is changed in three steps (AddGossipKey, UseGossipKey, RemoveGossipKey). After
// each step all agents read their files again. The file of an agent that was stolen is then worth nothing. When the
// key of the authority is stolen, the crawl needs a new authority.
//
// Everything is bytes in and bytes out; nothing here touches a disk.
package identity
