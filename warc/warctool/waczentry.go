package warctool

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"orbweaver/warc/cdxj"
)

// What a file in a WACZ may unpack to, in bytes: waczFree, and waczMost for each packed byte. A line counts lineCost
// more, since it is decoded alone. Lists of pages have about five bytes for each packed one. Beyond faultsMost faults a
// file is not read on.
const (
	waczFree   = 96 << 20
	waczMost   = 48
	lineCost   = 64
	faultsMost = 1000
)

// errExpands is the error of a file that unpacks to more.
var errExpands = fmt.Errorf("it unpacks to more than %d MiB and %d times its length", waczFree>>20, waczMost)

// errFaults ends the check of a file.
var errFaults = fmt.Errorf("more than %d faults: it is not read on", faultsMost)

// openEntry opens a file in a WACZ.
func openEntry(e *zip.File) (*unpacked, error) {
	f, err := e.Open()
	return bounded(f, e.CompressedSize64), err
}

// bounded returns a reader of what a file of so many bytes unpacks to.
func bounded(f io.ReadCloser, packed uint64) *unpacked {
	return &unpacked{f, waczFree + waczMost*int64(min(packed, math.MaxInt64/(2*waczMost)))}
}

type unpacked struct {
	io.ReadCloser

	room int64 // in bytes
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if u.room -= int64(n); u.room < 0 {
		err = errExpands
	}
	return n, err
}

// scanLines calls f for each line, numbered from 1, until f returns false. f borrows the line. onDamage is told of a
// line that is too long.
func scanLines(in io.Reader, f func(n int, line []byte) bool, onDamage func(error)) error {
	lines := cdxj.ReadLines(in, waczLineMost)
	for {
		line, err := lines.Next()
		switch {
		case err == io.EOF: //nolint:errorlint // Next returns it unwrapped
			return nil
		case errors.Is(err, cdxj.ErrLine):
			onDamage(err)
		case err != nil:
			return fmt.Errorf("line %d: %w", lines.Number, err)
		case !f(lines.Number, bytes.TrimRight(line, "\r\n")):
			return nil
		}
	}
}
