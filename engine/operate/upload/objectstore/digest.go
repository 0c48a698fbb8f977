package objectstore

import (
	"context"
	"crypto/md5" //nolint:gosec // the ETag of S3; SHA-256 is beside it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"orbweaver/internal/vfs"
)

// sums are the digests of a file: of the whole, and of each part in which it is sent.
type sums struct {
	length int64
	sha256 []byte
	parts  []partSums
}

// partSums are the digests of one part.
type partSums struct {
	offset, length int64
	md5, sha256    []byte
}

func (p *partSums) md5Base64() string    { return base64.StdEncoding.EncodeToString(p.md5) }
func (p *partSums) sha256Base64() string { return base64.StdEncoding.EncodeToString(p.sha256) }
func (p *partSums) sha256Hex() string    { return hex.EncodeToString(p.sha256) }

func (s *sums) sha256Hex() string { return hex.EncodeToString(s.sha256) }

// isSingle reports whether the file is sent in one request.
func (s *sums) isSingle() bool { return len(s.parts) == 1 }

// etags are the ETags that S3 gives to the object, if it is not encrypted with a key of its own.
func (s *sums) etag() string {
	if s.isSingle() {
		return hex.EncodeToString(s.parts[0].md5)
	}
	whole := md5.New() //nolint:gosec // as above
	return composite(whole, s.parts, func(p *partSums) []byte { return p.md5 }, hex.EncodeToString)
}

// checksum is the SHA-256 that S3 computes for the object.
func (s *sums) checksum() string {
	if s.isSingle() {
		return s.parts[0].sha256Base64()
	}
	return composite(sha256.New(), s.parts, func(p *partSums) []byte { return p.sha256 },
		base64.StdEncoding.EncodeToString)
}

// composite is the digest of the digests of the parts, with their number.
func composite(h hash.Hash, parts []partSums, of func(*partSums) []byte, encode func([]byte) string) string {
	for i := range parts {
		h.Write(of(&parts[i]))
	}
	return fmt.Sprintf("%s-%d", encode(h.Sum(nil)), len(parts))
}

// partLength is how long the parts of a file are.
func partLength(file, least int64) int64 {
	for file > least*partsMost {
		least *= 2
	}
	return least
}

// digest reads a file once.
func digest(ctx context.Context, f vfs.File, length, part int64) (*sums, error) {
	s := &sums{length: length}
	part = partLength(length, part)
	whole := sha256.New()
	buf := make([]byte, 256<<10)
	for offset := int64(0); offset < length || offset == 0; offset += part {
		p := partSums{offset: offset, length: min(part, length-offset)}
		sum, one := md5.New(), sha256.New() //nolint:gosec // as above
		isOnly := p.length == length
		r := &reader{ctx: ctx, SectionReader: io.NewSectionReader(f, offset, p.length)}
		to := io.MultiWriter(sum, one, whole)
		if isOnly {
			to = io.MultiWriter(sum, one)
		}
		n, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{r}, buf)
		if err != nil {
			return nil, fmt.Errorf("object store: reading %s: %w", f.Name(), err)
		}
		if n != p.length {
			return nil, fmt.Errorf("object store: %s has become shorter", f.Name())
		}
		p.md5, p.sha256 = sum.Sum(nil), one.Sum(nil)
		s.parts = append(s.parts, p)
		if isOnly {
			whole = one
		}
	}
	s.sha256 = whole.Sum(nil)
	return s, nil
}

// reader reads a part of a file until ctx ends. alive is called after each read.
type reader struct {
	*io.SectionReader

	ctx   context.Context //nolint:containedctx // of one request
	alive func()
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.SectionReader.Read(b)
	if r.alive != nil {
		r.alive()
	}
	return n, err
}
