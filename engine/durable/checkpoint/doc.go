// Package checkpoint takes consistent snapshots of a crawl while it runs, and reads them back.
//
// Every step of a URL happens under the shared side of one lock (journal.Steps). A checkpoint stops the steps, so it
// sees each URL in exactly one place. It marks that moment in every component, which takes milliseconds whatever they
// hold, and lets the steps go on. Each component then writes what changed since the last checkpoint. The manifest
// (engine/store/manifest) is written last: what it does not name does not exist. What happens after a checkpoint is in
// the journal, until the next.
//
// The chain of a checkpoint: Checkpointer.Run -> Take -> stopAndMark (steps stopped: Participant.MarkState,
// journal.Store.TurnTo) -> Participant.Write -> Participant.Sync -> manifest.Write -> Participant.Release -> reclaim.
// order.go has the order of the components, and the reasons.
//
// The engine runs one Checkpointer. Its last checkpoint, at the end of a run, is taken when all goroutines have ended.
package checkpoint
