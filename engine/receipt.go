package engine

import "context"

// tell writes a journal entry that belongs to no attempt, and says where the journal ends then. Call it under the shared cut. After an
// error nothing of it counts.
func (l *ledger) tell(e *journalEntry) (journalEnd, error) {
	l.commit.Lock()
	defer l.commit.Unlock()
	if l.lost != nil {
		return journalEnd{}, l.lost
	}
	if err := l.journal.reserve(e.size()); err != nil {
		return journalEnd{}, err
	}
	l.dirty = true
	if err := l.journal.append(e); err != nil {
		return journalEnd{}, err
	}
	return journalEnd{l.journal.generation, l.journal.size}, nil
}

// await returns when the journal is durable up to there, which the next group commit sees to, or with the error that says that it will
// not be. Nobody may hold the cut.
func (l *ledger) await(ctx context.Context, end journalEnd) error {
	for {
		l.commit.Lock()
		if l.lost != nil || !l.durable.before(end) {
			defer l.commit.Unlock()
			return l.lost
		}
		if l.news == nil {
			l.news = make(chan struct{})
		}
		news := l.news
		l.commit.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// settled returns when all that the journal holds by now is durable: at once if it is. Nobody may hold the cut.
func (l *ledger) settled(ctx context.Context) error {
	l.commit.Lock()
	end := journalEnd{l.journal.generation, l.journal.size}
	l.commit.Unlock()
	return l.await(ctx, end)
}

// tellNews wakes whoever awaits. The caller holds the commit lock.
func (l *ledger) tellNews() {
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
}

// before says that e is nearer to the beginning.
func (e journalEnd) before(other journalEnd) bool {
	return e.generation < other.generation || e.generation == other.generation && e.length < other.length
}
