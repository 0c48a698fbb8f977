// Package arrivals is the log of a simulated web: one Arrival for each request, as the server saw it.
//
// An arrival lasts from the request's first byte to just before the last write of the answer: no client can know the
// end sooner. A log is written as lines of JSON and read again. Log.At goes back to a moment, Log.Only leaves arrivals
// out; both copy.
//
//	server: Log.Connect, Log.Add, Log.MarkCut -> Record, 40 bytes without pointers -> judge: Log.Snapshot
//
// A Log may be shared by all connections.
package arrivals
