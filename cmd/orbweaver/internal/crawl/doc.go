// Package crawl is the command crawl: the configuration of the engine, and what a command adds to it: files, the
// network, the control port, signals and the terminal.
//
//	Command.Check -> settings: seedSource, points (lists and expressions), network (guard, resolver), agents
//	-> Command.Run: fitFiles, fitMemory, openPeering, engine.Open -> crawl: writeEffective, listen, signals, Run
//	-> summary.PrintReport -> exit status by the state of the crawl
package crawl
