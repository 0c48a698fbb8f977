package lookup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/member"
)

// Record is the record of a capture. It must be closed.
type Record struct {
	*warc.RecordRead

	file   vfs.File
	reader *warc.Reader
}

// Close closes the file of the record.
func (r *Record) Close() error {
	r.reader.Close()
	return r.file.Close()
}

// ErrIndex says that a line of an index and its file do not fit together.
var ErrIndex = errors.New("the index does not fit its file: write it again with orbweaver warc index --write")

// Open opens the record of a capture.
func (a *Archive) Open(c *Capture) (*Record, error) {
	named, err := a.files.find(string(c.File))
	if err != nil {
		return nil, fmt.Errorf("lookup: %w", err)
	}
	words, err := a.files.dictionaryOf(named)
	if err != nil {
		return nil, fmt.Errorf("lookup: %w", err)
	}
	file, err := a.files.openRange(named, c.Offset, c.knownLength())
	if err != nil {
		return nil, fmt.Errorf("lookup: %w", err)
	}
	r := &Record{file: file, reader: warc.NewReader(io.NewSectionReader(file, c.Offset, math.MaxInt64-c.Offset),
		warc.ReaderOptions{Name: string(c.File), Base: c.Offset, Dictionary: words})}
	for {
		rec, err := r.reader.Next()
		if err != nil {
			if err == io.EOF { //nolint:errorlint // Next's own word
				err = ErrIndex
			}
			return nil, errors.Join(fmt.Errorf("%s at %d: %w", c.File, c.Offset, err), r.Close())
		}
		if isRecordOf(rec, c) {
			r.RecordRead = rec
			return r, nil
		}
		if c.Length > 0 { // it is the only record there
			return nil, errors.Join(fmt.Errorf("%s at %d: %w", c.File, c.Offset, ErrIndex), r.Close())
		}
	}
}

// isRecordOf says whether a record is that of a capture. Writers of indexes spell some URLs in another way.
func isRecordOf(rec *warc.RecordRead, c *Capture) bool {
	if rec.Type != warc.Response && rec.Type != warc.Revisit && rec.Type != warc.Resource {
		return false
	}
	if stamp := rec.Date.UTC().Format(stampLayout); !strings.HasPrefix(c.Stamp, stamp) {
		return false
	}
	key, _, err := KeyOf(rec.TargetURI)
	return bytes.Equal(rec.TargetURI, c.URL) || err == nil && string(key) == c.Key
}

