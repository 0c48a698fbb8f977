// Package testbed is the test kit of the scenarios: the whole engine against a simulated web, in virtual time
// (testing/synctest). Web, network, name server and disk are inside the process: hours of polite crawling take seconds.
//
//	[ engine ] --dial--> [ simnet ] --> [ simweb ] --> server log --+
//	     |                                                          +--> [ judge ]
//	     +--> archive on vfs.Mem ----------------- captures --------+
//
// The judge computes the web again from its seed, and reads the server log and the archive. Every page that must be
// fetched was, each once. No site and no address got a request too early or two at a time. robots.txt was obeyed. Every
// stored payload has the right digest, and nothing outlives the crawl.
//
// # Two sizes
//
// A scenario runs in two sizes. In make test, and under the race detector, it takes one seed, a third of its cases and
// a small web. With the build tag scenario and without the race detector it takes all. The seed alone (-seed)
// determines the cases of the smaller size, so a run can be repeated and its result cached.
//
// # The scenarios
//
// Each subject is a package beside this one: crawl, storage, recrawl, operator and cluster. Rig is the web with its
// network and disk; ScriptedHosts are hosts whose responses a test writes itself; OutageWeb is a web that fails for a
// time.
package testbed
