// Package invitro runs the whole engine against a simulated web and asks an oracle what came of it.
//
// In virtual time (testing/synctest) the web, the network, the name server and the disk are inside the process: hours of
// polite crawling take seconds. The oracle recomputes the web from its seed and reads the outside log and the archive:
// every page that had to be fetched was, each once; no site and no address was asked sooner than promised or twice at a
// time; robots.txt was kept; every stored payload has the right digest; and nothing outlives the crawl.
//
// It is also what the demo and the speed benchmark are built of, with real sockets in place of the simulated network.
//
//	[ engine ] --dial--> [ simnet | loopback sockets ] --> [ simweb ] --> log --+
//	     |                                                                      +--> [ oracle ]
//	     +--> archive on vfs.Mem or disk --------------- captures --------------+
package invitro
