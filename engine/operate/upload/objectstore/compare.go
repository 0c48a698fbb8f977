package objectstore

import (
	"context"
	"errors"
	"fmt"

	"orbweaver/engine/operate/upload"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Difference is a file of the archive that the bucket does not have as it is.
type Difference struct {
	File    string // relative to the crawl directory
	Text    string
	IsFault bool // false for a file that is not sent yet
}

// Compare holds each closed WARC file, and its index, against its object. It reads all files, and reads objects back
// whose digest the store does not tell. A file that was removed here must have its object as its receipt says. checked
// is how many files there were. An error is one of the disk, or of a store that does not answer.
func (s *Store) Compare(
	ctx context.Context, fsys vfs.FS, dir string, progress func(file string),
) (found []Difference, checked int, err error) {
	archive := dir + "/" + layout.ArchiveDir
	files, err := warc.Files(fsys, archive)
	if err != nil {
		return nil, 0, err
	}
	list := receipts.List{FS: fsys, Dir: dir + "/" + receipts.Dir(receipts.Store)}
	known, err := list.Of(s.Target())
	if err != nil {
		return nil, 0, err
	}
	removed, err := receipts.Removed(fsys, dir)
	if err != nil {
		return nil, 0, err
	}
	for i := range removed {
		checked++
		name := layout.ArchiveDir + "/" + removed[i].File
		progress(name)
		one, isFault, err := compareRemoved(ctx, s, fsys, archive, &removed[i])
		if err != nil {
			return found, checked, err
		}
		if one != "" {
			found = append(found, Difference{name, one, isFault})
		}
	}
	for _, info := range files {
		if info.Open {
			continue
		}
		checked++
		name := layout.ArchiveDir + "/" + info.Name
		progress(name)
		receipt, isSent := known[info.Name]
		if !isSent {
			found = append(found, Difference{File: name, Text: "it is not sent yet"})
			continue
		}
		for _, one := range []string{info.Index(), info.Name} {
			sum, err := s.compare(ctx, fsys, archive, one)
			name := layout.ArchiveDir + "/" + one
			switch {
			case errors.Is(err, ErrMissing), errors.Is(err, ErrDiffers):
				found = append(found, Difference{name, fmt.Sprintf("s3://%s/%s: %v", s.bucket, s.key(one), err), true})
			case err != nil:
				return found, checked, err
			case one == info.Name && receipt.SHA256 != sum.sha256Hex():
				found = append(found, Difference{name, "its SHA-256 is " + sum.sha256Hex() + ", in its receipt " +
					receipt.SHA256, true})
			}
		}
	}
	return found, checked, nil
}

// compareRemoved says what is wrong with the object of a file that was removed here, and with that of its index; "" if
// all is well.
func compareRemoved(
	ctx context.Context, s *Store, fsys vfs.FS, archive string, r *receipts.Receipt,
) (text string, isFault bool, err error) {
	if r.Target != s.Target() {
		return "it is in " + r.Place() + ", which is not --upload: it was not compared", false, nil
	}
	info, _ := warc.ParseName(r.File)
	err = s.Confirm(ctx, &upload.File{FS: fsys, Dir: archive, Name: r.File, Index: info.Index()}, r)
	if errors.Is(err, upload.ErrLost) {
		return err.Error() + "; it is not here either", true, nil
	}
	return "", false, err
}

// compare proves that an object has the bytes of a file.
func (s *Store) compare(ctx context.Context, fsys vfs.FS, dir, name string) (sum *sums, err error) {
	file, err := fsys.Open(dir + "/" + name)
	if err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	length, err := file.Size()
	if err != nil {
		return nil, fmt.Errorf("object store: %w", err)
	}
	if sum, err = digest(ctx, file, length, s.partBytes); err != nil {
		return nil, err
	}
	_, _, err = s.verify(ctx, s.key(name), sum)
	err = confirmMissing(ctx, s, s.key(name), err)
	if errors.Is(err, ErrMissing) || errors.Is(err, ErrDiffers) {
		return sum, err
	}
	return sum, s.fault(s.key(name), err)
}
