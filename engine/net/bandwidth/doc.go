// Package bandwidth limits how many bytes a crawl receives in a second: in all, and from each host.
//
//   - Limits are those of a crawl. They may change while it runs.
//   - Flow is the part of one fetch worker in them. It counts what the worker receives, and makes it wait.
//
// # How the total is kept
//
//	feeder: StartVisits --> worker: BeginVisit --> Begin --> Received, Wait ... --> End --> EndVisit
//
// A server cannot be stopped in the middle of what it has sent. So a worker counts bytes after it has received them,
// and waits before it receives more. A small page comes in one piece, and its worker never waits. Therefore the feeder
// waits, too: for each Visit it sets the mean number of bytes of a Visit aside, and goes on when they are covered. The
// Visit gives them back with the first byte of its response, or at its end. So there are no more exchanges at the
// same time than the limit can serve, and no server waits for long with an open connection.
//
// All that wait are served in the order in which they asked, a piece each (Flow.PieceMax). A worker with a long body
// gets no more than a worker with a short one. Each has a timer of its own and wakes once.
//
// # How the limit of a host is kept
//
// Between two pieces of a body, the worker waits as above. What is left at the end of an exchange lengthens the delay
// of the site (HostDue). All sites of a host share one count, which is forgotten when its bytes are covered.
//
// # What is counted
//
// All that comes over TCP: heads and bodies as they come, robots.txt, and what TLS adds (Meter). Not counted are the
// heads of IP and TCP, some percent, and DNS. Each agent of a cluster has its own limits.
//
// # Cost
//
// Without a limit, an exchange costs three loads of a number that never changes. With a limit of the total, a read
// costs an atomic addition while there is credit, and a look at the clock when there is none.
package bandwidth
