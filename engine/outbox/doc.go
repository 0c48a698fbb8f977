// Package outbox keeps what is to be told to other agents until they have it for good.
//
// There is a line for each agent: a queue on disk, of which the newest and the oldest items are in memory anyway, and beside it the
// batches that are under way. A batch is taken, sent, and either acknowledged (Done: it is forgotten) or not known to have arrived
// (Back: it is the next that is taken). So every item goes out at least once; that it may go out twice is the receiver's to bear.
//
//	Put -> [ queue on disk ] -> Take -> under way -> Done
//	                               ^         |
//	                               +-- Back -+
//
// What an agent was told is kept as well, on disk, as long as the agent is there. When it is gone, perhaps with its disk, Retell gives all
// of that back, for those who are responsible now. So nobody has to search an archive for what an agent had known.
//
// Nothing waits in Put: when the disk is full, items stay in memory and Short says so; whoever brings items asks that first, and calls
// Spill until there is room.
//
// A Cut is taken while nobody else is in a call; it holds the place of each queue and, as bytes, what is under way or was not written
// for want of room. After a crash what was under way is sent again.
package outbox
