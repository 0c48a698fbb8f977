package feed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Log has the URLs that a crawl got no answer for.
type Log interface {
	// End is the place before which all lines stay; ok is false if it is not known now.
	End() (end warc.Checkpoint, ok bool, err error)
	// Each calls do with the lines between two places.
	Each(ctx context.Context, from, to warc.Checkpoint, do func(*crawllog.Line) error) error
	// Near is a place before the first line of a time or later, so that not all older lines must be read.
	Near(at time.Time) (warc.Checkpoint, error)
}

// CrawlLog is the crawl.log of a crawl. Its places are the number of a file and the offset in its lines.
type CrawlLog struct {
	FS  vfs.FS
	Dir string // of the crawl
}

// End is that of the last checkpoint: what follows may be cut at a resume.
func (l CrawlLog) End() (end warc.Checkpoint, ok bool, err error) {
	last, err := inspect.Open(l.FS, l.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return end, false, nil
	}
	if err != nil || last.Log == nil || !last.Log.IsKnown() {
		return end, false, err
	}
	return logPlace(last.Log.End), true, nil
}

func logPlace(p crawllog.Position) warc.Checkpoint {
	return warc.Checkpoint{Serial: uint32(max(p.File, 0)), Length: p.Offset}
}

// Each reads crawl.log.
func (l CrawlLog) Each(ctx context.Context, from, to warc.Checkpoint, do func(*crawllog.Line) error) error {
	begin := crawllog.Position{File: int(from.Serial), Offset: from.Length}
	_, err := crawllog.Read(ctx, l.FS, l.Dir+"/"+layout.LogsDir, begin, func(line *crawllog.Line) error {
		if to.Before(logPlace(line.End)) {
			return errEnough
		}
		return do(line)
	})
	if errors.Is(err, errEnough) || errors.Is(err, crawllog.ErrRotated) { // what follows is read the next time
		err = nil
	}
	return err
}

// Near finds the file, and the part of the current file.
func (l CrawlLog) Near(at time.Time) (warc.Checkpoint, error) {
	p, err := crawllog.Near(l.FS, l.Dir+"/"+layout.LogsDir, at)
	return logPlace(p), err
}

// NoLog is the log of an archive alone.
type NoLog struct{}

// End is the begin.
func (NoLog) End() (end warc.Checkpoint, ok bool, err error) { return end, false, nil }

// Each has no lines.
func (NoLog) Each(context.Context, warc.Checkpoint, warc.Checkpoint, func(*crawllog.Line) error) error {
	return nil
}

// Near is the beginning of the log.
func (NoLog) Near(time.Time) (warc.Checkpoint, error) { return warc.Checkpoint{}, nil }

// lostOutcomes are those of URLs without an answer: the host cannot be reached, or is given up.
func lostOutcomes() map[string]bool {
	names := map[string]bool{outcome.SiteGone.String(): true, outcome.GivenUp.String(): true}
	for o := range outcome.Outcome(outcome.Count) {
		if o.Class() == outcome.ClassHost {
			names[o.String()] = true
		}
	}
	return names
}

// loss is a URL that the crawl got no answer for, after a capture.
type loss struct {
	version // the capture; its place and state are those of the capture

	line *crawllog.Line // borrowed
	at   warc.Checkpoint
}

// eachLoss calls do with the lines of the log about URLs that had content, between two places.
func (f *Feed) eachLoss(ctx context.Context, from, to warc.Checkpoint, do func(*loss) error) error {
	names := lostOutcomes()
	return f.o.Log.Each(ctx, from, to, func(line *crawllog.Line) error {
		if !names[string(line.Outcome)] || !line.IsFinal() {
			return nil
		}
		at, err := time.Parse(logTime, string(line.Time))
		if err != nil {
			return nil //nolint:nilerr // a line of another program
		}
		last, ok, err := f.lastUntil(xxh3.Hash128(line.URL), at.Unix())
		if err != nil || !ok || isGone(last.state) {
			return err
		}
		return do(&loss{version: last, line: line, at: logPlace(line.End)})
	})
}

