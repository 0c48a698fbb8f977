// Package vitro runs a whole crawl over real sockets: the simulated web in a process of its own, on loopback, and the
// engine in this one, through a dialer that reaches loopback and nothing else. The demo and the speed benchmark are made
// of it.
//
//	[ this process: engine ] --proxy--> [ child: orbweaver sim ] --arrivals--> oracle
//	        |                                                                    ^
//	        +--> DIR/warc ----------------- read by the child at the end --------+
//
// It measures the CPU time of both processes apart, has the archive verified, and hands back the oracle's verdict. The
// bare loop, which does what no crawl can do without and nothing else, runs just before it, since the machine
// may be shared: what counts is the ratio of the two. A CPU profile of each says where the difference goes.
package vitro
