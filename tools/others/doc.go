//go:build linux

// Command others has crawlers of other people, and ours, crawl one simulated web on this machine, one after the other,
// and prints what each did: what it cost, how much of the web it found, and what the servers saw of its manners.
//
// It is started by run.sh, in a network namespace with nothing but loopback, and refuses to run in any other. The tools
// are those that install.sh installs, and Zeno and katana where they are on PATH. A missing tool is left out, with a
// line that says so. All of them obey robots.txt, except Zeno and katana, which have no setting for it.
//
//	orbweaver sim (one for each crawl) <--HTTP proxy-- the crawler, under /usr/bin/time
//	   |                                                  |
//	   verdict: coverage, repeats, gaps                  CPU time, peak memory, wall clock
//	   +------------------------> result <---------------+   --> table, results.json
//
// A page is one that can be reached, may be fetched by robots.txt, and was answered whole with status 200; it counts
// once. The wall clock and the CPU time run from the start of the process to its end, start-up and all. Peak memory is
// that of the largest process.
package main
