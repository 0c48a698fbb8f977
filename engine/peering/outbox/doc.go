// Package outbox holds the messages for other agents until these have them durably.
//
// For each agent there is a backlog: a queue on disk, whose first and last items are also in memory. A batch of items
// is taken from it, sent, and then either acknowledged or returned. A returned batch is taken again before all newer
// items.
//
//	Put -> [ backlog on disk ] -> TakeBatch -> in flight -> Acknowledge
//	                                  ^            |
//	                                  +-- Return --+
//
// The items of an agent are also retained on disk, sent or not. If the agent is lost, perhaps with its disk,
// RemoveAgent yields all of them, so that they can be sent to the new owners. So no archive must be searched for the
// links that the agent had received.
//
// # Promises
//
//   - K1: each item is sent at least once, also after a crash behind a checkpoint. It can be sent more than once, so
//     the receiver must ignore duplicates.
//   - K2: the items of an agent are taken in the order of Put, except those of returned batches.
//   - K3: all retained items of an agent are yielded once by RemoveAgent or DrainRetained, in the order in which they
//     were added.
//   - K4: if the disk is full, no item is lost. New items stay in memory, and HasOverflow reports it.
//
// # Limits and ownership
//
// Put never waits. So a producer must ask HasOverflow first, and call Spill until there is room. An item is borrowed
// until the call returns. A Batch belongs to its taker until Acknowledge or Return. An item that a function gets from
// RemoveAgent or DrainRetained is borrowed until the function returns; the function must not call the Outbox.
//
// A Checkpoint is taken while no other call runs. It names the position of each queue. Items that are in flight, were
// returned, or were not written because the disk is full, are in its bytes, which its user stores.
package outbox
