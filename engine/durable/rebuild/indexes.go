package rebuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// WriteIndexes writes the CDXJ beside every finished archive file of a crawl that does not run, where it is missing or
// differs from what the file says. It changes nothing else. written are the names of the indexes, relative to dir.
func WriteIndexes(ctx context.Context, fsys vfs.FS, dir string) (written []string, err error) {
	lock, err := fsys.Lock(dir + "/" + layout.LockFile)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("%w: %s; stop it first", layout.ErrInUse, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("rebuild: indexes: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	files, err := warc.Files(fsys, dir+"/"+layout.ArchiveDir)
	if err != nil {
		return nil, fmt.Errorf("rebuild: indexes: %w", err)
	}
	for _, info := range files {
		if info.Open {
			continue
		}
		made, err := writeIndex(fsys, dir+"/"+layout.ArchiveDir, info)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return written, fmt.Errorf("rebuild: index of %s: %w", info.Name, err)
		}
		if made {
			written = append(written, layout.ArchiveDir+"/"+info.Index())
		}
	}
	return written, nil
}

func writeIndex(fsys vfs.FS, dir string, info warc.FileInfo) (written bool, err error) {
	var want bytes.Buffer
	err = warc.ReadFile(fsys, dir, info, math.MaxInt64, warc.ReaderOptions{Unbounded: true}, func(z *warc.Reader) error {
		return warc.WriteIndex(&want, z, info.Final(), warc.StopAtDamage)
	})
	if err != nil {
		return false, err
	}
	have, err := vfs.ReadFile(fsys, dir+"/"+info.Index())
	if err == nil && bytes.Equal(have, want.Bytes()) {
		return false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, vfs.WriteAtomic(fsys, dir+"/"+info.Index(), func(w io.Writer) error {
		_, err := w.Write(want.Bytes())
		return err
	})
}
