// Package load serves a simulated web over real sockets on loopback, for throughput numbers, the demo and `orbweaver sim`.
//
// It is not a web server for anybody else: every address it listens on is a loopback address, and any other is refused
// before anything is opened. It decides nothing about pages; package simweb does.
//
//	crawler --absolute form, CONNECT--> proxy  --+
//	crawler --origin form, Host-------> direct --+--> simweb.World.Serve --> simweb.Log
//	crawler --TLS, any SNI------------> TLS    --+
//	crawler --A, AAAA over UDP, TCP---> DNS    -----> simweb.World.AddrOf
//
// In direct mode the world's addresses are in 127.0.0.0/8, all of which is loopback on Linux: a world with AddrBase
// 127.1.0.0 and N IPs is served by N listeners for each port, and the DNS responder names the same addresses.
//
// Promises: L1: nothing but loopback is listened on. L2: after Close no goroutine, listener or connection is left.
//
// Who owns what: Start gives a Server; its Close (or the end of the context) closes listeners and connections, and
// Close waits for all of them. There is one goroutine for each listener and for each connection.
//
// What it costs: BenchmarkServerProcess measures the CPU time of a server in its own process; nearly all of it is
// system calls (accept, two for the socket's options and the poller, read, write, close).
package load