// find finds an archive file by its name in an index.
func (f *Files) find(name string) (archiveFile, error) {
	files, err := f.list()
	if err != nil {
		return archiveFile{}, err
	}
	for _, file := range files {
		if file.name == name {
			return file, nil
		}
	}
	if path.Base(name) != name {
		return archiveFile{}, fmt.Errorf("%.200q: %w", name, ErrIndex)
	}
	return archiveFile{}, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// openRange opens a file to read a part of it.
func (f *Files) openRange(file archiveFile, offset, length int64) (vfs.File, error) {
	opened, err := vfs.OpenRange(f.o.FS, file.path, offset, length)
	if errors.Is(err, fs.ErrNotExist) && file.open { // it was finished meanwhile
		opened, err = vfs.OpenRange(f.o.FS, file.final, offset, length)
	}
	return opened, err
}

const (
	// dictionariesKept is how many dictionaries of closed files are kept. Each has 16 MiB at most.
	dictionariesKept = 4
	// dictionaryStart is how much of a file is opened for its dictionary at first, in bytes.
	dictionaryStart = 128 << 10
)

// dictionaryOf returns the zstd dictionary of a file; nil without one.
func (f *Files) dictionaryOf(file archiveFile) (words []byte, err error) {
	if _, _, ok := warc.CutName(file.name); ok && !strings.HasSuffix(file.name, ".zst") {
		return nil, nil
	}
	f.words.Lock()
	words, known := f.words.of[file.path]
	f.words.Unlock()
	if known {
		return words, nil
	}
	for _, length := range []int64{dictionaryStart, 0} {
		opened, err := f.openRange(file, 0, length)
		if err != nil {
			return nil, err
		}
		words, _, err = member.ReadDictionary(opened)
		if err = errors.Join(err, opened.Close()); errors.Is(err, member.ErrTruncated) && length > 0 {
			continue // it is a long one
		}
		if err != nil || file.open {
			return words, err
		}
		break
	}
	f.words.Lock()
	defer f.words.Unlock()
	if len(f.words.of) >= dictionariesKept {
		clear(f.words.of)
	}
	f.words.of[file.path] = words
	return words, nil
}

// Page is a capture with the payload that belongs to it. It must be closed.
type Page struct {
	Capture *Capture
	Source  *Capture   // whose record has the payload: another one for a revisit
	Head    block.Head // of the capture, or of the source if that is what was not modified; zero for other records
	Body    io.Reader  // the payload without chunking, and with its content encodings

	Encoding string // content encodings of the payload, as in its head
	// Truncated is why the payload is not complete; "" if it is.
	Truncated string

	source *Record
}

// Close closes the file of the page.
func (p *Page) Close() error { return p.source.Close() }

// Bounded returns a reader of decoded, which decodes Body. See warc.RecordRead.
func (p *Page) Bounded(decoded io.Reader) io.Reader { return p.source.Bounded(decoded) }

// ErrOriginal says that the record that a revisit refers to is not in the archive.
var ErrOriginal = errors.New("the payload of this revisit is not in the archive")

// statusNotModified is HTTP's: the server sent no payload, and its head is incomplete.
const statusNotModified = 304

// Read opens a capture and finds its payload.
func (a *Archive) Read(ctx context.Context, c *Capture) (*Page, error) {
	rec, err := a.Open(c)
	if err != nil {
		return nil, err
	}
	p := &Page{Capture: c, Source: c, source: rec}
	if rec.Type == warc.Revisit {
		return a.readRevisit(ctx, c, rec)
	}
	if err := p.readHead(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// segmented is why the payload of a record is not complete whose rest is in others (ISO 28500, 7).
const segmented = "the record has several segments, and the first is read"

// readHead reads the head of the record.
func (p *Page) readHead() error {
	p.Body, p.Truncated = p.source, p.source.Get("WARC-Truncated")
	if p.Truncated == "" && p.source.Get("WARC-Segment-Number") != "" {
		p.Truncated = segmented
	}
	if !p.source.IsHTTP() {
		return nil
	}
	head, body, err := p.source.HTTP(true)
	if err != nil {
		return err
	}
	p.Head, p.Body, p.Encoding = *head, body, head.List("Content-Encoding")
	return nil
}

// readRevisit finds the record that has the payload of a revisit, which it closes.
func (a *Archive) readRevisit(ctx context.Context, c *Capture, revisit *Record) (*Page, error) {
	var own block.Head
	if revisit.IsHTTP() {
		if head, _, err := revisit.HTTP(false); err == nil { // some programs store no head
			own = *head
		}
	}
	refers := reference{
		isUnchanged: own.Status == statusNotModified,

		uri: revisit.Get("WARC-Refers-To-Target-URI"), date: revisit.Get("WARC-Refers-To-Date"),
		file: revisit.Get("WARC-Refers-To-Filename"), agent: revisit.Get("Orbweaver-Refers-To-Agent"),
	}
	if err := revisit.Close(); err != nil {
		return nil, err
	}
	source, err := a.original(ctx, c, refers)
	if err != nil {
		return nil, err
	}
	rec, err := a.Open(source)
	if err != nil {
		return nil, err
	}
	p := &Page{Capture: c, Source: source, source: rec}
	if err := p.readHead(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if own.Status != 0 && own.Status != statusNotModified {
		p.Head = own
	}
	return p, nil
}

// reference names the record with the payload of a revisit.
type reference struct {
	uri, date, file, agent string

	isUnchanged bool // the server said that the payload is that of an earlier answer
}

// original finds the capture with the payload of a revisit: the one it names, else the last one before it with the same
// digest. Some programs name neither URL nor time. Then an answer 304 is about the capture before it. For another
// revisit the digest is searched in the lines of all URLs.
func (a *Archive) original(ctx context.Context, c *Capture, to reference) (*Capture, error) {
	uri := strings.Trim(to.uri, "<>")
	if uri == "" {
		uri = string(c.URL)
	}
	key, url, err := KeyOf([]byte(uri))
	if err != nil {
		return nil, fmt.Errorf("%w: it refers to %.200q", ErrOriginal, uri)
	}
	stamp := ""
	if at, err := ParseTime(to.date); err == nil {
		stamp = at.Format(stampLayout)
	}
	var named, same, before *Capture
	collect := func(line []byte) error {
		d, err := ParseCapture(line)
		if err != nil || d.Revisit {
			return nil //nolint:nilerr // a damaged line is no capture
		}
		if d.Stamp <= c.Stamp && d.Status != statusNotModified {
			before = &d
		}
		if stamp != "" && strings.HasPrefix(d.Stamp, stamp) && (named == nil || bytes.Equal(d.URL, url)) {
			named = &d
		}
		if len(c.Digest) > 0 && bytes.Equal(d.Digest, c.Digest) && (same == nil || d.Stamp <= c.Stamp) {
			same = &d
		}
		return nil
	}
	err = a.Scan(ctx, Exact(key), collect)
	if err == nil && to.uri == "" && stamp == "" && same == nil {
		if to.isUnchanged {
			same = before
		} else if len(c.Digest) > 0 {
			err = a.Scan(ctx, Range{nil, []byte{0xff}}, func(line []byte) error {
				if !bytes.Contains(line, c.Digest) {
					return nil
				}
				return collect(line)
			})
		}
	}
	switch {
	case err != nil:
		return nil, err
	case named != nil:
		return named, nil
	case same != nil:
		return same, nil
	}
	err = fmt.Errorf("%w: it refers to %s at %s", ErrOriginal, uri, to.date)
	switch {
	case to.agent != "":
		err = fmt.Errorf("%w, in %.200q of agent %.80s: name its directory with --with", err, to.file, to.agent)
	case to.file != "":
		err = fmt.Errorf("%w, in %.200q of another crawl: name its directory with --with", err, to.file)
	}
	return nil, err
}
