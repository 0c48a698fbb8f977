package derive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"

	"orbweaver/internal/vfs"
)

// Outputs creates the files of one product for one input. Under their final names they appear together.
type Outputs struct {
	fsys  vfs.FS
	dir   string
	files []*output
	step  func(string) // see Step
}

// Step says in the progress what Product.Finish does now. It is cheap enough to be called a few times a second.
func (o *Outputs) Step(what string) { o.step(what) }

// output is a file that is being written.
type output struct {
	name   string // relative to dir
	file   vfs.File
	buffer *bufio.Writer
	counted
}

// Create makes a file; name is relative to Options.Dir. The writer is buffered, and Outputs closes it.
func (o *Outputs) Create(name string) (io.Writer, error) {
	full := path.Join(o.dir, name)
	if err := o.fsys.MkdirAll(path.Dir(full)); err != nil {
		return nil, fmt.Errorf("derive: %w", err)
	}
	f, err := o.fsys.Create(full + vfs.TemporarySuffix)
	if err != nil {
		return nil, fmt.Errorf("derive: %w", err)
	}
	out := &output{name: name, file: f}
	out.w = f
	out.buffer = bufio.NewWriterSize(&out.counted, 256<<10)
	o.files = append(o.files, out)
	return out.buffer, nil
}

// commit gives the files their names.
func (o *Outputs) commit() ([]made, error) {
	all := []made{}
	for _, out := range o.files {
		if err := out.buffer.Flush(); err != nil {
			return nil, fmt.Errorf("derive: writing %s: %w", out.name, err)
		}
		if err := out.file.Sync(); err != nil {
			return nil, fmt.Errorf("derive: writing %s: %w", out.name, err)
		}
	}
	dirs := map[string]bool{}
	for _, out := range o.files {
		full := path.Join(o.dir, out.name)
		err := out.file.Close()
		out.file = nil
		if err == nil {
			err = o.fsys.Rename(full+vfs.TemporarySuffix, full)
		}
		if err != nil {
			return nil, fmt.Errorf("derive: finishing %s: %w", out.name, err)
		}
		dirs[path.Dir(full)] = true
		all = append(all, made{out.name, out.n})
	}
	for dir := range dirs {
		if err := o.fsys.SyncDir(dir); err != nil {
			return nil, fmt.Errorf("derive: %w", err)
		}
	}
	return all, nil
}

// abandon closes and removes files that have no final name.
func (o *Outputs) abandon() error {
	var faults []error
	for _, out := range o.files {
		if out.file == nil {
			continue
		}
		faults = append(faults, out.file.Close(),
			vfs.RemoveIfExists(o.fsys, path.Join(o.dir, out.name)+vfs.TemporarySuffix))
	}
	return errors.Join(faults...)
}
