package recrawl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/store/receipts"
	"orbweaver/internal/inflate"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// removedFiles are the files of the archive that were sent to an object store and removed here. All readers share them.
type removedFiles struct {
	mu       sync.Mutex // guards the following, and the fields of the files
	bySerial map[uint32]*removedFile
	failures int       // of the store in a row
	resting  time.Time // no request before
	fault    error     // the last one
}

// removedFile is a file that was removed here.
type removedFile struct {
	path       string
	length     int64
	resting    time.Time // no request before
	dictionary []byte
	hasLooked  bool // for the dictionary
}

const (
	// restTime is how long no request is made after a failure: pages are requested unconditionally meanwhile.
	restTime = time.Minute
	// failuresMost is how many failures in a row mean that the store fails, and not an object.
	failuresMost = 3
)

// errResting means that the store has failed a short time ago.
var errResting = errors.New("recrawl: the object store is not asked again yet")

// find returns a file that is known to be removed.
func (r *removedFiles) find(serial uint32) (f *removedFile, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok = r.bySerial[serial]
	return f, ok
}

// add adds a file that could not be opened.
func (r *removedFiles) add(serial uint32, dir string, away *receipts.ElsewhereError) *removedFile {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok := r.bySerial[serial]
	if !ok {
		f = &removedFile{path: path.Join(dir, away.File), length: away.Length}
		r.bySerial[serial] = f
	}
	return f
}

// check returns an error if no request may be made for a file now.
func (r *removedFiles) check(f *removedFile, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.resting) || now.Before(f.resting) {
		return fmt.Errorf("%w: %w", errResting, r.fault)
	}
	return nil
}

// note notes how a request ended.
func (r *removedFiles) note(f *removedFile, err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if fault := new(receipts.ReadError); !errors.As(err, &fault) {
		r.failures = 0
		return
	}
	r.fault, f.resting = err, now.Add(restTime)
	if r.failures++; r.failures >= failuresMost {
		r.resting = now.Add(restTime)
	}
}

// objectReader reads records of removed files for one goroutine at a time. A record must not be used after release.
type objectReader struct {
	fsys   vfs.FS
	files  *removedFiles
	reader warc.Reader
	object windowedObject

	inflate *inflate.Decoder // see newObjectReader
	raw     []byte           // the start of a gzip member
	content []byte           // of it
}

func newObjectReader(fsys vfs.FS, files *removedFiles) *objectReader {
	return &objectReader{
		fsys: fsys, files: files, object: windowedObject{close: closeNothing}, inflate: inflate.NewDecoder(),
	}
}

// Lengths of the parts of an object that are requested, in bytes. Each further one is four times as long.
const (
	headWindow = 4 << 10  // the first for a head: it has nearly every head, compressed
	pageWindow = 16 << 10 // the first for a whole record
	windowMost = 1 << 20
)

// Limits of a record that is read into memory, in bytes. A longer one is a stream.
const (
	rawMost     = 1 << 20
	contentMost = 4 << 20
	memoryKept  = 128 << 10 // of what is kept for the next record
)

// readStart is that of warc.Archive. If blockMost is headMost at most, it may stop after the head of the block.
func (r *objectReader) readStart(f *removedFile, offset, blockMost int64) (rec *warc.RecordRead, err error) {
	if err := r.files.check(f, time.Now()); err != nil {
		return nil, err
	}
	defer func() { r.files.note(f, err, time.Now()) }()
	r.release()
	window := int64(headWindow)
	if blockMost > headMost {
		window = pageWindow
	}
	r.object = windowedObject{fsys: r.fsys, name: f.path, next: offset, end: f.length, window: window, close: closeNothing}
	r.raw = r.raw[:0]
	for path.Ext(f.path) == ".gz" && len(r.raw) < rawMost && r.object.next < r.object.end {
		if r.raw, err = r.object.appendWindow(r.raw); err != nil {
			return nil, err
		}
		var fault error
		r.content, _, fault = r.inflate.GzipMember(r.content[:0], r.raw, contentMost)
		if fault != nil && !errors.Is(fault, inflate.ErrTruncated) {
			break // the stream says what is wrong
		}
		if rec, ok := r.parse(f, offset, blockMost, fault == nil); ok {
			return rec, nil
		}
	}
	return r.readStream(f, offset, blockMost)
}

