package warctool

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// errWACZFile says that a file cannot be part of a WACZ.
var errWACZFile = errors.New("not packed")

// notPacked is why.
const notPacked = "a WACZ holds complete .warc and .warc.gz files; others become such by 'orbweaver warc recompress'"

// Packable returns which of some WARC files can be part of a WACZ, and passes the others to leaveOut: what replay
// programs cannot read, what has no record, what cannot be opened, and the second of two files with the same name. A
// removed file is not read.
func Packable(fsys vfs.FS, files []string, leaveOut func(*warc.Fault)) (good []string) {
	seen := make(map[string]string, len(files))
	for _, name := range files {
		base := path.Base(name)
		fault := checkPackable(fsys, name)
		if other, ok := seen[base]; ok && fault == nil {
			fault = &warc.Fault{Kind: errWACZFile, File: base, What: fmt.Sprintf("%s and %s have the same name: "+
				"'orbweaver warc recompress -o DIR/' gives them others", other, name)}
		}
		if fault != nil {
			leaveOut(fault)
			continue
		}
		seen[base] = name
		good = append(good, name)
	}
	return good
}

// checkPackable returns why a file cannot be part of a WACZ, by its name and its first bytes.
func checkPackable(fsys vfs.FS, name string) *warc.Fault {
	base := path.Base(name)
	other := &warc.Fault{Kind: errWACZFile, File: base, What: notPacked}
	file, err := fsys.Open(name)
	isNamed := strings.HasSuffix(base, ".warc") || strings.HasSuffix(base, ".warc.gz")
	switch {
	case errors.Is(err, vfs.ErrElsewhere) && isNamed:
		return nil
	case err != nil:
		return warc.Unopened(name, err)
	}
	defer func() { _ = file.Close() }() // opened for reading
	z := warc.NewReader(file, warc.ReaderOptions{Name: base})
	defer z.Close()
	rec, err := z.Next()
	var fault *warc.Fault
	switch {
	case errors.As(err, &fault) && !z.IsKnown():
		return fault
	case !isNamed, err == nil && rec.IsARC, z.Compression() == warc.Zstd:
		return other
	}
	return nil
}
