package objectstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
)

const (
	// resumesMost is how many requests in a row may be made for the rest of an object without getting a byte.
	resumesMost = 3
	resumeWait  = time.Second
	// slowest is how many bytes a second the store must send in the long run, so that each read ends.
	slowest = 16 << 10
)

// SplitTarget returns endpoint and s3://BUCKET/PREFIX of the target in a receipt.
func SplitTarget(target string) (endpoint, bucket string, err error) {
	u, err := url.Parse(target)
	if err != nil {
		return "", "", fmt.Errorf("target of a receipt: %w", err)
	}
	return u.Scheme + "://" + u.Host, "s3://" + strings.TrimLeft(u.Path, "/"), nil
}

// Open opens the object of a removed file, to read length bytes from an offset with one request. If the
// connection breaks after some bytes, the rest is requested. The object must have length and ETag of the receipt. The
// error names the cause alone.
func Open(ctx context.Context, s *Store, r *receipts.Receipt, offset, length int64) (io.ReadCloser, error) {
	o := &object{store: s, receipt: r, at: offset, rest: length, began: offset}
	o.ctx, o.cancel = context.WithCancelCause(ctx)
	if err := o.request(); err != nil {
		o.cancel(nil)
		return nil, err
	}
	return o, nil
}

// object is a part of an object that is read.
type object struct {
	store    *Store
	receipt  *receipts.Receipt
	ctx      context.Context //nolint:containedctx // of the request
	cancel   context.CancelCauseFunc
	body     io.ReadCloser
	at, rest int64
	began    int64         // offset
	resumed  int           // requests since the last byte
	waited   time.Duration // for the store
}

// request asks for what is left.
func (o *object) request() error {
	return o.patiently(func() error {
		var options minio.GetObjectOptions
		if o.rest > 0 {
			if err := options.SetRange(o.at, o.at+o.rest-1); err != nil {
				return err
			}
		}
		body, info, header, err := o.store.core.GetObject(o.ctx, o.store.bucket, o.store.key(o.receipt.File), options)
		if err != nil {
			return refusal(err)
		}
		if err := o.check(&info, header); err != nil {
			return errors.Join(err, body.Close())
		}
		o.body = body
		return nil
	})
}

// refusal says in our words what an answer means.
func refusal(err error) error {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		switch answer.StatusCode {
		case http.StatusNotFound:
			return fmt.Errorf("%w: %.60s", ErrMissing, answer.Code)
		case http.StatusRequestedRangeNotSatisfiable:
			return fmt.Errorf("%w: it is shorter", ErrDiffers)
		}
	}
	return causeOf(err)
}

// check compares an answer with the receipt.
func (o *object) check(info *minio.ObjectInfo, header http.Header) error {
	size := info.Size
	if o.rest > 0 {
		from, total, ok := parseContentRange(header.Get("Content-Range"))
		switch {
		case !ok && o.at == 0: // the whole object
		case !ok || from != o.at:
			return fmt.Errorf("the store sent no range from byte %d: %.80q", o.at, header.Get("Content-Range"))
		default:
			size = total
		}
	}
	etag := strings.Trim(info.ETag, `"`)
	switch {
	case size != o.receipt.Length:
		return fmt.Errorf("%w: it has %d bytes, not %d", ErrDiffers, size, o.receipt.Length)
	case o.receipt.ETag != "" && etag != "" && etag != o.receipt.ETag:
		return fmt.Errorf("%w: its ETag is %.80s, not %s: it was replaced", ErrDiffers, etag, o.receipt.ETag)
	}
	return nil
}

// parseContentRange reads "bytes FROM-TO/TOTAL".
func parseContentRange(field string) (from, total int64, ok bool) {
	field, isBytes := strings.CutPrefix(field, "bytes ")
	part, whole, _ := strings.Cut(field, "/")
	first, _, _ := strings.Cut(part, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	total, totalErr := strconv.ParseInt(whole, 10, 64)
	return from, total, isBytes && err == nil && totalErr == nil
}

// patiently calls f, which waits for the store, and ends it when the patience ends.
func (o *object) patiently(f func() error) error {
	began := time.Now()
	timer := time.AfterFunc(o.store.patience, func() {
		o.cancel(fmt.Errorf("the store has made no progress for %v", o.store.patience))
	})
	err := f()
	timer.Stop()
	o.waited += time.Since(began)
	if cause := context.Cause(o.ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// Read implements io.Reader. Only the time that the store takes counts.
func (o *object) Read(b []byte) (n int, err error) {
	for {
		if o.rest <= 0 {
			return 0, io.EOF
		}
		err = o.patiently(func() (err error) {
			n, err = o.body.Read(b[:min(int64(len(b)), o.rest)])
			return err
		})
		o.at += int64(n)
		o.rest -= int64(n)
		if limit := o.limit(); err == nil && o.waited > limit {
			return 0, fmt.Errorf("the store is too slow: it took more than %v for %d bytes", limit, o.at-o.began)
		}
		switch {
		case n > 0:
			o.resumed = 0
			return n, nil
		case err == nil:
			continue
		}
		if err := o.resume(err); err != nil {
			return 0, err
		}
	}
}

// limit is how long the store may have taken up to now.
func (o *object) limit() time.Duration {
	return 2*o.store.patience + time.Duration(o.at-o.began)*time.Second/slowest
}

// resume asks for the rest of a part after a fault.
func (o *object) resume(fault error) error {
	if o.ctx.Err() != nil || o.at == o.began || o.resumed == resumesMost {
		if errors.Is(fault, io.EOF) {
			fault = io.ErrUnexpectedEOF
		}
		return fault
	}
	o.resumed++
	_ = o.body.Close()
	timer := time.NewTimer(o.store.resumeWait)
	defer timer.Stop()
	select {
	case <-o.ctx.Done():
		return context.Cause(o.ctx)
	case <-timer.C:
	}
	err := o.request()
	if err != nil && o.ctx.Err() == nil && !errors.Is(err, ErrMissing) && !errors.Is(err, ErrDiffers) {
		return o.resume(err)
	}
	return err
}

// Close ends the request.
func (o *object) Close() error {
	o.cancel(nil)
	return o.body.Close()
}

// FetchBack brings a WARC file that was removed here into the crawl directory again. The file appears when it is whole
// and has the SHA-256 of its receipt.
func (s *Store) FetchBack(ctx context.Context, fsys vfs.FS, dir string, r *receipts.Receipt) error {
	if r.Target != s.Target() {
		return fmt.Errorf("%s is in %s, and this bucket is %s: give its --upload and --upload-endpoint", r.File, r.Place(),
			s.Target())
	}
	key := s.key(r.File)
	err := vfs.WriteAtomic(fsys, path.Join(dir, layout.ArchiveDir, r.File), func(w io.Writer) error {
		return s.watched(ctx, func(ctx context.Context, alive func()) (err error) {
			body, _, _, err := s.core.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, body.Close()) }()
			sum := sha256.New()
			n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(&answered{body, alive}, r.Length+1))
			if err == nil && (n != r.Length || hex.EncodeToString(sum.Sum(nil)) != r.SHA256) {
				err = fmt.Errorf("%w: %d bytes with the SHA-256 %x; its receipt says %d and %s", ErrDiffers, n, sum.Sum(nil),
					r.Length, r.SHA256)
			}
			return err
		})
	})
	return s.fault(key, err)
}
