// Package inbox adds the URLs of files that an operator puts into the directory inbox of a crawl.
//
//	inbox/more.txt            a file of URLs, one on each line
//	inbox/done/more.txt       the same, when its URLs have been added
//	inbox/refused/more.txt    the same, if none of its URLs could be added
//	inbox/done/more.txt.tsv   the report: what became of each URL
//
// A Watcher says when the directory has changed. A file is read when nothing has changed, and it has not grown, for
// Quiet: this holds also for files that are there at the start. A file that grows while it is read stays, and is read
// again. Names that begin with a dot or end in .part, .tmp or ~ are left alone, so a program that writes slowly renames
// its file at the end.
//
// # Durability
//
// A file leaves the inbox only when a checkpoint has all of its URLs and its report is on disk. A kill before that
// leaves it where it is, and the next run reads it again: URLs that were added before are known then.
//
// Run is the only goroutine of an Inbox.
package inbox
