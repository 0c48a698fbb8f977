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
	LongTypes    int64            // media types that were truncated
}

// Counts returns a copy of the counts.
func (l *Log) Counts() Counts {
	l.lines.Lock()
	defer l.lines.Unlock()
	return Counts{maps.Clone(l.counts.Certificates), l.counts.LongTypes}
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
