// Package load serves a simulated web over real sockets on loopback, for throughput numbers, the demo and `orbweaver
// sim`.
//
// It is not a public web server: every address it listens on is a loopback address, and any other is refused
// before anything is opened. It decides nothing about pages; package simweb does.
//
//	crawler --absolute form, CONNECT--> proxy  --+
//	crawler --origin form, Host-------> direct --+--> origin.Web.Serve --> arrivals.Log
//	crawler --TLS, any SNI------------> TLS    --+
//	crawler --A, AAAA over UDP, TCP---> DNS    -----> origin.Web.AddrOf
//
// In direct mode the world's addresses are in 127.0.0.0/8, which is all loopback on Linux: a world with AddrBase
// 127.1.0.0 and N IPs is served by N listeners for each port, and the DNS responder names the same addresses.
//
// A Child is the same web in a process of its own, whose CPU time is then not the crawler's.
//
// Promises: L1: nothing but loopback is listened on. L2: after Close no goroutine, listener or connection is left.
//
// Ownership: Start gives a Server; its Close (or the end of the context) closes listeners and connections, and Close
// waits for all of them. One goroutine at a time accepts at each listener, and serves what it accepts, one connection
// after the other. When it has to wait for a connection it calls another goroutine to accept. So there is one goroutine
// for each listener and one for each connection that waits, and a listener uses one processor at a time except for
// connections that wait.
//
// What it costs: BenchmarkServerProcess measures the CPU time of a server in its own process. On Linux a page on a
// connection of its own takes four system calls (accept, read, write, close), unseen by the poller and the scheduler,
// and one segment for its last bytes and the end of the stream. A connection is accepted when its first bytes are
// there, or after a second. Until then Close does not tell the client, which learns it when it sends something.
package load
