// Package trial crawls a web that answers on this machine only, and measures the crawl: pages a second, CPU time of a
// page, memory, and whether the archive is right. The demo and all speed benchmarks use it.
//
// Run crawls any Web with the same options, and measures the same quantities. The Web of the demo is Simulated:
//
//	Simulated   [ this process: engine ] --proxy--> [ child: orbweaver sim ] --server log--> judge
//	                     |                                                                     ^
//	                     +--> DIR/warc ------------- read by the child at the end -------------+
//
// The simulated web is a process of its own on loopback. The engine reaches it through a dialer that reaches nothing
// else. Run measures the CPU time of both processes separately, verifies the archive, and returns the judge's verdict.
package trial
