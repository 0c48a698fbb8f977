package journal

import (
	"context"

	"orbweaver/warc"
)

// durability is how far the disk has confirmed what was written. The commit lock guards it.
type durability struct {
	journal Position
	archive warc.Checkpoint // with the journal entries of its records
	news    chan struct{}   // closed when one of these changes or a sync fails; nil if no goroutine waits
}

// next returns the channel that is closed at the next change.
func (d *durability) next() chan struct{} {
	if d.news == nil {
		d.news = make(chan struct{})
	}
	return d.news
}

// tell wakes the goroutines that wait.
func (d *durability) tell() {
	if d.news != nil {
		close(d.news)
		d.news = nil
	}
}

// SetWriter sets the archive at the start of a run. What it has is in the journal or the manifest.
func (l *Store) SetWriter(w *warc.Writer) {
	l.commit.Lock()
	defer l.commit.Unlock()
	l.Writer, l.durable.archive = w, w.Checkpoint()
}

// Growth says how far the archive of a Store is durable, with the journal entries of its records.
type Growth struct{ Store *Store }

// StoredEnd is the place before which all records stay in the archive, whatever happens.
func (g Growth) StoredEnd() warc.Checkpoint {
	g.Store.commit.Lock()
	defer g.Store.commit.Unlock()
	return g.Store.durable.archive
}

// AwaitStored returns when more of the archive is durable, with the error of a failed sync, or with that of ctx.
func (g Growth) AwaitStored(ctx context.Context, than warc.Checkpoint) error {
	l := g.Store
	for {
		l.commit.Lock()
		if l.lost != nil || than.Before(l.durable.archive) {
			defer l.commit.Unlock()
			return l.lost
		}
		news := l.durable.next()
		l.commit.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// AppendEntry writes a journal entry that belongs to no attempt, and says where the journal ends then. Call it under
// the shared cut. After an error nothing of it counts.
func (l *Store) AppendEntry(e *Entry) (Position, error) {
	l.commit.Lock()
	defer l.commit.Unlock()
	if l.lost != nil {
		return Position{}, l.lost
	}
	if err := l.Journal.reserve(e.size()); err != nil {
		return Position{}, err
	}
	l.dirty = true
	if err := l.Journal.append(e); err != nil {
		return Position{}, err
	}
	return Position{l.Journal.generation, l.Journal.size}, nil
}

// Await returns when the journal is durable up to there, which the next group commit sees to, or with the error that
// says that it will not be. The caller must not hold the checkpoint lock.
func (l *Store) Await(ctx context.Context, end Position) error {
	for {
		l.commit.Lock()
		if l.lost != nil || !l.durable.journal.before(end) {
			defer l.commit.Unlock()
			return l.lost
		}
		news := l.durable.next()
		l.commit.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// AwaitAll returns when all that the journal holds already is durable: at once if it is. The caller must not hold the
// checkpoint lock.
func (l *Store) AwaitAll(ctx context.Context) error {
	l.commit.Lock()
	end := Position{l.Journal.generation, l.Journal.size}
	l.commit.Unlock()
	return l.Await(ctx, end)
}

// before says that e is nearer to the beginning.
func (e Position) before(other Position) bool {
	return e.generation < other.generation || e.generation == other.generation && e.length < other.length
}
