package checkpoint

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
	"orbweaver/sieve/fpcache"
)

// SaveCache keeps the fingerprint cache for the next run. Only an orderly stop does.
func SaveCache(fsys vfs.FS, dir string, generation uint64, cache *fpcache.Cache) error {
	return vfs.WriteAtomic(fsys, manifest.CachePath(dir), func(w io.Writer) error {
		if err := binary.Write(w, binary.LittleEndian, generation); err != nil {
			return err
		}
		return cache.Save(w)
	})
}

// DropCache removes the fingerprint cache, also one that a kill has left unfinished. A complete crawl has no use for
// it.
func DropCache(fsys vfs.FS, dir string) error {
	for _, name := range []string{manifest.CachePath(dir) + vfs.TemporarySuffix, manifest.CachePath(dir)} {
		if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// LoadCache returns the fingerprint cache of an orderly stop. It returns old if there is none of this generation and of
// the size of old.
func LoadCache(fsys vfs.FS, dir string, generation uint64, old *fpcache.Cache) (*fpcache.Cache, error) {
	f, err := fsys.Open(manifest.CachePath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return old, nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: cache: %w", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	var of uint64
	if err := binary.Read(in, binary.LittleEndian, &of); err != nil || of != generation {
		return old, nil //nolint:nilerr // a crawl without it is only slower
	}
	if c, err := fpcache.Load(in); err == nil && c.Stats().Bytes == old.Stats().Bytes {
		return c, nil
	}
	return old, nil
}
