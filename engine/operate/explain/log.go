package explain

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/crawllog"
	"orbweaver/internal/vfs"
	"orbweaver/warc/lookup"
)

// Attempt is a line of crawl.log about the URL.
type Attempt struct {
	Time    string  `json:"time"`
	Status  int     `json:"status"`
	Outcome string  `json:"outcome"`
	Size    int64   `json:"size"` // of the payload; -1 without a request
	Seconds float64 `json:"seconds"`
	Hops    string  `json:"hops,omitempty"`
	Final   bool    `json:"final"` // the line has the outcome of the URL
}

const (
	attemptsMost = 20
	logChunk     = 1 << 20
	logLineMost  = 64 << 10
)

// addAttempts reads crawl.log from its end, or all of it.
func (s *Source) addAttempts(ctx context.Context, e *Evidence, url []byte, limits Limits) error {
	s.FlushLog()
	dir := s.Dir + "/" + layout.LogsDir
	if limits.LogBytes < 0 {
		return s.addAllAttempts(ctx, e, dir, url)
	}
	add := func(line []byte) bool {
		if l, ok := crawllog.Parse(line); ok && bytes.Equal(l.URL, url) {
			e.addAttempt(&l)
		}
		return len(e.Attempts) < attemptsMost
	}
	name := dir + "/" + crawllog.FileName
	left, err := searchBackward(ctx, s.FS, name, url, limits.LogBytes, add)
	if err != nil {
		return err
	}
	if left && len(e.Attempts) == 0 {
		if err := s.addAttemptsOfCaptures(ctx, e, name, url, add); err != nil {
			return err
		}
	}
	numbers, err := crawllog.Numbers(s.FS, dir)
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	if e.logLeft = left || len(numbers) > 0 && len(e.Attempts) < attemptsMost; e.logLeft {
		e.note("crawl.log was searched from its end, %d MiB; older lines were not read (--whole-log)", limits.LogBytes>>20)
	}
	return nil
}

// addAttempt adds a line that is older than those that are there.
func (e *Evidence) addAttempt(l *crawllog.Line) {
	e.Attempts = append(e.Attempts, Attempt{
		Time: string(l.Time), Status: l.Status, Outcome: string(l.Outcome), Size: l.Size,
		Seconds: l.Duration.Seconds(), Hops: string(l.Hops), Final: l.IsFinal(),
	})
	if e.Via == "" {
		e.Via = string(l.Via)
	}
}

// addAllAttempts reads the whole log, also its compressed parts.
func (s *Source) addAllAttempts(ctx context.Context, e *Evidence, dir string, url []byte) error {
	for {
		var lines []Evidence // the last ones, each with one attempt
		_, err := crawllog.Read(ctx, s.FS, dir, crawllog.Position{}, func(l *crawllog.Line) error {
			if bytes.Equal(l.URL, url) {
				var one Evidence
				one.addAttempt(l)
				lines = append(lines[max(len(lines)-attemptsMost+1, 0):], one)
			}
			return nil
		})
		switch {
		case errors.Is(err, crawllog.ErrRotated):
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			e.note("crawl.log was not read whole: %v", err)
		}
		for _, one := range slices.Backward(lines) {
			e.Attempts = append(e.Attempts, one.Attempts...)
			e.Via = cmp.Or(e.Via, one.Via)
		}
		return nil
	}
}

// windowSize is how much of the log is read for a capture, in bytes.
const windowSize = 2 << 20

// addAttemptsOfCaptures reads the log around the times of the last captures. Its lines are almost sorted by time.
func (s *Source) addAttemptsOfCaptures(
	ctx context.Context, e *Evidence, name string, url []byte, add func(line []byte) bool,
) error {
	const most = 2
	for _, c := range e.Captures[:min(len(e.Captures), most)] {
		at, err := time.Parse("20060102150405", c.Time)
		if err != nil || len(e.Attempts) > 0 {
			return nil //nolint:nilerr // a time that cannot be read names no place in the log
		}
		stamp := at.Add(-2 * time.Second).Format("2006-01-02T15:04:05") // lines are written some time later
		if err := searchFrom(ctx, s.FS, name, stamp, url, add); err != nil {
			return err
		}
	}
	return nil
}

// searchFrom calls f for each line with the URL in the part of the log that begins at a time.
func searchFrom(
	ctx context.Context, fsys vfs.FS, name, stamp string, url []byte, f func(line []byte) bool,
) error {
	file, err := fsys.Open(name)
	if err != nil {
		return fmt.Errorf("explain: %w", err)
	}
	defer file.Close()
	from, err := lookup.FirstLine(file, []byte(stamp))
	if err != nil {
		return fmt.Errorf("explain: %s: %w", name, err)
	}
	chunk := make([]byte, windowSize)
	n, err := file.ReadAt(chunk, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("explain: %w", err)
	}
	searchChunk(chunk[:n], n, true, url, f)
	return ctx.Err()
}

// searchBackward calls f for each line with the URL, the last first, until it returns false or most bytes were read.
// left says that lines before that were not read.
func searchBackward(
	ctx context.Context, fsys vfs.FS, name string, url []byte, most int64, f func(line []byte) bool,
) (left bool, err error) {
	file, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("explain: %w", err)
	}
	defer file.Close()
	end, err := file.Size()
	if err != nil {
		return false, fmt.Errorf("explain: %w", err)
	}
	least := max(end-most, 0)
	buf := make([]byte, logChunk+logLineMost)
	for end > least {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		from := max(end-logChunk, 0)
		chunk := buf[:min(end+logLineMost, from+int64(len(buf)))-from]
		n, err := file.ReadAt(chunk, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, fmt.Errorf("explain: %w", err)
		}
		if !searchChunk(chunk[:n], int(min(end-from, int64(n))), from == 0, url, f) {
			return false, nil
		}
		end = from
	}
	return least > 0, nil
}

// searchChunk looks for lines that begin in the first size bytes of chunk, the last first. The first bytes are those of
// a line that begins before the chunk, unless whole is set.
func searchChunk(chunk []byte, size int, whole bool, url []byte, f func(line []byte) bool) bool {
	var hits [][]byte
	for begin := 0; begin < size; {
		length := bytes.IndexByte(chunk[begin:], '\n')
		if length < 0 {
			break
		}
		if line := chunk[begin : begin+length]; (begin > 0 || whole) && hasURL(line, url) {
			hits = append(hits, line)
		}
		begin += length + 1
	}
	for _, line := range slices.Backward(hits) {
		if !f(line) {
			return false
		}
	}
	return true
}

// hasURL reports whether the fourth column of a line is the URL.
func hasURL(line, url []byte) bool {
	const columnsBefore = 3
	for range columnsBefore {
		for len(line) > 0 && line[0] == ' ' {
			line = line[1:]
		}
		end := bytes.IndexByte(line, ' ')
		if end < 0 {
			return false
		}
		line = line[end:]
	}
	for len(line) > 0 && line[0] == ' ' {
		line = line[1:]
	}
	rest, ok := bytes.CutPrefix(line, url)
	return ok && len(rest) > 0 && rest[0] == ' '
}
