// Package vitro runs a whole crawl over real sockets: the simulated web in a process of its own, on loopback, and the
// engine in this one, through a dialer that reaches loopback and nothing else. The demo and the speed benchmark are made
// of it.
//
//	[ this process: engine ] --proxy--> [ child: orbweaver sim ] --arrivals--> oracle
//	        |                                                                    ^
//	        +--> DIR/warc ----------------- read by the child at the end --------+
//
// It measures the CPU time of both processes apart, has the archive verified, and hands back the oracle's verdict. The
// bare parts (fetch and discard, compressor, digest, link scan) are measured beside it in the same run, since the machine
// may be shared: what counts is the distance between their sum and the crawl.
package vitro
