// Package vfs is the one door to the disk: an FS with files that can be synced, renamed, mapped and locked.
//
// It is not a general file-system abstraction: it has only what the disk rooms (sieve, virtualize, diskq, warc, the
// manifest and the journal) need, and it knows none of their formats.
//
// Two implementations pass one suite: Disk, the operating system, and Mem, an in-memory file system for tests whose
// CrashClone gives the disk as it may look after a power cut (synced bytes are there; what was written and not synced
// may be there, torn, or gone; a rename or a new name survives only if its directory was synced).
// Package faultfs wraps either with scripted errors and delays, and package vfstest has the suite.
//
// Promises of the helpers are worded with them: WriteAtomic leaves the old content or the new one, never a mixture.
package vfs
