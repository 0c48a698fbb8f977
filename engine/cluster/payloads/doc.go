// Package payloads lets agents without a common disk store equal payloads once (--dedup-agents). A payload that another
// agent has stored becomes a revisit record that names the record there.
//
//	Holder   answers other agents: which payloads this agent has stored, and which record has one of them
//	Asker    keeps what other agents have stored, and asks for the record when a page has such a payload
//
//	checkpoint of A -> Holder.Publish: how far the map of payloads is durable
//	B, every Period: Asker.Refresh -> "digests from here on?" -> Holder.AnswerDigests -> table: digest -> agent
//	a page of B: Asker.FindPayload -> table -> "which record has this?" -> Holder.AnswerPayload reads its head -> revisit
//
// Nothing is sent unless it is asked for. A page whose payload is in no table, which is most pages, asks nothing. An
// agent that does not answer in time is not asked for a while: its payloads are stored again.
//
// Promises:
//
//   - PS1: a revisit names a record of another agent only if that agent has just read the head of this record, complete
//     and with this digest. The record is part of a checkpoint of that agent, so no resume removes it.
//   - PS2: a page waits for Patience at most. An agent that has not answered is not asked again for Silence.
//
// # Ownership and limits
//
// Holder needs no memory of its own: the map of payloads of this agent is the list, in the order of insertion. A place
// in it is an offset in the file of entries. What a checkpoint has is never written again, so a place stays valid for
// as long as the agent has the same data; other data have another instance.
//
// The table is a dedup.Map: 11 bits of memory and 64 bytes on disk for each digest, and none are added when its memory
// is full. Its files are those of the asking agent alone. Its own durable state says how far each agent was read, so a
// kill costs questions and no payload.
//
// All methods are safe for concurrent use, except that Open, Refresh and Close have one caller at a time. The package
// starts no goroutines.
package payloads
