package objectstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/minio/minio-go/v7"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
)

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
