// Package durable is a chapter of the engine, without code of its own: it makes a checkpoint and finds the way back
// from one.
//
//	storage     opens and closes all that a crawl keeps on disk
//	checkpoint  snapshots while the crawl runs
//	restore     the way back: the manifest, then the journal
//	inspect     the last checkpoint, read from outside
//	rebuild     a lost frontier, made again from the archive alone
//
//	engine.Open -> opener.open -> opener.openAll -> restore.Crawl.Restore
//
// docs/adr/0007-one-cut.md has the reason for its form.
package durable
