// Package repair makes the file of an archive valid again, after a disk or a program has damaged it. The rebuild of a
// crawl calls it for each file.
//
// It changes no record. It does not restore what is damaged, and does not find what other files refer to.
//
//	old file --Reader, all checks--> Visit: keep? --> ranges that stay, index lines
//	    | only the tail is damaged:  tail copied to .torn, truncated, finished
//	    +-- otherwise:               ranges copied to .mended, old file renamed to .damaged, .mended renamed
//
// A record stays if it is complete, its digests match, and the capture to which it belongs stays. If the warcinfo
// record is damaged, a new one gets the identity that the others name.
//
// File may be killed at any time. Between the last two renames no file has the final name, so Finish must be called
// before the files are listed; then File is called again. What it removes from a file is kept in another file.
//
// File belongs to one goroutine, and no Writer may use the archive. The memory is that of the index lines and
// identities of all records, and of one block. Each file is read once, or twice if its warcinfo record is another one.
package repair
