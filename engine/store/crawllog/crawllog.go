package crawllog

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/outcome"
	"orbweaver/internal/throttle"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// Log writes crawl.log in the format that docs/logs.md describes. A line is written within the step that counts the
// outcome of its URL, so that a checkpoint knows which lines belong to it.
//
// A Log is safe for concurrent use. Close must come last.
type Log struct {
	logFile

	Seeds SeedListener // hears of seeds, after their lines; nil for none. Set it before the first line

	lines  sync.Mutex // guards buf, target, counts and types
	buf    []byte
	target []byte // of a redirect
	counts Counts
	types  throttle.Log
}

// SeedListener hears what became of seeds.
type SeedListener interface {
	// NoteAttempt takes an attempt at a seed, or at the robots.txt of its site. target is that of a redirect.
	NoteAttempt(p *fetch.Page, a *attempt.Attempt, target []byte)
	// NoteRefusal takes a seed that gets its outcome without a request.
	NoteRefusal(url []byte, o outcome.Outcome)
}

// NoteRefusal tells the listener of a seed that gets its outcome without a request. Its line is written by AddLines.
func (l *Log) NoteRefusal(url []byte, it *queued.URL, o outcome.Outcome) {
	if it.Seed && l.Seeds != nil {
		l.Seeds.NoteRefusal(url, o)
	}
}

// noteAttempt tells the listener of an attempt at a seed, or at the robots.txt that precedes it.
func (l *Log) noteAttempt(p *fetch.Page, a *attempt.Attempt) {
	if len(a.Media.Invalid) > 0 {
		l.warnOfType(a)
	}
	if l.Seeds == nil || !a.Seed && !(a.IsRobots && a.Depth == 0) {
		return
	}
	var target []byte
	if a.Outcome == outcome.Redirect {
		target, _ = urlx.Resolve(nil, a.URL, p.Head().Location()) // no target if it is no URL
	}
	l.Seeds.NoteAttempt(p, a, target)
}

// warnOfType tells of a Content-Type that is no media type, now and again.
func (l *Log) warnOfType(a *attempt.Attempt) {
	l.lines.Lock()
	n, ok := l.types.Allow(time.Now())
	l.lines.Unlock()
	if !ok {
		return
	}
	found := "unknown"
	if a.Media.IsSniffed {
		found = string(a.Media.Type)
	}
	l.warn("a Content-Type is not a media type: the type was found by the first bytes of the body", "url", clipped(a.URL),
		"content_type", clipped(a.Media.Invalid), "found", found, "times", n)
}

// clipped is b as far as it fits into a message.
func clipped(b []byte) string { return string(b[:min(len(b), 200)]) }

// Counts counts annotations since the log was opened.
type Counts struct {
	Certificates map[string]int64 // certificates that do not verify, by fault
	HTTP2        map[string]int64 // probes of HTTP/2, by reason and result
	LongTypes    int64            // media types that were truncated
}

// Counts returns a copy of the counts.
func (l *Log) Counts() Counts {
	l.lines.Lock()
	defer l.lines.Unlock()
	return Counts{maps.Clone(l.counts.Certificates), maps.Clone(l.counts.HTTP2), l.counts.LongTypes}
}

// The file and its size limit in bytes.
const (
	FileName   = "crawl.log"
	rotateSize = 256 << 20
)

// Open opens or creates the log in dir and creates dir if necessary. warn logs warnings with key-value fields. The
// errors are those of the file system.
func Open(fsys vfs.FS, dir string, warn func(string, ...any)) (*Log, error) {
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("crawllog: open: %w", err)
	}
	l := &Log{logFile: logFile{
		fs: fsys, dir: dir, name: dir + "/" + FileName, rotateSize: rotateSize, rotateAt: rotateSize, warn: warn,
		WriteDue: make(chan struct{}, 1), writer: newTurn(),
	}}
	numbers, err := Numbers(fsys, dir)
	if err != nil {
		return nil, err
	}
	l.nextNumber = currentNumber(numbers)
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// write adds a line that was built in l.buf. The caller holds l.lines.
func (l *Log) write(line []byte) {
	l.buf = line
	l.AddLines(line)
}

// Position is a place in the log: the number of a file, and an offset in its lines. The current file has the number
// that follows the compressed ones.
type Position struct {
	File   int   `json:"file"`
	Offset int64 `json:"offset"`
}

// unknown is the file of a position that is not known.
const unknown = -1

// Checkpoint is the log in the manifest.
type Checkpoint struct {
	Begin Position `json:"begin"` // of the pass
	End   Position `json:"end"`   // of the lines whose outcomes the checkpoint counts
}

// IsKnown reports whether the end of the log at the checkpoint is known.
func (c *Checkpoint) IsKnown() bool { return c.End.File != unknown }

// Mark returns the number of bytes that were added since Open, for a later call of PositionOf.
func (l *logFile) Mark() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accepted
}

// positionWait is how long PositionOf waits for a write that is under way.
const positionWait = time.Second

// PositionOf writes what waits, and returns the position of a mark. The position is unknown while the disk is slow or
// broken, so that the caller does not wait for it for long.
func (l *logFile) PositionOf(mark int64) Position {
	if l.broken.Load() || !l.writer.takeWithin(positionWait) {
		return Position{File: unknown}
	}
	defer l.writer.giveBack()
	l.flush()
	offset := l.end - (l.written - mark)
	switch {
	case l.written < mark || l.file == nil:
		return Position{File: unknown}
	case offset >= 0:
		return Position{l.nextNumber, offset}
	case offset+l.rotated >= 0:
		return Position{l.nextNumber - 1, offset + l.rotated}
	default:
		return Position{File: unknown}
	}
}

// SyncFile makes the current file durable. It does not keep others from writing.
func (l *logFile) SyncFile() error {
	l.writer.take()
	f := l.file
	l.writer.giveBack()
	if f == nil {
		return nil
	}
	return f.Sync()
}
