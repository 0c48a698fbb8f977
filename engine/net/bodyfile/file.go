package bodyfile

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

const (
	// reserveStep is how many bytes a file reserves at once.
	reserveStep = 4 << 20
	// lookAgain is after what time a file that waits looks at the free disk space again.
	lookAgain = time.Second
)

// File is the rest of one body.
type File struct {
	store    *Store
	f        vfs.File // nil until the first Write
	reserved int64    // guarded by the lock of the Store
	room     int64    // reserved and not written
	size     int64
	written  xxh3.Hasher // of all bytes
	read     xxh3.Hasher // of the bytes that were read in order
	readTo   int64
}

// NewFile returns an empty file when there is a place for one more. The error is ErrNoRoom or that of ctx.
func (s *Store) NewFile(ctx context.Context, limit time.Time) (*File, error) {
	if s.o.Most.Files == 0 {
		return nil, ErrNoRoom
	}
	f, waits := &File{store: s}, false
	for {
		ok, changed := s.begin(f)
		if ok {
			return f, nil
		}
		if !waits {
			waits = true
			defer s.countWait()()
		}
		if err := await(ctx, limit, changed, time.Hour); err != nil {
			return nil, err
		}
	}
}

// await waits until changed is closed, but at most for a period.
func await(ctx context.Context, limit time.Time, changed <-chan struct{}, period time.Duration) error {
	left := time.Until(limit)
	if left <= 0 {
		return ErrNoRoom
	}
	timer := time.NewTimer(min(left, period))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the caller's own
	}
	return nil
}

// Reserve makes room for n more bytes, and reports whether it had to wait. The error is ErrNoRoom or that of ctx.
func (f *File) Reserve(ctx context.Context, limit time.Time, n int) (waited bool, err error) {
	for f.room < int64(n) {
		free, err := f.store.o.FS.Free(f.store.o.Dir)
		if err != nil {
			free = 0
		}
		step := max(reserveStep, int64(n))
		ok, changed := f.store.reserve(f, step, free)
		if ok {
			f.room += step
			continue
		}
		if !waited {
			waited = true
			defer f.store.countWait()()
		}
		if err := await(ctx, limit, changed, lookAgain); err != nil {
			return waited, err
		}
	}
	return waited, nil
}

// Write appends bytes for which there is room. A full disk makes it wait, and it reports for how long. An error means
// that the exchange must count as not begun. It ends the crawl, unless it is passing (vfs.IsPassing): then the time to
// wait is over.
func (f *File) Write(ctx context.Context, limit time.Time, b []byte) (waited time.Duration, err error) {
	for {
		err := f.write(b)
		if err == nil {
			return waited, nil
		}
		if !vfs.IsPassing(err) {
			return waited, err
		}
		began := time.Now()
		if err := f.awaitDisk(ctx, limit, err); err != nil {
			return waited, err
		}
		waited += time.Since(began)
	}
}

// awaitDisk returns when a write that failed may be repeated. ctx may have a deadline of another kind, which does not
// count.
func (f *File) awaitDisk(ctx context.Context, limit time.Time, failed error) error {
	limited, cancel := context.WithDeadline(context.WithoutCancel(ctx), limit)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return f.store.o.Wait(limited, failed)
}

func (f *File) write(b []byte) error {
	if f.f == nil {
		file, err := f.store.o.FS.Create(f.store.nextName())
		if err != nil {
			return fmt.Errorf("bodyfile: %w", err)
		}
		f.f = file
	}
	n, err := f.f.WriteAt(b, f.size)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("bodyfile: %w", err)
	}
	_, _ = f.written.Write(b) // a hash never fails
	f.size += int64(len(b))
	f.room -= int64(len(b))
	return nil
}

// Seal says that no more is written.
func (f *File) Seal() { f.store.seal(f) }

// Size returns the length in bytes.
func (f *File) Size() int64 { return f.size }

// ReadAt reads as io.ReaderAt says. If all bytes are read in order, the last call compares their checksum with that of
// what was written, and an error for a difference wraps vfs.ErrCorrupt.
func (f *File) ReadAt(b []byte, at int64) (int, error) {
	if at == 0 {
		f.read.Reset()
		f.readTo = 0
	}
	n, err := f.f.ReadAt(b[:min(int64(len(b)), max(f.size-at, 0))], at)
	if err == nil && n < len(b) {
		err = io.EOF
	}
	if at != f.readTo {
		return n, err //nolint:wrapcheck // io.EOF, or the name is in it
	}
	_, _ = f.read.Write(b[:n])
	f.readTo += int64(n)
	if f.readTo == f.size && f.read.Sum64() != f.written.Sum64() {
		return 0, &vfs.CorruptError{File: f.f.Name(), What: "the body file has other bytes than were written"}
	}
	return n, err //nolint:wrapcheck // io.EOF, or the name is in it
}

// Remove removes the file, which must not be used any more.
func (f *File) Remove() {
	if f.f != nil {
		f.store.remove(f.f)
	}
	f.store.release(f)
	f.f = nil
}
