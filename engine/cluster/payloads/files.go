package payloads

import (
	"path"
	"sort"
	"sync"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// filesAfter is how many files are searched that were begun after an exchange. Its record is in the file that was
// written when the exchange ended.
const filesAfter = 3

// archiveFiles are the WARC files of this agent, by the time when they were begun.
type archiveFiles struct {
	fs  vfs.FS
	dir string

	mu       sync.Mutex
	names    []string    // guarded by mu: paths, by serial
	times    []time.Time // guarded by mu: when each was begun
	listedAt time.Time   // guarded by mu
}

// around returns the files that may have the record of an exchange which began at a time. isStale says that files have
// got other names since they were listed.
func (f *archiveFiles) around(at time.Time, isStale bool) (paths []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if isStale || at.After(f.listedAt) {
		if err := f.list(); err != nil {
			return nil, err
		}
	}
	// the last file that was begun before; names have milliseconds
	n := sort.Search(len(f.times), func(i int) bool { return f.times[i].After(at) })
	first := max(n-1, 0)
	return append(paths, f.names[first:min(first+1+filesAfter, len(f.names))]...), nil
}

// list lists the files. The caller holds mu.
func (f *archiveFiles) list() error {
	f.listedAt = time.Now()
	files, err := warc.Files(f.fs, f.dir)
	if err != nil {
		return err
	}
	f.names, f.times = f.names[:0], f.times[:0]
	for _, info := range files {
		f.names, f.times = append(f.names, path.Join(f.dir, info.Name)), append(f.times, info.Created())
	}
	return nil
}
