package engine

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/vfs"
)

// logFile is a text file for lines that nobody waits for: they are collected in memory and written by one goroutine. While the
// disk is full, slow or broken, lines wait up to a bound, and what comes then is dropped and counted. The log is told the
// first time and then now and again; every few seconds it is tried again.
type logFile struct {
	fs   vfs.FS
	name string
	max  int64 // bytes before the file is rotated and compressed
	say  func(msg string, args ...any)
	wake chan struct{} // capacity 1: there is much to be written

	drained func() // called when lines were written; nil for none

	mu      sync.Mutex
	filling []byte
	lost    int64 // lines dropped

	writer  sync.Mutex // held by whoever writes; guards what follows
	file    vfs.File   // nil after a failure
	at      int64      // end of the whole lines in the file
	next    int        // number of the next compressed file
	rotate  int64      // size at which rotating is tried
	writing []byte
	failing bool
	broken  atomic.Bool // as failing, for who does not hold writer
	murmur  murmur
}

const (
	logWrite = 64 << 10 // bytes that are worth a write
	logHold  = 4 << 20  // bytes that wait at most
)

// line takes one line, newline included, and borrows it. It never waits for the disk.
func (l *logFile) line(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.filling)+len(b) > logHold {
		l.lost++
		return
	}
	l.filling = append(l.filling, b...)
	if len(l.filling) >= logWrite {
		poke(l.wake)
	}
}

// run writes whenever there is much to be written; what is left is for flush.
func (l *logFile) run(ctx context.Context) error {
	for {
		select {
		case <-l.wake:
			l.flush()
		case <-ctx.Done():
			return nil
		}
	}
}

// lines that were dropped.
func (l *logFile) dropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// hasRoom says that some hundred lines would find room. Who makes lines in bulk asks before, and waits for drained otherwise. A log that
// cannot be written holds nobody up: its lines are lost and counted.
func (l *logFile) hasRoom() bool {
	if l.broken.Load() {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.filling) < logHold/4
}

// flush writes what there is. A failure is told, not returned: the log's own trouble never stops the crawl.
func (l *logFile) flush() {
	l.writer.Lock()
	defer l.writer.Unlock()
	if len(l.writing) == 0 {
		l.mu.Lock()
		l.writing, l.filling = l.filling, l.writing[:0]
		l.mu.Unlock()
	}
	if len(l.writing) == 0 {
		return
	}
	err := l.write()
	l.broken.Store(err != nil)
	if l.drained != nil {
		defer l.drained()
	}
	if err != nil {
		l.failing = true
		if n, ok := l.murmur.may(time.Now()); ok {
			l.say("the crawl log cannot be written; the crawl goes on, and lines that find no room are lost",
				"error", err, "times", n, "lines_lost", l.dropped())
		}
		return
	}
	if l.failing {
		l.failing = false
		l.say("the crawl log is written again", "lines_lost", l.dropped())
	}
}

// write appends to the file behind the last whole lines, so that what a failed write left is written over.
func (l *logFile) write() error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	if _, err := l.file.WriteAt(l.writing, l.at); err != nil {
		return errors.Join(err, l.forget())
	}
	l.at += int64(len(l.writing))
	l.writing = l.writing[:0]
	if l.at < l.rotate {
		return nil
	}
	l.rotate = l.at + l.max/4 // if it cannot be rotated now
	return l.turn()
}

// open opens the file for appending.
func (l *logFile) open() error {
	f, err := l.fs.OpenRW(l.name)
	if err != nil {
		return fmt.Errorf("engine: crawl log: %w", err)
	}
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("engine: crawl log: %w", errors.Join(err, f.Close()))
	}
	if !l.failing {
		l.at = size
	}
	l.at = min(l.at, size)
	l.file, l.rotate = f, max(l.max, l.rotate)
	return nil
}

// forget closes the file, which is opened again by the next write.
func (l *logFile) forget() error {
	f := l.file
	l.file, l.failing = nil, true
	return f.Close()
}

// turn compresses the full log beside it and begins a new one.
func (l *logFile) turn() error {
	src, err := l.fs.Open(l.name)
	if err != nil {
		return err
	}
	err = vfs.WriteAtomic(l.fs, fmt.Sprintf("%s.%05d.gz", l.name, l.next), func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if _, err := io.Copy(z, src); err != nil {
			return err
		}
		return z.Close()
	})
	if err = errors.Join(err, src.Close()); err != nil {
		return err
	}
	l.next++
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	l.at, l.rotate = 0, l.max
	return nil
}

func (l *logFile) close() error {
	l.flush()
	l.writer.Lock()
	defer l.writer.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
