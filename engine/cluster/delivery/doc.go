// Package delivery sends the messages of the outbox to the other agents.
//
//	Senders.Add -> four senders for each agent: wait for a message -> outbox.Outbox.TakeBatch -> cluster.Network.Send
//	    delivered, or malformed: outbox.Outbox.Acknowledge
//	    refused for now, or failed: outbox.Outbox.Return, and again after a wait that doubles
//	Senders.Remove ends the sending to an agent and waits for that
//
// A message costs the same with one link as with hundreds. So the first item of a message waits for others, the longer
// the more agents there are; all messages of an agent leave at the same moments, which wakes it and the others once.
//
// # Promises
//
// A message is acknowledged in the outbox only after its receiver has it on disk, or can never read it (P1 of the
// outbox). What is taken out of the outbox is always put back or acknowledged, in a step of the journal.
//
// # Goroutines
//
// Five for each agent: four senders, and the loop that Options.Attend returns. Wait waits for all of them.
package delivery
