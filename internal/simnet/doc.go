// Package simnet is a network inside the process: a dialer and a name server for a simulated web, with latency, hosts
// that go down, and a resolver that can be taken away.
//
// It opens no socket, and so can reach nothing but the world it was made for. It knows nothing of the crawler it
// serves. Everything in it waits on channels and timers, so it runs in virtual time (testing/synctest).
//
//	DialContext --- address:port ---> down? refused, black hole, reset
//	     |                             | up
//	     v                             v
//	  client end  <== two pipes ==>  server end ---> Web.Serve in a goroutine of Net
//
// A pipe is a queue of bytes with a bound; what was written can be read after the latency of one way. Closing one end
// lets the other read what is under way, then end of file; a reset throws it away.
//
// # Owners
//
// Net owns a goroutine for each connection, which serves it; Close resets them all and joins. The dialer's
// caller owns the client end.
package simnet
