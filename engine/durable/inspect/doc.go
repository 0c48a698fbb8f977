// Package inspect reads the last checkpoint of a crawl from outside. It changes nothing.
//
// Open reads the manifest. A Checkpoint then reads the files that the manifest names: URLs in flight, the journal, the
// list of skipped URLs, the workbench. It checks what it reads by checksums, and not against other components: that is
// the work of engine/check/fsck.
//
// engine/check/fsck, engine/check/audit and the command skipped use it:
//
//	fsck.Check, audit.Run  -> Open -> manifest.Read
//	fsck: checkBench       -> Checkpoint.Workbench -> checkpoint.LoadWorkbench
//	command skipped        -> EachSkipped: also beside a crawl that runs
//	engine/operate/logreport       -> WalledHosts: the same
package inspect
