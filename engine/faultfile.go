package engine

import (
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	"orbweaver/internal/vfs"
)

// faultFile keeps the input of a parse that panicked, as a seed for the fuzzers. It keeps only the first few.
type faultFile struct {
	fs  vfs.FS
	dir string
	log *slog.Logger
	n   atomic.Int64
}

const faultsKept = 100

func (f *faultFile) save(url, raw []byte, cause any) {
	n := f.n.Add(1)
	f.log.Error("BUG: the parse of a page panicked; the page is kept, its links are not followed", "url", string(url), "cause", fmt.Sprint(cause))
	if n > faultsKept {
		return
	}
	name := fmt.Sprintf("%s/parse-fault-%03d", f.dir, n)
	if err := vfs.WriteAtomic(f.fs, name, func(w io.Writer) error { _, err := w.Write(raw); return err }); err != nil {
		f.log.Warn("the input could not be kept", "file", name, "error", err)
	}
}
