package feed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"time"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// Archive is where the captures are.
type Archive interface {
	// EachInOrder calls do with the index lines between two places, in the order of the archive.
	EachInOrder(ctx context.Context, from, to warc.Checkpoint, do func(lookup.Entry) error) error
	// FirstSince returns the place of the first capture since a time of 14 digits.
	FirstSince(ctx context.Context, stamp string, end warc.Checkpoint) (warc.Checkpoint, error)
}

// Growth says how far an archive will be what it is now, whatever happens.
type Growth interface {
	// StoredEnd is the place before which all records stay.
	StoredEnd() warc.Checkpoint
	// AwaitStored returns when there is more, or when ctx ends.
	AwaitStored(ctx context.Context, than warc.Checkpoint) error
}

// Options are what a feed is made of.
type Options struct {
	Archive Archive
	Growth  Growth
	Log     Log
	FS      vfs.FS
	Dir     string // for files of the feed
}

// Feed is the change feed of an archive. It is safe for concurrent use.
type Feed struct {
	o          Options
	recentMost int

	mu     sync.Mutex
	states *earlierStates // nil until the first question
	lost   *earlierStates // captures after which there was no answer; the state is the place of a line in the log
}

// New returns the feed of an archive. It opens no file before the first question.
func New(o Options) *Feed { return &Feed{o: o, recentMost: recentMost} }

// Close closes the files.
func (f *Feed) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.states == nil {
		return nil
	}
	err := errors.Join(f.states.finish(), f.lost.finish())
	f.states = nil
	return err
}

// Query says which changes are wanted.
type Query struct {
	Begin     Cursor
	Unchanged bool          // also captures without a change
	Most      int64         // changes; 0 for all
	Wait      time.Duration // for the first change
}

// errEnough ends a scan.
var errEnough = errors.New("feed: enough")

// Since returns the cursor of a time: in the order of the archive, the first capture of that time or later. Without one
// it is behind the last capture.
func (f *Feed) Since(ctx context.Context, at time.Time) (Cursor, error) {
	end := f.o.Growth.StoredEnd()
	if err := f.extend(ctx, end); err != nil {
		return Cursor{}, err
	}
	var c Cursor
	logEnd, err := f.logEnd()
	if err == nil {
		c.log, err = f.logSince(ctx, at, logEnd)
	}
	if err == nil {
		c.archive, err = f.o.Archive.FirstSince(ctx, at.UTC().Format("20060102150405"), f.known())
	}
	return c, err
}

// known is behind the last capture that was read.
func (f *Feed) known() warc.Checkpoint {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states.end
}

// Read calls do with each change, in the order of the archive, and returns the cursor behind the last one. With
// Query.Wait it waits until there is one. An error of do ends it and is returned.
func (f *Feed) Read(ctx context.Context, q Query, do func(*Change) error) (next Cursor, err error) {
	next = q.Begin
	ends := time.Now().Add(q.Wait)
	for {
		var n int64
		end := f.o.Growth.StoredEnd()
		if n, next, err = f.readTo(ctx, q, next, end, do); err != nil || n > 0 {
			return next, err
		}
		waiting, stop := context.WithDeadline(ctx, ends)
		err = f.o.Growth.AwaitStored(waiting, end)
		stop()
		if err != nil {
			return next, ctx.Err() // the time is over, or the caller is gone
		}
	}
}

// readTo reads what there is.
func (f *Feed) readTo(
	ctx context.Context, q Query, from Cursor, end warc.Checkpoint, do func(*Change) error,
) (n int64, next Cursor, err error) {
	if err := f.extend(ctx, end); err != nil {
		return 0, from, err
	}
	logEnd, err := f.logEnd()
	if err == nil {
		err = f.extendLost(ctx, logEnd)
	}
	if err != nil {
		return 0, from, err
	}
	next = from
	var c captured
	err = f.o.Archive.EachInOrder(ctx, from.archive, end, func(e lookup.Entry) error {
		if !c.read(e) {
			return nil // it does not move the cursor: a resume may cut it, and another record then begins there
		}
		before, ok, err := f.before(ctx, &c, end)
		if err != nil {
			return err
		}
		if kind, is := kindOf(c.state, before.state, !ok); is && (kind != Unchanged || q.Unchanged) {
			next.archive = behind(e.At)
			change := c.change(kind, next)
			if err := do(&change); err != nil {
				return err
			}
			n++
		}
		next.archive = behind(e.At)
		if n == q.Most && n > 0 {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return n, next, nil
	}
	if err != nil {
		return n, next, err
	}
	lost, next, err := f.readLosses(ctx, next, logEnd, max(q.Most-n, 0), do)
	return n + lost, next, err
}

// before returns what the URL of a capture was before. Damaged files are made again.
func (f *Feed) before(ctx context.Context, c *captured, end warc.Checkpoint) (version, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok, err := f.states.before(c.url, c.place)
	if errors.Is(err, errDamaged) {
		if err = f.states.restart(); err == nil {
			err = f.extendHeld(ctx, end)
		}
		if err == nil {
			v, ok, err = f.states.before(c.url, c.place)
		}
	}
	if err == nil && ok {
		if _, lost, fault := f.lossOf(&v); lost || fault != nil {
			v.state, err = v.state|flagGone, fault
		}
	}
	return v, ok, err
}

// extend makes the earlier states known up to a place.
func (f *Feed) extend(ctx context.Context, end warc.Checkpoint) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.states == nil {
		if f.lost, err = openStates(f.o.FS, f.o.Dir+"/lost", f.recentMost); err != nil {
			return err
		}
		if f.states, err = openStates(f.o.FS, f.o.Dir, f.recentMost); err != nil {
			return errors.Join(err, f.lost.close())
		}
	}
	return f.extendHeld(ctx, end)
}

// extendHeld is extend for a caller that holds mu.
func (f *Feed) extendHeld(ctx context.Context, end warc.Checkpoint) error {
	s := f.states
	var c captured
	err := f.o.Archive.EachInOrder(ctx, s.end, end, func(e lookup.Entry) error {
		if !c.read(e) {
			return nil
		}
		s.end = behind(e.At)
		return s.add(c.version)
	})
	if err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	return nil
}

// Still is the Growth of an archive that nothing is added to.
type Still struct{ End warc.Checkpoint }

// StoredEnd is the end of the archive.
func (s Still) StoredEnd() warc.Checkpoint { return s.End }

var errStill = errors.New("feed: nothing is added to this archive")

// AwaitStored returns an error at once.
func (Still) AwaitStored(context.Context, warc.Checkpoint) error { return errStill }

// EndOf returns how far the archive of a crawl that does not run will stay what it is: what the last checkpoint and the
// journal name. What a kill left behind that is cut when the crawl goes on. A directory of WARC files alone has no such
// end.
func EndOf(fsys vfs.FS, dir string) (end warc.Checkpoint, err error) {
	last, err := inspect.Open(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return warc.Checkpoint{Serial: math.MaxUint32, Length: math.MaxInt64}, nil
	}
	if err != nil {
		return end, err
	}
	end = last.ArchiveEnd()
	_, err = last.Journal(func(a journal.Attempt) error {
		if a.Stored && end.Before(a.Where.End()) {
			end = a.Where.End()
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the checkpoint is all there is
	}
	return end, err
}
