// Package queued defines the URL as the frontier carries it, from admission to a fetch worker, and its encoded form in
// memory and on disk. The encoded form is also described in docs/formats.md; a change of it needs a new version of the
// crawl directory.
//
// # The part readyqueue
//
// This part has the URLs that have passed the sieve and wait for their place: in the workbench or on disk.
//
// A Queue is two queues on disk. Urgent items (queued.IsUrgent: page requisites) are in one, and all others in the
// other. In a broad crawl the others wait for long, until fetch workers need them. Urgent items do not wait for that:
// their pages are stored already.
//
// Each of the two keeps the promises of package diskq. Append may be called by several goroutines. One goroutine reads.
// A checkpoint names the two separately.
package queued
