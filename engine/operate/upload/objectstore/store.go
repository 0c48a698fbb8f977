package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"orbweaver/engine/operate/upload"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
)

// Store is a prefix of a bucket.
type Store struct {
	core           *minio.Core
	transport      *http.Transport
	target         string // endpoint, bucket and prefix
	bucket, prefix string
	partBytes      int64
	patience       time.Duration
	resumeWait     time.Duration // before the rest of an object is requested
	checksums      bool          // whether the store gets SHA-256 digests to verify
}

// How it was proved that an object has the bytes of its file.
const (
	VerifiedETag   = "md5"    // the ETag is the MD5 of the file, or of its parts
	VerifiedSHA256 = "sha256" // the store has computed the SHA-256
	VerifiedRead   = "read"   // the object was read back
)

// Errors of Check and Send. A wrong object is sent again.
var (
	ErrMissing = errors.New("the object is missing")
	ErrDiffers = errors.New("the object differs from the file")
)

// metadataSHA256 is the user metadata with the digest of the file.
const metadataSHA256 = "Sha256"

// Name implements upload.Receiver.
func (s *Store) Name() string { return upload.Store }

// Target implements upload.Receiver.
func (s *Store) Target() string { return s.target }

// Close ends idle connections.
func (s *Store) Close() { s.transport.CloseIdleConnections() }

// Send implements upload.Receiver. The index comes first: where the WARC file is, its index is, too.
func (s *Store) Send(ctx context.Context, f *upload.File) (receipts.Receipt, error) {
	index := source{f.FS, f.Dir + "/" + f.Index, s.key(f.Index), upload.NoDraft{}, ""}
	if _, err := s.put(ctx, index); err != nil {
		return receipts.Receipt{}, err
	}
	r, err := s.put(ctx, source{f.FS, f.Path(), s.key(f.Name), f.Draft, f.SHA256})
	r.Object = s.object(s.key(f.Name))
	return r, err
}

// object is the URL of an object.
func (s *Store) object(key string) string { return "s3://" + s.bucket + "/" + key }

