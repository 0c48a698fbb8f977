package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
)

// Buckets shows the objects of stores as files of another FS, for reading alone: s3://BUCKET/KEY. A prefix is a
// directory. It is safe for concurrent use.
type Buckets struct {
	vfs.FS

	ctx  context.Context //nolint:containedctx // of the command
	open func(bucket string) (*Store, error)

	mu     sync.Mutex
	stores map[string]*Store           // by bucket; guarded by mu
	known  map[string]receipts.Receipt // length and ETag of objects, by name; guarded by mu
}

// NewBuckets returns the Buckets above fsys. Their requests end with ctx. open returns the store of a bucket, without a
// prefix.
func NewBuckets(ctx context.Context, fsys vfs.FS, open func(bucket string) (*Store, error)) *Buckets {
	return &Buckets{
		FS: fsys, ctx: ctx, open: open, stores: map[string]*Store{}, known: map[string]receipts.Receipt{},
	}
}

// scheme is how the name of an object begins when a path was cleaned.
const scheme = "s3:/"

// IsObject reports whether a name is that of an object.
func IsObject(name string) bool { return strings.HasPrefix(name, scheme) }

// find returns the store and the key of an object.
func (b *Buckets) find(name string) (s *Store, key string, err error) {
	bucket, key, _ := strings.Cut(strings.TrimLeft(strings.TrimPrefix(name, scheme), "/"), "/")
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.stores[bucket]
	if !ok {
		if s, err = b.open(bucket); err != nil {
			return nil, "", fmt.Errorf("%s: %w", name, err)
		}
		b.stores[bucket] = s
	}
	return s, strings.Trim(key, "/"), nil
}

// stat returns length and ETag of an object, which is asked for once.
func (b *Buckets) stat(name string) (s *Store, r receipts.Receipt, err error) {
	s, key, err := b.find(name)
	if err != nil {
		return nil, r, err
	}
	b.mu.Lock()
	r, ok := b.known[name]
	b.mu.Unlock()
	if ok {
		return s, r, nil
	}
	missing := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	if key == "" {
		return nil, r, missing
	}
	info, err := s.stat(b.ctx, key)
	if errors.Is(err, ErrMissing) {
		return nil, r, missing
	} else if err != nil {
		return nil, r, fmt.Errorf("%s: %w", name, causeOf(err))
	}
	r = receipts.Receipt{File: key, Length: info.Size, ETag: strings.Trim(info.ETag, `"`)}
	b.mu.Lock()
	b.known[name] = r
	b.mu.Unlock()
	return s, r, nil
}

// Size is the length of an object, or of another file.
func (b *Buckets) Size(name string) (int64, error) {
	if !IsObject(name) {
		return b.FS.Size(name) //nolint:wrapcheck // the disk's own
	}
	_, r, err := b.stat(name)
	return r.Length, err
}

// listMost is how many objects of a prefix are listed.
const listMost = 1_000_000

// ErrManyObjects says that a prefix has more objects than are listed.
var ErrManyObjects = errors.New("more than a million objects: name a longer prefix, or single objects")

// List returns the last parts of the names of the objects below a prefix, and of the prefixes below it; ErrManyObjects
// if there are more than listMost.
func (b *Buckets) List(dir string) (names []string, err error) {
	if !IsObject(dir) {
		return b.FS.List(dir) //nolint:wrapcheck // the disk's own
	}
	s, prefix, err := b.find(dir)
	if err != nil {
		return nil, err
	}
	if prefix != "" {
		prefix += "/"
	}
	for token := ""; ; {
		page, err := s.core.ListObjectsV2(s.bucket, prefix, "", token, "/", 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, causeOf(err))
		}
		for _, o := range page.Contents {
			if name := path.Base(o.Key); o.Key != prefix {
				names = append(names, name)
			}
		}
		for _, below := range page.CommonPrefixes {
			names = append(names, path.Base(below.Prefix))
		}
		if token = page.NextContinuationToken; !page.IsTruncated || token == "" {
			break
		}
		if len(names) >= listMost {
			return nil, fmt.Errorf("%s: %w", dir, ErrManyObjects)
		}
	}
	if len(names) == 0 {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	slices.Sort(names)
	return names, nil
}

// Open opens an object, or another file.
func (b *Buckets) Open(name string) (vfs.File, error) {
	if !IsObject(name) {
		return b.FS.Open(name) //nolint:wrapcheck // the disk's own
	}
	s, r, err := b.stat(name)
	if err != nil {
		return nil, err
	}
	return &bucketFile{ctx: b.ctx, store: s, object: r, name: name, body: io.NopCloser(strings.NewReader(""))}, nil
}

