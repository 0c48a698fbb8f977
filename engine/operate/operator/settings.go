package operator

import (
	"context"

	"orbweaver/engine/operate/changes"
	"orbweaver/engine/state/queued"
)

// Settings are the settings that can be changed while the crawl runs.
func (o *Operator) Settings() *changes.Settings { return o.settings }

// ListSettings lists the settings that can be changed, and the last changes.
func (o *Operator) ListSettings() changes.List { return o.settings.List() }

// ChangeSettings changes settings: all or, after an error, none.
func (o *Operator) ChangeSettings(ctx context.Context, r changes.Request) (changes.Result, error) {
	return o.settings.Change(ctx, r)
}

// UndoSettings takes the last change of settings back that is not taken back yet.
func (o *Operator) UndoSettings(ctx context.Context, r changes.Request) (changes.Result, error) {
	return o.settings.Undo(ctx, r)
}

// queue is what changes.Settings asks about queued URLs.
type queue struct{ o *Operator }

// EachQueued implements changes.Queue.
func (q queue) EachQueued(ctx context.Context, f func(url []byte, it *queued.URL)) (complete bool, err error) {
	return q.o.hosts.EachQueued(ctx, f)
}

// QueuedURLs implements changes.Queue.
func (q queue) QueuedURLs() int64 {
	n := &q.o.parts.Disk.Journal.Count
	return max(n.URLsAdmitted.Load()-n.Finished.Load(), 0)
}
