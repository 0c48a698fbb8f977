package journal

import "context"

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
