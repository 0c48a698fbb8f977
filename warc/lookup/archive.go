package lookup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// Lines are the index lines of an archive: Files, or those that another process has.
type Lines interface {
	Scan(ctx context.Context, want Range, do func(line []byte) error) error
}

// Archive finds and reads captures. It is safe for concurrent use.
type Archive struct {
	Lines

	files *Files
	more  []*Files // that Lines uses
}

// New returns the archive of these files. Close closes them.
func New(files *Files) *Archive { return &Archive{Lines: files, files: files} }

// WithLines returns the same archive, whose lines come from elsewhere. Close closes the files that they use, too.
func (a *Archive) WithLines(lines Lines, files ...*Files) *Archive {
	return &Archive{Lines: lines, files: a.files, more: files}
}

// Close closes the files, when no query runs.
func (a *Archive) Close() error {
	err := a.files.Close()
	for _, f := range a.more {
		err = errors.Join(err, f.Close())
	}
	return err
}

// Capture is a line of an index.
type Capture struct {
	cdxj.Line

	Key   string
	Stamp string // YYYYMMDDhhmmss
}

// ParseCapture decodes a line. The Capture has memory of its own.
func ParseCapture(line []byte) (c Capture, err error) {
	line = bytes.Clone(line)
	if c.Line, err = cdxj.ParseLine(line); err != nil {
		return c, err
	}
	c.Key, c.Stamp = string(c.Line.Key), string(c.Line.Stamp)
	return c, nil
}

// knownLength returns the length of the record in its file; 0 if the index does not tell it.
func (c *Capture) knownLength() int64 {
	if c.Length == unknownLength {
		return 0
	}
	return c.Length
}

// unknownLength is the length of a record that is alone in its member, if no index tells it.
const unknownLength = 1

// CaptureAt is the capture of a URL whose record is known to be at an offset of a file.
func CaptureAt(file string, offset int64, url string, at time.Time) Capture {
	return Capture{
		Line:  cdxj.Line{URL: []byte(url), File: []byte(file), Offset: offset, Length: unknownLength},
		Stamp: at.UTC().Format(stampLayout),
	}
}

// stampLayout is the form of all 14 digits of a Stamp.
const stampLayout = "20060102150405"

// Time returns the time of the capture; zero if its stamp is none.
func (c *Capture) Time() time.Time {
	t, _ := time.Parse(stampLayout, c.Stamp)
	return t
}

// ErrNoCapture says that the archive has no capture of a URL.
var ErrNoCapture = errors.New("no capture")

// Closest finds the capture of a URL whose time is closest, of two the earlier; with the zero time the last one.
// Captures of exactly this URL come before others with the same key. The error wraps ErrNoCapture if there is none.
func (a *Archive) Closest(ctx context.Context, raw string, at time.Time) (*Capture, error) {
	key, url, err := KeyOf([]byte(raw))
	if err != nil {
		return nil, err
	}
	var best *Capture
	err = a.Scan(ctx, Exact(key), func(line []byte) error {
		c, err := ParseCapture(line)
		if err != nil {
			return nil //nolint:nilerr // a damaged line is no capture
		}
		if best == nil || isCloser(&c, best, url, at) {
			best = &c
		}
		return nil
	})
	if err == nil && best == nil {
		err = fmt.Errorf("%w of %s", ErrNoCapture, url)
	}
	return best, err
}

// isCloser says whether c is a better answer than d, which is not later.
func isCloser(c, d *Capture, url []byte, at time.Time) bool {
	if own := bytes.Equal(c.URL, url); own != bytes.Equal(d.URL, url) {
		return own
	}
	return at.IsZero() || c.Time().Sub(at).Abs() < d.Time().Sub(at).Abs()
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// Near returns up to most URLs of the archive that are near a URL that is not there: below the same directory, else
// below one above it, else of the same host or domain.
func (a *Archive) Near(ctx context.Context, raw string, most int) (urls []string, err error) {
	key, _, err := KeyOf([]byte(raw))
	if err != nil {
		return nil, err
	}
	var ranges []Range
	for path := key; ; {
		end := bytes.LastIndexAny(path, "/?")
		if end < 0 {
			break
		}
		ranges = append(ranges, Prefix(path[:end+1]))
		path = path[:end]
	}
	for _, r := range append(ranges, Domain(key)) {
		err := a.Scan(ctx, r, func(line []byte) error {
			c, err := ParseCapture(line)
			if err == nil && (len(urls) == 0 || urls[len(urls)-1] != string(c.URL)) {
				urls = append(urls, string(c.URL))
			}
			if len(urls) == most {
				return errEnough
			}
			return nil
		})
		if len(urls) > 0 || err != nil && !errors.Is(err, errEnough) {
			if errors.Is(err, errEnough) {
				err = nil
			}
			return urls, err
		}
	}
	return nil, nil
}

// ParseTime reads a time of an operator or of a replay address: any first part of YYYYMMDDhhmmss, or RFC 3339, or the
// date alone. It is in UTC if it has no zone.
func ParseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	const earliest = "00010101000000"
	if n := len(text); n >= 4 && n <= len(earliest) && n%2 == 0 {
		if t, err := time.Parse(stampLayout, text+earliest[n:]); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is no time such as 20260131, 20260131120000 or 2026-01-31T12:00:00Z", text)
}

// FindDir returns the directory with the WARC files of a crawl directory: warc or archive below it, or itself.
func FindDir(fsys vfs.FS, dir string) (string, error) {
	for _, name := range []string{"/warc", "/archive"} { // of a crawl, and of what pywb and Browsertrix write
		below := strings.TrimSuffix(dir, "/") + name
		if _, err := fsys.List(below); err == nil {
			return below, nil
		}
	}
	names, err := fsys.List(dir)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if _, _, ok := warc.CutName(name); ok {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s has no WARC files: it is no crawl directory", dir)
}