// parse parses the record in content, which may be its start. It returns false if more is needed.
func (r *objectReader) parse(f *removedFile, offset, blockMost int64, isWhole bool) (rec *warc.RecordRead, ok bool) {
	r.reader.Reset(bytes.NewReader(r.content), warc.ReaderOptions{
		Name: path.Base(f.path), Base: offset, Syntax: warc.Fail,
	})
	rec, err := r.reader.Next()
	switch {
	case err != nil:
		return nil, false
	case isWhole:
		return rec, rec.ReadStart(blockMost) == nil
	case blockMost > headMost:
		return nil, false
	}
	rec.Block = make([]byte, min(blockMost, rec.ContentLength))
	n, err := io.ReadFull(rec, rec.Block)
	rec.Block = rec.Block[:n]
	_, _, isHead := rec.HTTPMessage()
	return rec, err == nil || isHead
}

// readStream reads the start of a record as it comes.
func (r *objectReader) readStream(f *removedFile, offset, blockMost int64) (*warc.RecordRead, error) {
	words, err := r.dictionaryOf(f)
	if err != nil {
		return nil, err
	}
	r.release()
	r.object = windowedObject{
		fsys: r.fsys, name: f.path, next: offset, end: f.length, window: pageWindow, close: closeNothing,
	}
	r.reader.Reset(&r.object, warc.ReaderOptions{
		Name: path.Base(f.path), Base: offset, Syntax: warc.Fail, Dictionary: words,
	})
	rec, err := r.reader.Next()
	if err == io.EOF { //nolint:errorlint // Next's own word
		return nil, errNoCapture
	}
	if err != nil {
		return nil, err
	}
	return rec, rec.ReadStart(blockMost)
}

// dictionaryOf returns the zstd dictionary of a file; nil without one.
func (r *objectReader) dictionaryOf(f *removedFile) ([]byte, error) {
	if path.Ext(f.path) != ".zst" {
		return nil, nil
	}
	r.files.mu.Lock()
	words, known := f.dictionary, f.hasLooked
	r.files.mu.Unlock()
	if known {
		return words, nil
	}
	file, err := vfs.OpenRange(r.fsys, f.path, 0, 0)
	if err != nil {
		return nil, err
	}
	words, _, err = member.ReadDictionary(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	r.files.mu.Lock()
	defer r.files.mu.Unlock()
	f.dictionary, f.hasLooked = words, true
	return words, nil
}

// release ends the request of the last record, and frees what is large.
func (r *objectReader) release() {
	_ = r.object.close() // what is left of it is not wanted
	r.object.close = closeNothing
	if cap(r.raw) > memoryKept {
		r.raw = nil
	}
	if cap(r.content) > memoryKept {
		r.content = nil
	}
}

// Close frees the memory of the reader.
func (r *objectReader) Close() error {
	r.release()
	r.reader.Close()
	return nil
}

// windowedObject reads an object in order, with a request for each window: how long a record is, is not known.
type windowedObject struct {
	fsys   vfs.FS
	name   string
	next   int64 // offset of what is read next
	end    int64 // of the object
	rest   int64 // bytes of the window that are not read yet
	window int64 // length of the next one
	file   vfs.File
	close  func() error // of file
}

func closeNothing() error { return nil }

// Read implements io.Reader.
func (w *windowedObject) Read(b []byte) (int, error) {
	if w.next >= w.end {
		return 0, io.EOF
	}
	if w.rest == 0 {
		_ = w.close() // it was read to its end
		w.close = closeNothing
		length := min(w.window, w.end-w.next)
		file, err := vfs.OpenRange(w.fsys, w.name, w.next, length)
		if err != nil {
			return 0, err
		}
		w.file, w.close, w.rest, w.window = file, file.Close, length, min(4*w.window, windowMost)
	}
	n, err := w.file.ReadAt(b[:min(int64(len(b)), w.rest)], w.next)
	w.next += int64(n)
	w.rest -= int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// appendWindow reads the next window.
func (w *windowedObject) appendWindow(b []byte) ([]byte, error) {
	begin := len(b)
	b = slices.Grow(b, int(min(w.window, w.end-w.next)))
	b = b[:begin+int(min(w.window, w.end-w.next))]
	_, err := io.ReadFull(w, b[begin:])
	return b, err
}