// SendRest implements upload.RestReceiver.
func (s *Store) SendRest(ctx context.Context, fsys vfs.FS, files []upload.RestFile) error {
	var faults []error
	for _, f := range files {
		_, err := s.put(ctx, source{fsys, f.Path, s.key(f.Key), f.Draft, ""})
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// source is a file that is sent.
type source struct {
	fsys  vfs.FS
	path  string
	key   string
	draft upload.Draft
	// sha256 is the digest that the file must have, in hex; empty if that is not known.
	sha256 string
}

func (s *Store) key(name string) string { return path.Join(s.prefix, name) }

// put sends a file, unless the store has it already, and verifies the object.
func (s *Store) put(ctx context.Context, from source) (r receipts.Receipt, err error) {
	key := from.key
	file, err := from.fsys.Open(from.path)
	if err != nil {
		return r, fmt.Errorf("object store: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	length, err := file.Size()
	if err != nil {
		return r, fmt.Errorf("object store: %w", err)
	}
	// After a kill the object may be there. A store that is down costs no pass over the file.
	before, err := s.stat(ctx, key)
	isThere := err == nil
	if err != nil && !isUnknown(err) {
		return r, s.fault(key, err)
	}
	sum, err := digest(ctx, file, length, s.partBytes)
	if err != nil {
		return r, err
	}
	r.Length, r.SHA256 = length, sum.sha256Hex()
	if from.sha256 != "" && from.sha256 != r.SHA256 {
		return r, fmt.Errorf("%s: %w: it is %s, and was %s", from.path, upload.ErrDamaged, r.SHA256, from.sha256)
	}
	if isThere {
		if r.ETag, r.Verified, err = s.prove(ctx, key, &before, sum); err == nil {
			return r, nil
		}
	}
	if sum.isSingle() {
		err = s.putWhole(ctx, file, key, sum)
	} else {
		err = (&parts{Store: s, file: file, key: key, sum: sum, draft: from.draft}).send(ctx)
	}
	if err == nil {
		r.ETag, r.Verified, err = s.verify(ctx, key, sum)
	}
	return r, s.fault(key, err)
}

// isUnknown reports whether a file must be sent: its object is missing, or it may not be asked for. Stores answer 403
// to a question for a missing object without the permission to list. The answer to HEAD has no reason; that to PUT has.
func isUnknown(err error) bool {
	var answer minio.ErrorResponse
	return errors.Is(err, ErrMissing) || errors.As(err, &answer) &&
		(answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusBadRequest)
}

// messageMost is how much of a message of the store is kept, in bytes.
const messageMost = 300

// fault makes an error for people, which names the object.
func (s *Store) fault(key string, err error) error {
	if err == nil {
		return nil
	}
	text := fmt.Errorf("%s: %w", s.object(key), causeOf(err))
	if refusal := refused(err, text); refusal != nil {
		return refusal
	}
	return text
}

// causeOf makes an error for people from an answer of the store. Other errors stay as they are.
func causeOf(err error) error {
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		return err
	}
	hint := ""
	if answer.Code == "RequestTimeTooSkewed" {
		hint = ": set the clock of this machine"
	}
	return fmt.Errorf("%.60s, status %d: %.*q%s", answer.Code, answer.StatusCode, messageMost, answer.Message, hint)
}

// putWhole sends a file in one request.
func (s *Store) putWhole(ctx context.Context, file vfs.File, key string, sum *sums) error {
	p := &sum.parts[0]
	o := s.options(key, sum)
	if s.checksums {
		o.UserMetadata["x-amz-checksum-sha256"] = p.sha256Base64()
	}
	return s.watched(ctx, func(ctx context.Context, alive func()) error {
		var body io.Reader = &reader{SectionReader: io.NewSectionReader(file, 0, p.length), ctx: ctx, alive: alive}
		if p.length == 0 {
			body = nil // otherwise the request has no length
		}
		_, err := s.core.PutObject(ctx, s.bucket, key, body, p.length, p.md5Base64(), p.sha256Hex(), o)
		return err
	})
}

// options are those of an object.
func (s *Store) options(key string, sum *sums) minio.PutObjectOptions {
	kind := "application/octet-stream"
	switch {
	case strings.HasSuffix(key, ".warc"), strings.HasSuffix(key, ".warc.gz"), strings.HasSuffix(key, ".warc.zst"):
		kind = "application/warc"
	case strings.HasSuffix(key, ".cdxj"):
		kind = "text/x-cdxj"
	case strings.HasSuffix(key, ".json"):
		kind = "application/json"
	case strings.HasSuffix(key, ".txt"), strings.HasSuffix(key, "crawl.log"):
		kind = "text/plain"
	}
	return minio.PutObjectOptions{
		ContentType: kind, UserMetadata: map[string]string{metadataSHA256: sum.sha256Hex()},
		DisableContentSha256: true, // it is computed already: without this the body would be signed in pieces
	}
}

// watched calls f with a context that ends if alive is not called for as long as the patience lasts.
func (s *Store) watched(ctx context.Context, f func(ctx context.Context, alive func()) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.patience, func() {
		cancel(fmt.Errorf("the store has made no progress for %v", s.patience))
	})
	defer timer.Stop()
	err := f(ctx, func() { timer.Reset(s.patience) })
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// stat asks for length and digests of an object.
func (s *Store) stat(ctx context.Context, key string) (info minio.ObjectInfo, err error) {
	err = s.watched(ctx, func(ctx context.Context, _ func()) error {
		info, err = s.core.StatObject(ctx, s.bucket, key, minio.StatObjectOptions{Checksum: s.checksums})
		return err
	})
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound {
		return info, fmt.Errorf("%w: %.60s", ErrMissing, answer.Code)
	}
	return info, err
}

// verify asks for an object, and proves that it has the bytes of a file.
func (s *Store) verify(ctx context.Context, key string, sum *sums) (etag, how string, err error) {
	info, err := s.stat(ctx, key)
	if err != nil {
		return "", "", err
	}
	return s.prove(ctx, key, &info, sum)
}

// prove proves that an object has the bytes of a file. A digest in the answer counts only if the store must have
// computed it. Otherwise the object is read back (UL3).
func (s *Store) prove(
	ctx context.Context, key string, info *minio.ObjectInfo, sum *sums,
) (etag, how string, err error) {
	etag = strings.Trim(info.ETag, `"`)
	switch {
	case info.Size != sum.length:
		return etag, "", fmt.Errorf("%w: it has %d bytes, not %d", ErrDiffers, info.Size, sum.length)
	case strings.EqualFold(etag, sum.etag()):
		return etag, VerifiedETag, nil
	case info.ChecksumMode != "" && info.ChecksumSHA256 == sum.checksum():
		return etag, VerifiedSHA256, nil
	}
	return etag, VerifiedRead, s.readBack(ctx, key, sum.length, sum.sha256)
}

// readBack compares length and SHA-256 of the object with those of the file.
func (s *Store) readBack(ctx context.Context, key string, length int64, sum []byte) error {
	return s.watched(ctx, func(ctx context.Context, alive func()) (err error) {
		body, _, _, err := s.core.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, body.Close()) }()
		whole := sha256.New()
		n, err := io.Copy(whole, io.LimitReader(&answered{body, alive}, length+1))
		if err != nil {
			return fmt.Errorf("reading it back: %w", err)
		}
		if n != length || !bytes.Equal(whole.Sum(nil), sum) {
			return fmt.Errorf("%w: its SHA-256 is %x, not %x", ErrDiffers, whole.Sum(nil), sum)
		}
		return nil
	})
}

// answered is the body of an answer.
type answered struct {
	io.Reader

	alive func()
}

func (a *answered) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	a.alive()
	return n, err
}
