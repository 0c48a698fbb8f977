package crawllog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"time"

	"orbweaver/internal/vfs"
)

// disorder is by how much the times of lines may be out of order: a line is written when its page is parsed and stored.
const disorder = 10 * time.Minute

// timeForm is the form of the first column.
const timeForm = "2006-01-02T15:04:05.000Z"

// nearBytes is the size of the part of the current file in which Near stops to search.
const nearBytes = 4 * lineMax

// Near returns a position before the first line of a time or later, without reading what is much older. In the current
// file it is close to that line, and otherwise at the beginning of a compressed file.
func Near(fsys vfs.FS, dir string, at time.Time) (Position, error) {
	stamp := at.Add(-disorder).UTC().Format(timeForm)
	numbers, err := Numbers(fsys, dir)
	if err != nil {
		return Position{}, err
	}
	var failed error
	older := sort.Search(len(numbers), func(i int) bool {
		isOlder, err := beginsBefore(fsys, dir+"/"+fmt.Sprintf(compressedName, numbers[i]), stamp)
		failed = errors.Join(failed, err)
		return !isOlder
	})
	if failed != nil {
		return Position{}, failed
	}
	var p Position
	if older > 0 {
		p.File = numbers[older-1]
	}
	if older < len(numbers) {
		return p, nil
	}
	file, err := fsys.Open(dir + "/" + FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("crawllog: %w", err)
	}
	offset, isOlder, err := bisect(file, stamp)
	if err = errors.Join(err, file.Close()); err != nil {
		return p, fmt.Errorf("crawllog: %w", err)
	}
	if isOlder {
		p = Position{currentNumber(numbers), offset}
	}
	return p, nil
}

// isBefore reports whether a line has a time before another one. A damaged line has none.
func isBefore(line []byte, stamp string) bool {
	if len(line) < len(timeForm) || line[4] != '-' || line[10] != 'T' || line[len(timeForm)-1] != 'Z' {
		return false
	}
	return string(line[:len(timeForm)]) < stamp
}

// beginsBefore reports whether the first line of a compressed file has an earlier time.
func beginsBefore(fsys vfs.FS, name, stamp string) (bool, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return false, fmt.Errorf("crawllog: %w", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return false, fmt.Errorf("crawllog: %s: %w", name, err)
	}
	first := make([]byte, len(timeForm))
	n, err := io.ReadFull(z, first)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("crawllog: %s: %w", name, err)
	}
	return isBefore(first[:n], stamp), nil
}

// bisect returns the offset of a line with an earlier time, at most nearBytes before one that has none; ok is false if
// the file does not begin with an earlier time.
func bisect(file vfs.File, stamp string) (low int64, ok bool, err error) {
	high, err := file.Size()
	if err != nil {
		return 0, false, err
	}
	buf := make([]byte, lineMax+len(timeForm))
	n, err := file.ReadAt(buf[:len(timeForm)], 0)
	if err != nil && !errors.Is(err, io.EOF) || !isBefore(buf[:n], stamp) {
		return 0, false, ignoreEnd(err)
	}
	for high-low > nearBytes {
		middle := (low + high) / 2
		n, err := file.ReadAt(buf, middle)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, false, err
		}
		end := bytes.IndexByte(buf[:n], '\n') + 1
		if end > 0 && isBefore(buf[end:n], stamp) {
			low = middle + int64(end)
		} else {
			high = middle
		}
	}
	return low, true, nil
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
