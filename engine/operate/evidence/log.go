package evidence

import (
	"bytes"
	"compress/gzip"
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

// addAttempts reads crawl.log from its end.
func (s *Source) addAttempts(ctx context.Context, e *Evidence, url []byte, limits Limits) error {
	s.FlushLog()
	dir := s.Dir + "/" + layout.LogsDir
	add := func(line []byte) bool {
		l, ok := crawllog.Parse(line)
		if !ok || !bytes.Equal(l.URL, url) {
			return true
		}
		e.Attempts = append(e.Attempts, Attempt{
			Time: string(l.Time), Status: l.Status, Outcome: string(l.Outcome), Size: l.Size,
			Seconds: l.Duration.Seconds(), Hops: string(l.Hops), Final: l.IsFinal(),
		})
		if e.Via == "" {
			e.Via = string(l.Via)
		}
		return len(e.Attempts) < attemptsMost
	}
	most := limits.LogBytes
	if most < 0 {
		most = 1 << 62
	}
	name := dir + "/" + crawllog.FileName
	left, err := searchBackward(ctx, s.FS, name, url, most, add)
	if err != nil {
		return err
	}
	if left && len(e.Attempts) == 0 {
		if err := s.addAttemptsOfCaptures(ctx, e, name, url, add); err != nil {
			return err
		}
	}
	numbers, err := crawllog.Numbers(s.FS, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("evidence: %w", err)
	}
	if limits.LogBytes >= 0 {
		if e.logLeft = left || len(numbers) > 0 && len(e.Attempts) < attemptsMost; e.logLeft {
			e.note("crawl.log was searched from its end, %d MiB; older lines were not read (--whole-log)", limits.LogBytes>>20)
		}
		return nil
	}
	for i := len(numbers) - 1; i >= 0 && len(e.Attempts) < attemptsMost; i-- {
		name := fmt.Sprintf("%s/%s.%05d.gz", dir, crawllog.FileName, numbers[i])
		if err := searchCompressed(ctx, s.FS, name, url, add); err != nil {
			return err
		}
	}
	return nil
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
		return fmt.Errorf("evidence: %w", err)
	}
	defer file.Close()
	from, err := lookup.FirstLine(file, []byte(stamp))
	if err != nil {
		return fmt.Errorf("evidence: %s: %w", name, err)
	}
	chunk := make([]byte, windowSize)
	n, err := file.ReadAt(chunk, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("evidence: %w", err)
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
		return false, fmt.Errorf("evidence: %w", err)
	}
	defer file.Close()
	end, err := file.Size()
	if err != nil {
		return false, fmt.Errorf("evidence: %w", err)
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
			return false, fmt.Errorf("evidence: %w", err)
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

// searchCompressed calls f for each line of a compressed part, the last first.
func searchCompressed(ctx context.Context, fsys vfs.FS, name string, url []byte, f func(line []byte) bool) error {
	file, err := fsys.Open(name)
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("evidence: %s: %w", name, err)
	}
	var lines [][]byte
	buf, kept := make([]byte, logChunk+logLineMost), 0
	for err == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		var n int
		n, err = io.ReadFull(z, buf[kept:])
		text := buf[:kept+n]
		last := bytes.LastIndexByte(text, '\n') + 1
		var found [][]byte
		searchChunk(text[:last], last, true, url, func(line []byte) bool {
			found = append(found, bytes.Clone(line))
			return len(found) < attemptsMost
		})
		for i := len(found) - 1; i >= 0; i-- {
			lines = append(lines, found[i])
		}
		if len(lines) > attemptsMost {
			lines = lines[len(lines)-attemptsMost:]
		}
		if kept = copy(buf, text[last:]); kept == len(buf) {
			kept = 0 // a line that is no line of this log
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("evidence: %s: %w", name, err)
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if !f(lines[i]) {
			return nil
		}
	}
	return nil
}