// lastUntil returns the last capture of a URL that is not later than a time.
func (f *Feed) lastUntil(url xxh3.Uint128, seconds int64) (v version, ok bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for before := uint64(math.MaxUint64); ; before = v.place {
		if v, ok, err = f.states.before(url, before); err != nil || !ok || v.time <= seconds {
			return v, ok, err
		}
	}
}

// logEnd is how far the log may be read.
func (f *Feed) logEnd() (warc.Checkpoint, error) {
	end, ok, err := f.o.Log.End()
	if err != nil || ok {
		return end, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost.end, nil
}

// extendLost reads the log up to a place. A capture is lost once: by the first line about it.
func (f *Feed) extendLost(ctx context.Context, end warc.Checkpoint) error {
	f.mu.Lock()
	from := f.lost.end
	f.mu.Unlock()
	if !from.Before(end) {
		return nil
	}
	err := f.eachLoss(ctx, from, end, func(l *loss) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if _, known, err := f.lossOf(&l.version); err != nil || known {
			return err
		}
		f.moveLost(l.at)
		return f.lost.add(version{url: l.url, place: l.place, state: placeOf(l.at)})
	})
	if err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.moveLost(end)
	return nil
}

// moveLost notes how far the log was read. The caller holds mu.
func (f *Feed) moveLost(to warc.Checkpoint) {
	if f.lost.end.Before(to) {
		f.lost.end = to
	}
}

// lossOf returns the place of the line by which a capture was lost. The caller holds mu.
func (f *Feed) lossOf(capture *version) (place uint64, lost bool, err error) {
	v, ok, err := f.lost.before(capture.url, capture.place+1)
	return v.state, ok && v.place == capture.place, err
}

// isCurrent reports whether a line is the one by which a capture was lost, and no later capture has content.
func (f *Feed) isCurrent(l *loss) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	by, lost, err := f.lossOf(&l.version)
	if err != nil || !lost || by != placeOf(l.at) {
		return false, err
	}
	for before := uint64(math.MaxUint64); ; {
		last, ok, err := f.states.before(l.url, before)
		if err != nil || !ok || last.place <= l.place {
			return err == nil, err
		}
		if !isGone(last.state) {
			return false, nil
		}
		before = last.place
	}
}

// readLosses calls do with what was lost between a cursor and an end of the log, at most most of them; 0 for all.
func (f *Feed) readLosses(
	ctx context.Context, from Cursor, end warc.Checkpoint, most int64, do func(*Change) error,
) (n int64, next Cursor, err error) {
	next = from
	if !from.log.Before(end) {
		return 0, next, nil
	}
	err = f.eachLoss(ctx, from.log, end, func(l *loss) error {
		current, err := f.isCurrent(l)
		if err != nil || !current {
			return err
		}
		if n == most && most > 0 {
			return errMost
		}
		next.log = l.at
		n++
		return do(&Change{
			Kind: Gone, URL: string(l.line.URL), Time: string(l.line.Time), Outcome: string(l.line.Outcome),
			Cursor: next.String(),
		})
	})
	switch {
	case errors.Is(err, errMost):
		err = nil
	case err == nil:
		next.log = end
	}
	return n, next, err
}

// errMost ends a scan: there are enough changes.
var errMost = errors.New("feed: enough changes")

// logSince is the place of the first line of a time, or the end.
func (f *Feed) logSince(ctx context.Context, at time.Time, end warc.Checkpoint) (place warc.Checkpoint, err error) {
	stamp := at.UTC().Format(logTime)
	if place, err = f.o.Log.Near(at); err != nil {
		return place, err
	}
	if end.Before(place) {
		return end, nil
	}
	err = f.o.Log.Each(ctx, place, end, func(line *crawllog.Line) error {
		if string(line.Time) >= stamp {
			return errMost
		}
		place = logPlace(line.End)
		return nil
	})
	if errors.Is(err, errMost) {
		err = nil
	}
	return place, err
}

// logTime is the form of the times in crawl.log.
const logTime = "2006-01-02T15:04:05.000Z"
