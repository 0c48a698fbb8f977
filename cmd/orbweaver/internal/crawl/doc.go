// Package crawl is the command crawl: the configuration of the engine, and what a command adds to it: files, the
// network, the control port, signals and the terminal.
//
//	Command.Check -> settings: seedSource, points (lists and expressions), network (guard, resolver), agents
//	-> Command.Run: fitFiles, fitMemory, openPeering, engine.Open -> crawl: writeEffective, listen, signals, Run
//	-> summary.PrintReport -> exit status by the state of the crawl
//
// The command botpage prints a page for site owners that says whose crawler this is, what it is for, how often it
// comes, and how it is kept away. It is made from the settings of the crawl.
//
// # The service manager
//
// serviceReporter reports a crawl to the service manager that started it: that it is ready, what it does, that it
// stops, and that it lives. systemd kills and restarts a crawl that no longer says it lives.
//
//	startReporter -> serviceReporter.run, every few seconds: Report of the engine -> progress.isMade
//	    -> WATCHDOG=1, STATUS=...
//
// A crawl lives while two things are true. Checkpoints are taken: one begins when no step of any loop is under way, and
// no flush of the sieve is half done. So a loop that hangs in a step, a lock that is never given back and a deadlock
// all end the checkpoints. And work is done if there is any: a site that is due is asked, a page that was fetched is
// stored. So a worker that hangs outside of a step, and a loop that is not woken, are noticed as well.
//
// A crawl that is paused, or whose disk is full or slow, lives: a restart would not help it.
package crawl
