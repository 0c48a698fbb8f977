// Package origin serves a simulated web: all its hosts, and its guests, on connections that the caller accepts.
//
// It opens no socket (internal/trial/load and internal/simnet do) and starts no goroutine. Pauses are read deadlines:
// all of it runs in virtual time, and ends when the client goes.
//
//	Web.Serve -> session.readHead -> parseRequest -> session.handle -- a guest's host --> session.serveGuest
//	  -> simweb.Model.Locate -> session.page -> content.Writer.AppendBody -> session.shaped -> response.finish
//	  -> arrivals.Log.Add, then the last write
//
// Pages that fail at the first try are remembered, so that the second goes well; nothing else is. Hosts of
// simweb.Payloads.Validators answer 304 to conditional requests.
//
// Serve takes its connection and closes it. Web and Counters may be shared by all connections.
//
// A page of 16 KiB takes about 6 us of CPU and 8 small allocations, logged; one of 240 KB, packed, 200 us.
package origin
