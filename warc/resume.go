package warc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc/member"
	"orbweaver/warc/openindex"
)

// resumption restores the files of an archive at a Checkpoint, for a Writer.
type resumption struct {
	fsys       vfs.FS
	o          *Options
	checkpoint Checkpoint
	current    *outFile // the file that the next group continues; nil if that starts a file
	stats      Stats
}

// checkEmpty returns an error if the directory contains files of an archive.
func (r *resumption) checkEmpty() error {
	files, err := Files(r.fsys, r.o.Dir)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		return fmt.Errorf("%w: %s holds %d files of an archive already", ErrResume, r.o.Dir, len(files))
	}
	return nil
}

// restore truncates the archive at the Checkpoint.
func (r *resumption) restore() error {
	files, err := Files(r.fsys, r.o.Dir)
	if err != nil {
		return err
	}
	if err := r.checkLength(files); err != nil {
		return err // before anything is changed
	}
	r.stats.Resumed = true
	if err := r.removeLeftovers(); err != nil {
		return err
	}
	for _, f := range files {
		switch {
		case f.Serial > r.checkpoint.Serial || f.Serial == r.checkpoint.Serial && r.checkpoint.Length == 0:
			err = r.removeFile(f)
		case f.Serial == r.checkpoint.Serial:
			err = r.resumeFile(f)
		case f.Open:
			err = r.finishLeft(f)
		}
		if err != nil {
			return errors.Join(err, r.closeCurrent())
		}
	}
	if r.stats.CutFiles > 0 { // the next file may have the same serial as one of these
		if err := r.fsys.SyncDir(r.o.Dir); err != nil {
			return errors.Join(fmt.Errorf("warc: %w", err), r.closeCurrent())
		}
	}
	return nil
}

// nextSerial returns the serial of the next file that is created.
func (r *resumption) nextSerial() uint32 {
	if r.checkpoint.Length > 0 {
		return r.checkpoint.Serial + 1
	}
	return r.checkpoint.Serial
}

// checkLength returns an error if the files are shorter than the checkpoint.
func (r *resumption) checkLength(files []FileInfo) error {
	if r.checkpoint.Length == 0 {
		return nil
	}
	found := 0
	for _, f := range files {
		if f.Serial != r.checkpoint.Serial {
			continue
		}
		found++
		size, err := r.fsys.Size(join(r.o.Dir, f.Name))
		if err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		if size < r.checkpoint.Length {
			return fmt.Errorf("%w: %s has %d bytes, not %d", ErrResume, f.Name, size, r.checkpoint.Length)
		}
	}
	if found != 1 {
		return fmt.Errorf("%w: %d files with serial %05d", ErrResume, found, r.checkpoint.Serial)
	}
	return nil
}

// closeCurrent closes the current file after an error.
func (r *resumption) closeCurrent() error {
	if r.current == nil {
		return nil
	}
	return r.current.f.Close()
}

// removeFile deletes a file after the checkpoint, and its index.
func (r *resumption) removeFile(f FileInfo) error {
	size, err := r.fsys.Size(join(r.o.Dir, f.Name))
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	if !f.Open {
		if err := announceReopening(r.o.Listeners, f); err != nil {
			return err
		}
	}
	if err := r.fsys.Remove(join(r.o.Dir, f.Name)); err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	for _, name := range []string{f.Index(), f.Index() + openindex.Suffix} {
		if err := vfs.RemoveIfExists(r.fsys, join(r.o.Dir, name)); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
	}
	r.stats.CutFiles++
	r.stats.CutBytes += size
	return nil
}

// resumeFile truncates the file of the Checkpoint and makes it the current one, unless it is complete.
func (r *resumption) resumeFile(f FileInfo) error {
	length := r.checkpoint.Length
	size, err := r.fsys.Size(join(r.o.Dir, f.Name))
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	switch {
	case !f.Open && size == length:
		return nil // finished: the next group goes into the next file
	case !f.Open:
		if err := announceReopening(r.o.Listeners, f); err != nil {
			return err
		}
		// The file was finished after the Checkpoint: it must be an open file again before its bytes change.
		name := f.Final() + openSuffix
		if err := r.fsys.Rename(join(r.o.Dir, f.Name), join(r.o.Dir, name)); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		if err := r.fsys.SyncDir(r.o.Dir); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		f.Name, f.Open = name, true
	}
	if err := vfs.RemoveIfExists(r.fsys, join(r.o.Dir, f.Index())); err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	out, err := r.openLeft(f)
	if err != nil {
		return err
	}
	r.current = out
	if size > length {
		if err := out.f.Truncate(length); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		r.stats.CutBytes += size - length
	}
	if err := out.goOn(length, r.o.FinishLater); err != nil {
		return fmt.Errorf("%w: %s does not end with a record at %d: %w", ErrResume, f.Name, length, err)
	}
	words := []byte(nil)
	if f.Compression == Zstd {
		if words, _, err = member.ReadDictionary(out.f); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrResume, f.Name, err)
		}
	}
	if f.Compression != r.o.Compression || !bytes.Equal(words, r.o.Dictionary) {
		// It has another compression: it is finished now, and the next group goes into the next file.
		r.current = nil
		if err := out.finish(); err != nil {
			return errors.Join(err, out.abandon())
		}
		r.stats.Finished++
	}
	return nil
}

// openLeft opens a file of an earlier run.
func (r *resumption) openLeft(f FileInfo) (*outFile, error) {
	file, err := r.fsys.OpenRW(join(r.o.Dir, f.Name))
	if err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	out := newOutFile(r.fsys, r.o.Dir, f, r.o.Listeners)
	out.f = file
	out.marks.Wait(r.o.SizeMax)
	return out, nil
}

// finishLeft gives a file before the checkpoint its final name, if a killed Writer left it open. A torn tail is removed
// and kept in another file: it was never durable.
func (r *resumption) finishLeft(f FileInfo) error {
	out, err := r.openLeft(f)
	if err != nil {
		return err
	}
	size, err := out.f.Size()
	if err == nil {
		var good int64
		if _, good, err = out.rebuild(size); err == nil && good < size {
			r.stats.CutBytes += size - good
			if err = out.setAside(good, size); err == nil {
				out.dirty = true
				err = out.clean()
			}
		}
	}
	if err == nil {
		err = out.finish()
	}
	if err != nil {
		return errors.Join(err, out.abandon())
	}
	r.stats.Finished++
	return nil
}

// removeLeftovers deletes incomplete indexes of a killed Writer, and index lines of open files that are not there.
func (r *resumption) removeLeftovers() error {
	names, err := r.fsys.List(r.o.Dir)
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	for _, name := range names {
		stem, isOpenIndex := strings.CutSuffix(name, indexSuffix+openindex.Suffix)
		if !strings.HasSuffix(name, indexSuffix+".tmp") && !strings.HasSuffix(name, TornSuffix+".tmp") &&
			!(isOpenIndex && !slices.ContainsFunc(names, func(other string) bool { return isOpenFile(other, stem) })) {
			continue
		}
		if err := r.fsys.Remove(join(r.o.Dir, name)); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
	}
	return nil
}

// isOpenFile reports whether a name is that of an open WARC file with this stem.
func isOpenFile(name, stem string) bool {
	own, isOpen, ok := CutName(name)
	return ok && isOpen && own == stem
}
