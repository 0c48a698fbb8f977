package crawllog

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/notify"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
)

// logFile is a text file that is written in the background. Lines are collected in memory and written by one goroutine.
// While the disk is full, slow or broken, up to pendingMax bytes wait; further lines are dropped and counted. The first
// failure is logged, later ones at a limited rate. Every Flush tries again.
type logFile struct {
	fs         vfs.FS
	dir, name  string
	rotateSize int64 // the size in bytes at which the file is rotated and compressed
	warn       func(msg string, args ...any)
	WriteDue   chan struct{} // capacity 1; a signal that writeSizeMin bytes wait

	OnDrained func() // called after each write; nil for none

	mu       sync.Mutex
	pending  []byte
	accepted int64 // bytes that were added to pending since the log was opened
	dropped  int64 // number of dropped lines

	writer turn     // held while writing; guards the fields below
	file   vfs.File // nil after a failure
	extent
	nextNumber int   // number of the next compressed file
	rotateAt   int64 // size at which the next rotation is tried
	writing    []byte
	failing    bool
	broken     atomic.Bool // the last write failed; like failing, but readable without the turn of the writer
	throttle   throttle.Log
}

// turn is held by one goroutine at a time. In virtual time a goroutine that waits for a Mutex stops the clock, and the
// holder waits for a disk that is slow in virtual time.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take() { t <- struct{}{} }

// takeWithin reports whether the turn came in time.
func (t turn) takeWithin(wait time.Duration) bool {
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case t <- struct{}{}:
		return true
	case <-late.C:
		return false
	}
}

func (t turn) giveBack() { <-t }

// extent is how far the log is written, in bytes.
type extent struct {
	end     int64 // of the current file: offset after the last complete line
	written int64 // since the log was opened
	rotated int64 // lines in the file that was rotated last, since the log was opened
}

const (
	writeSizeMin = 64 << 10 // bytes; less is not worth a write
	pendingMax   = 4 << 20  // largest number of bytes that wait to be written
)

// AddLines adds lines, including their newlines. It borrows b and never waits for the disk. If the memory is full, the
// lines are dropped and counted.
func (l *logFile) AddLines(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending)+len(b) > pendingMax {
		l.dropped += int64(bytes.Count(b, []byte{'\n'}))
		return
	}
	l.pending = append(l.pending, b...)
	l.accepted += int64(len(b))
	if len(l.pending) >= writeSizeMin {
		notify.Send(l.WriteDue)
	}
}

// Run writes whenever WriteDue is signalled, until ctx ends. The caller must call Flush or Close for the last lines.
// The error is always nil.
func (l *logFile) Run(ctx context.Context) error {
	for {
		select {
		case <-l.WriteDue:
			l.Flush()
		case <-ctx.Done():
			return nil
		}
	}
}

// Dropped returns the number of lines that were dropped.
func (l *logFile) Dropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// HasRoom reports whether some hundred more lines would fit. A caller with many lines asks first, and waits for
// OnDrained if the answer is no. While writing fails the answer is yes, so that a broken disk delays no caller: the
// lines are dropped.
func (l *logFile) HasRoom() bool {
	if l.broken.Load() {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) < pendingMax/4
}

// Flush writes all waiting lines. A failure is logged and not returned, so that it never stops the crawl.
func (l *logFile) Flush() {
	l.writer.take()
	defer l.writer.giveBack()
	l.flush()
}

func (l *logFile) flush() {
	if len(l.writing) == 0 {
		l.mu.Lock()
		l.writing, l.pending = l.pending, l.writing[:0]
		l.mu.Unlock()
	}
	if len(l.writing) == 0 {
		return
	}
	err := l.write()
	l.broken.Store(err != nil)
	if l.OnDrained != nil {
		defer l.OnDrained()
	}
	if err != nil {
		l.failing = true
		if n, ok := l.throttle.Allow(time.Now()); ok {
			l.warn("cannot write the crawl log; the crawl continues, further lines are dropped when the buffer is full",
				"error", err, "times", n, "lines_lost", l.Dropped())
		}
		return
	}
	if l.failing {
		l.failing = false
		l.warn("the crawl log can be written again", "lines_lost", l.Dropped())
	}
}

// write writes after the last complete line, so it overwrites what a failed write left behind.
func (l *logFile) write() error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if _, err := l.file.WriteAt(l.writing, l.end); err != nil {
		return errors.Join(err, l.closeFailed())
	}
	l.end += int64(len(l.writing))
	l.written += int64(len(l.writing))
	l.writing = l.writing[:0]
	if l.end < l.rotateAt {
		return nil
	}
	l.rotateAt = l.end + l.rotateSize/4 // the next try, if this rotation fails
	return l.rotate()
}

// open opens the file for appending.
func (l *logFile) open() error {
	f, err := l.fs.OpenRW(l.name)
	if err != nil {
		return fmt.Errorf("crawllog: open: %w", err)
	}
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("crawllog: open: %w", errors.Join(err, f.Close()))
	}
	if !l.failing {
		l.end = size
	}
	l.end = min(l.end, size)
	l.file, l.rotateAt = f, max(l.rotateSize, l.rotateAt)
	return nil
}

// closeFailed closes the file after a failure. The next write opens it again.
func (l *logFile) closeFailed() error {
	f := l.file
	l.file, l.failing = nil, true
	return f.Close()
}

// rotate compresses the full file to a numbered one and truncates it. After a failure no line is in both files.
func (l *logFile) rotate() error {
	src, err := l.fs.Open(l.name)
	if err != nil {
		return err
	}
	packed := fmt.Sprintf("%s.%05d.gz", l.name, l.nextNumber)
	err = vfs.WriteAtomic(l.fs, packed, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := io.Copy(z, src); err != nil {
			return err
		}
		return z.Close()
	})
	if err = errors.Join(err, src.Close()); err == nil {
		err = l.file.Truncate(0)
	}
	if err != nil {
		return errors.Join(err, vfs.RemoveIfExists(l.fs, packed))
	}
	l.nextNumber++
	l.rotated = l.end
	l.end, l.rotateAt = 0, l.rotateSize
	return nil
}

// Close writes all waiting lines and closes the file.
func (l *logFile) Close() error {
	l.Flush()
	l.writer.take()
	defer l.writer.giveBack()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
