package objectstore

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"orbweaver/engine/operate/upload"
	"orbweaver/engine/store/receipts"
)

// Confirm implements upload.Confirmer. It asks for the WARC file, and compares the index, which is read here.
func (s *Store) Confirm(ctx context.Context, f *upload.File, r *receipts.Receipt) error {
	_, err := s.compare(ctx, f.FS, f.Dir, f.Index)
	if err == nil {
		err = confirm(ctx, s, s.key(f.Name), r)
	}
	if errors.Is(err, ErrMissing) || errors.Is(err, ErrDiffers) {
		return fmt.Errorf("%s: %w: %w", s.object(s.key(f.Name)), upload.ErrLost, err)
	}
	return err
}

// confirm proves that an object is the one of a receipt: by length and ETag, or by its bytes if it has another ETag.
func confirm(ctx context.Context, s *Store, key string, r *receipts.Receipt) error {
	info, err := s.stat(ctx, key)
	err = confirmMissing(ctx, s, key, err)
	switch {
	case errors.Is(err, ErrMissing):
		return err
	case err != nil:
		return s.fault(key, err)
	case info.Size != r.Length:
		return fmt.Errorf("%w: it has %d bytes, not %d", ErrDiffers, info.Size, r.Length)
	case r.ETag != "" && strings.Trim(info.ETag, `"`) == r.ETag:
		return nil
	}
	sum, err := hex.DecodeString(r.SHA256)
	if err != nil {
		return fmt.Errorf("object store: receipt of %s: %w", r.File, err)
	}
	err = s.readBack(ctx, key, r.Length, sum)
	if errors.Is(err, ErrDiffers) {
		return err
	}
	return s.fault(key, err)
}
