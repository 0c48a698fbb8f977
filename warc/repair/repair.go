package repair

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Options configure File.
type Options struct {
	// Info is the block for a warcinfo record that must be replaced.
	Info []warc.Field
	// Visit is called with each valid record, in order, and its position in the repaired file. Block has the block or, if
	// it is long, its start; Visit may read the rest. It borrows the record. If it returns false, the record and those
	// concurrent to it are removed. Default: all stay.
	Visit func(rec *warc.RecordRead, at warc.Position) (keep bool, err error)
	// OnFault is called with every fault of the file. Default: none.
	OnFault func(*warc.Fault)
	// OnChange is called with the final name of the file before its bytes change. After an error nothing is changed.
	// Default: none.
	OnChange func(name string) error
}

// WithDefaults returns a copy of o whose nil fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.Visit == nil {
		o.Visit = func(*warc.RecordRead, warc.Position) (bool, error) { return true, nil }
	}
	if o.OnFault == nil {
		o.OnFault = func(*warc.Fault) {}
	}
	if o.OnChange == nil {
		o.OnChange = func(string) error { return nil }
	}
	return o
}

// Result is what File did.
type Result struct {
	// File is its final name. Finished is true if the file was still open.
	File     string `json:"file"`
	Finished bool   `json:"finished"`
	// Size is the current size of the file in bytes, and Records the number of its records.
	Size    int64 `json:"size"`
	Records int   `json:"records"`
	// Lost is the number of removed bytes: torn, damaged, or refused by Visit. Aside is the file that contains them.
	Lost  int64  `json:"lost"`
	Aside string `json:"aside,omitempty"`
	// Indexed is true if the CDXJ index was missing or wrong and was made again.
	Indexed bool `json:"indexed"`
}

// Changed reports whether File changed anything.
func (r *Result) Changed() bool { return r.Finished || r.Lost > 0 || r.Aside != "" || r.Indexed }

const (
	mendedSuffix  = ".mended"  // a new file that is made from the valid records
	damagedSuffix = ".damaged" // the damaged file, which is kept
)

// File repairs a file of a Writer that is no longer in use. Complete records with matching digests, and records
// concurrent to them, stay unchanged, byte for byte; the others are removed. The file gets its final name and a correct
// CDXJ index. A torn tail is moved to a file named .torn. If other parts must be removed, the old file is kept as
// .damaged, and a new one is made of its valid records. After a kill, call Finish and then File again.
//
// An error comes from the disk or from Visit; damage is reported to OnFault. The memory is that of the index lines and
// identities of all records, and of one block.
func File(fsys vfs.FS, dir string, info warc.FileInfo, o Options) (Result, error) {
	r := &repairer{fsys: fsys, dir: dir, info: info, o: o.WithDefaults()}
	f, err := fsys.Open(path.Join(dir, info.Name))
	if err != nil {
		return Result{}, fmt.Errorf("warc: %w", err)
	}
	if r.size, err = f.Size(); err == nil {
		err = r.read(f)
	}
	if errors.Is(err, errWrongHead) {
		err = r.read(f) // only the warcinfo record was kept until now
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return Result{}, err
	}
	result, err := r.write()
	if err != nil {
		return Result{}, fmt.Errorf("warc: mending %s: %w", info.Name, err)
	}
	return result, nil
}

// Finish completes a File that was killed. Call it before the files are listed.
func Finish(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return fmt.Errorf("warc: listing %s: %w", dir, err)
	}
	for _, name := range names {
		final, ok := strings.CutSuffix(name, mendedSuffix)
		switch {
		case strings.HasSuffix(name, mendedSuffix+".tmp"),
			ok && slices.ContainsFunc(names, func(other string) bool { return isFile(other, final) }):
			err = fsys.Remove(path.Join(dir, name)) // it will be made again
		case ok:
			if err = fsys.Rename(path.Join(dir, name), path.Join(dir, final)); err == nil {
				err = fsys.SyncDir(dir)
			}
		}
		if err != nil {
			return fmt.Errorf("warc: %w", err)
		}
	}
	return nil
}

// isFile reports whether a name is that of the archive file with this final name, finished or open.
func isFile(name, final string) bool {
	info, ok := warc.ParseName(name)
	return name == final || ok && info.Final() == final
}
