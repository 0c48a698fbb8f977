// Package handoff moves sites between agents when the ownership view changes.
//
//	Giver.NoteView   another view is in force
//	Giver.Step       gives a part of the sites to their new owners, as items of kind message.Site
//	TakeSite         the new owner sets the clocks and rules of a site, before its URLs pass admission
//
// # Promises
//
// A site goes with its clocks, its rules and all its queued URLs; each URL has the outcome handed-over here, once. No
// two agents visit a site: it goes when its Visit is back.
//
// # Cost
//
// A step takes 5 ms at most, during which the view does not change. The walk reads the sites of the workbench in chunks
// of 1,024, and then their queues on disk, 256 URLs in one go. The package starts no goroutines.
package handoff
