// Package vfs is the interface to the disk: an FS with files that can be synced, renamed, mapped and locked.
//
// It is not a general file-system abstraction. It has only what the components on disk need (sieve, virtualize, diskq,
// warc, the manifest and the journal), and knows none of their formats.
//
// Two implementations pass the same tests. Disk is the operating system. Mem is an in-memory file system for tests. Its
// CrashClone returns the disk as it may be after a power failure. Synced bytes are there. Other written bytes may be
// there, torn, or lost. A rename or a new name survives only if its directory was synced. Package faultfs wraps either
// with scripted errors and delays, and package vfstest has the tests.
//
// Overlay shows a file system and changes nothing in it, so that a component can be opened at its checkpoint and read.
// engine/check/fsck and engine/operate/explain read crawl directories through it.
//
// WriteAtomic leaves the old content or the new one, never a mixture.
package vfs
