package feed

import (
	"errors"
	"io/fs"
	"math"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// EndOf returns how far the archive of a crawl that does not run will stay what it is: what the last checkpoint and the
// journal name. What a kill left behind that is cut when the crawl goes on. A directory of WARC files alone has no such
// end.
func EndOf(fsys vfs.FS, dir string) (end warc.Checkpoint, err error) {
	last, err := inspect.Open(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return warc.Checkpoint{Serial: math.MaxUint32, Length: math.MaxInt64}, nil
	}
	if err != nil {
		return end, err
	}
	end = last.ArchiveEnd()
	_, err = last.Journal(func(a journal.Attempt) error {
		if a.Stored && end.Before(a.Where.End()) {
			end = a.Where.End()
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the checkpoint is all there is
	}
	return end, err
}