// errReadOnly says that a command writes to disks alone.
var errReadOnly = errors.New("objects of a store are only read: name a file on the disk")

func refuse(name string, do func() error) error {
	if IsObject(name) {
		return &fs.PathError{Op: "write", Path: name, Err: errReadOnly}
	}
	return do()
}

// Create refuses an object.
func (b *Buckets) Create(name string) (f vfs.File, err error) {
	err = refuse(name, func() (err error) { f, err = b.FS.Create(name); return err })
	return f, err
}

// OpenRW refuses an object.
func (b *Buckets) OpenRW(name string) (f vfs.File, err error) {
	err = refuse(name, func() (err error) { f, err = b.FS.OpenRW(name); return err })
	return f, err
}

// MkdirAll refuses a prefix.
func (b *Buckets) MkdirAll(name string) error {
	return refuse(name, func() error { return b.FS.MkdirAll(name) })
}

// Remove refuses an object.
func (b *Buckets) Remove(name string) error {
	return refuse(name, func() error { return b.FS.Remove(name) })
}

// bucketFile is an object that is open. Reading on makes ever longer requests; a read at another place makes a short
// one.
type bucketFile struct {
	ctx    context.Context //nolint:containedctx // of the requests
	store  *Store
	object receipts.Receipt
	name   string

	mu        sync.Mutex
	body      io.ReadCloser // of the request; guarded by mu, as the following
	next, end int64         // offsets of what body reads next, and where it ends
	window    int64         // length of the request
	at        int64         // of Read
}

// Lengths of requests, in bytes.
const (
	windowFirst = 256 << 10
	windowMost  = 64 << 20
)

// ReadAt reads a part of the object.
func (f *bucketFile) ReadAt(b []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readAt(b, offset)
}

func (f *bucketFile) readAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) {
		if offset >= f.object.Length {
			return n, io.EOF
		}
		if offset != f.next || f.next == f.end {
			if err := f.request(offset, int64(len(b)-n)); err != nil {
				return n, err
			}
		}
		part := b[n:min(int64(len(b)), int64(n)+f.end-f.next)]
		got, err := io.ReadFull(f.body, part)
		n, offset, f.next = n+got, offset+int64(got), f.next+int64(got)
		if err != nil {
			f.end = f.next // the next read asks again
			return n, fmt.Errorf("%s at %d: %w", f.name, offset, err)
		}
	}
	return n, nil
}

// request asks for the object from an offset on.
func (f *bucketFile) request(offset, need int64) error {
	if offset == f.next && f.window > 0 {
		f.window = min(2*f.window, windowMost)
	} else {
		f.window = windowFirst
	}
	_ = f.body.Close() // its answer is not needed
	length := min(max(f.window, need), f.object.Length-offset)
	body, err := Open(f.ctx, f.store, &f.object, offset, length)
	if err != nil {
		f.body, f.next, f.end = io.NopCloser(strings.NewReader("")), -1, -1
		return fmt.Errorf("%s at %d: %w", f.name, offset, err)
	}
	f.body, f.next, f.end = body, offset, offset+length
	return nil
}

// Read reads on.
func (f *bucketFile) Read(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.readAt(b, f.at)
	f.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Seek sets where Read goes on.
func (f *bucketFile) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.object.Length
	}
	if offset < 0 {
		return 0, fs.ErrInvalid
	}
	f.at = offset
	return offset, nil
}

// Close ends the request.
func (f *bucketFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.body.Close()
}

// Name is the name that the file was opened by.
func (f *bucketFile) Name() string { return f.name }

// Size is the length of the object.
func (f *bucketFile) Size() (int64, error) { return f.object.Length, nil }

func (f *bucketFile) refuse() error {
	return &fs.PathError{Op: "write", Path: f.name, Err: errReadOnly}
}

// Write refuses.
func (f *bucketFile) Write([]byte) (int, error) { return 0, f.refuse() }

// WriteAt refuses.
func (f *bucketFile) WriteAt([]byte, int64) (int, error) { return 0, f.refuse() }

// Truncate refuses.
func (f *bucketFile) Truncate(int64) error { return f.refuse() }

// Sync refuses.
func (f *bucketFile) Sync() error { return f.refuse() }

// Allocate refuses.
func (f *bucketFile) Allocate(int64, int64) error { return f.refuse() }

// Forget does nothing.
func (f *bucketFile) Forget(int64, int64) {}

// Map refuses.
func (f *bucketFile) Map(int64) (vfs.Mapping, error) { return nil, f.refuse() }
