package parsers

import (
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"

	"orbweaver/internal/vfs"
)

// FaultFiles keeps the input of parses that panicked, as seeds for the fuzzers. Only the first faultFilesMost are kept
// in a run. Safe for concurrent use.
type FaultFiles struct {
	fs    vfs.FS
	dir   string
	log   *slog.Logger
	count atomic.Int64
}

const faultFilesMost = 100

// NewFaultFiles returns FaultFiles that writes to dir.
func NewFaultFiles(fsys vfs.FS, dir string, log *slog.Logger) *FaultFiles {
	return &FaultFiles{fs: fsys, dir: dir, log: log}
}

// Save logs a panic with its cause and keeps the input.
func (f *FaultFiles) Save(url, input []byte, cause any) {
	n := f.count.Add(1)
	f.log.Error("BUG: the parse of a page panicked; the page is stored, its links are not followed",
		"url", string(url), "cause", fmt.Sprint(cause))
	if n > faultFilesMost {
		return
	}
	name := fmt.Sprintf("%s/parse-fault-%03d", f.dir, n)
	if err := vfs.WriteAtomic(f.fs, name, func(w io.Writer) error { _, err := w.Write(input); return err }); err != nil {
		f.log.Warn("the input of a parse that panicked could not be kept", "file", name, "error", err)
	}
}
