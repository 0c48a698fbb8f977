package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/vfs"
)

// resume truncates the archive at the Cut and sets the Writer to its end.
func (w *Writer) resume(cut *Cut) error {
	files, err := Files(w.fsys, w.o.Dir)
	if err != nil {
		return err
	}
	if cut == nil {
		if len(files) > 0 {
			return fmt.Errorf("%w: %s holds %d files of an archive already", ErrResume, w.o.Dir, len(files))
		}
		return nil
	}
	if err := w.reaches(*cut, files); err != nil {
		return err // before anything is changed
	}
	w.end = *cut
	w.stats.Resumed = true
	if err := w.removeLeftovers(); err != nil {
		return err
	}
	for _, f := range files {
		switch {
		case f.Serial > cut.Serial || f.Serial == cut.Serial && cut.Length == 0:
			err = w.removeFile(f)
		case f.Serial == cut.Serial:
			err = w.resumeFile(f, cut.Length)
		case f.Open:
			err = w.finishLeft(f)
		}
		if err != nil {
			return errors.Join(err, w.closeAll())
		}
	}
	w.next = cut.Serial
	if cut.Length > 0 {
		w.next++
	}
	if w.stats.CutFiles > 0 { // the next file may have the same serial as one of these
		if err := w.fsys.SyncDir(w.o.Dir); err != nil {
			return errors.Join(fmt.Errorf("warc: %w", err), w.closeAll())
		}
	}
	return nil
}

// reaches returns an error if the files are shorter than the cut.
func (w *Writer) reaches(cut Cut, files []FileInfo) error {
	if cut.Length == 0 {
		return nil
	}
	found := 0
	for _, f := range files {
		if f.Serial != cut.Serial {
			continue
		}
		found++
		size, err := w.fsys.Size(join(w.o.Dir, f.Name))
		if err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		if size < cut.Length {
			return fmt.Errorf("%w: %s has %d bytes, not %d", ErrResume, f.Name, size, cut.Length)
		}
	}
	if found != 1 {
		return fmt.Errorf("%w: %d files with serial %05d", ErrResume, found, cut.Serial)
	}
	return nil
}

// closeAll closes the files after an error.
func (w *Writer) closeAll() error {
	if w.current == nil {
		return nil
	}
	return w.current.f.Close()
}

// removeFile deletes a file after the cut, and its index.
func (w *Writer) removeFile(f FileInfo) error {
	size, err := w.fsys.Size(join(w.o.Dir, f.Name))
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	if err := w.fsys.Remove(join(w.o.Dir, f.Name)); err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	if err := vfs.RemoveIfExists(w.fsys, join(w.o.Dir, f.Index())); err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	w.stats.CutFiles++
	w.stats.CutBytes += size
	return nil
}

// resumeFile truncates the file of the Cut and makes it the current one, unless it is complete.
func (w *Writer) resumeFile(f FileInfo, length int64) error {
	size, err := w.fsys.Size(join(w.o.Dir, f.Name))
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	switch {
	case !f.Open && size == length:
		return nil // finished: the next group goes into the next file
	case !f.Open:
		// The file was finished after the Cut: it must be an open file again before its bytes change.
		name := f.Final() + openSuffix
		if err := w.fsys.Rename(join(w.o.Dir, f.Name), join(w.o.Dir, name)); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		if err := w.fsys.SyncDir(w.o.Dir); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		f.Name, f.Open = name, true
	}
	if err := vfs.RemoveIfExists(w.fsys, join(w.o.Dir, f.Index())); err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	out, err := w.openLeft(f)
	if err != nil {
		return err
	}
	w.current = out
	if size > length {
		if err := out.f.Truncate(length); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
		w.stats.CutBytes += size - length
	}
	if err := out.goOn(length, w.o.FinishLater); err != nil {
		return fmt.Errorf("%w: %s does not end with a record at %d: %w", ErrResume, f.Name, length, err)
	}
	w.id.Store(&out.id)
	words := []byte(nil)
	if f.Compression == Zstd {
		if words, _, err = ReadDictionary(out.f); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrResume, f.Name, err)
		}
	}
	if f.Compression != w.o.Compression || !bytes.Equal(words, w.o.Dictionary) {
		// It has another compression: it is finished now, and the next group goes into the next file.
		w.full, w.current = append(w.full, out), nil
		return w.finishFull(w.full)
	}
	return nil
}

// openLeft opens a file of an earlier run.
func (w *Writer) openLeft(f FileInfo) (*outFile, error) {
	file, err := w.fsys.OpenRW(join(w.o.Dir, f.Name))
	if err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	out := newOutFile(w.fsys, w.o.Dir, f)
	out.f = file
	return out, nil
}

// finishLeft gives a file before the cut its final name, if a killed Writer left it open. A torn tail is removed and
// kept in another file: it was never durable.
func (w *Writer) finishLeft(f FileInfo) error {
	out, err := w.openLeft(f)
	if err != nil {
		return err
	}
	size, err := out.f.Size()
	if err == nil {
		var good int64
		if good, err = out.rebuild(size); err == nil && good < size {
			w.stats.CutBytes += size - good
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
	w.stats.Finished++
	return nil
}

// goOn makes the file the current one, with the given length. Its index is rebuilt at once, or later by recall, because
// that reads the whole file. In the second case the caller must know that a group ends there.
func (f *outFile) goOn(length int64, later bool) error {
	if !later {
		good, err := f.rebuild(length)
		return f.whole(good, length, err)
	}
	z := NewReader(io.NewSectionReader(f.f, 0, length), ReaderOptions{Name: f.info.Name, Syntax: Fail})
	defer z.Close()
	rec, err := z.Next()
	if err == nil {
		err = skipBlock(rec)
	}
	if err != nil {
		return err
	}
	if rec.Type == Warcinfo {
		f.id = rec.ID
	}
	f.size, f.infoSize, f.unread = length, rec.Offset+rec.Length, length
	return nil
}

// whole returns the position of damage in a file that was read up to good.
func (f *outFile) whole(good, length int64, err error) error {
	if err == nil && good != length {
		err = &Fault{Kind: ErrTruncated, File: f.info.Name, Offset: good, What: "the record here is not whole"}
	}
	return err
}

// recall rebuilds the part of the index that goOn has not read. The file may grow meanwhile. After an error it may be
// called again.
func (f *outFile) recall() error {
	f.recalling <- struct{}{}
	defer func() { <-f.recalling }()
	if f.unread == 0 {
		return nil
	}
	again := &outFile{info: f.info, f: f.f}
	good, err := again.rebuild(f.unread)
	if err = f.whole(good, f.unread, err); err != nil {
		return fmt.Errorf("warc: index of %s: %w", f.info.Name, err)
	}
	f.recalled, f.unread = again.index, 0
	return nil
}

// rebuild reads the first length bytes of the file again, for the state of the Writer: the index, the identity of the
// warcinfo record, the size. It returns the length of the complete records; the rest is damaged or torn.
func (f *outFile) rebuild(length int64) (good int64, err error) {
	z := NewReader(io.NewSectionReader(f.f, 0, length), ReaderOptions{Name: f.info.Name, Syntax: Fail})
	defer z.Close()
	var entry []byte
	err = ScanRecords(z, func(rec *RecordRead) error {
		first := good == 0
		if first && rec.Type == Warcinfo {
			f.id = rec.ID
		}
		c, indexed, err := rec.IndexEntry()
		if err == nil {
			err = skipBlock(rec)
		}
		if err != nil {
			return err
		}
		if indexed {
			entry = c.Append(entry[:0])
			f.index.Add(entry, rec.Offset, rec.Length)
		}
		good = rec.Offset + rec.Length
		if first {
			f.infoSize = good
		}
		return nil
	}, StopAtDamage)
	var damage *Fault
	if err != nil && !errors.As(err, &damage) {
		return good, err
	}
	f.size = good
	return good, nil
}

// setAside copies what is truncated from a file before the Cut into another file, so that the operator can examine it.
func (f *outFile) setAside(from, to int64) error {
	return vfs.WriteAtomic(f.fsys, join(f.dir, f.info.Final()+tornSuffix), func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(f.f, from, to-from))
		return err
	})
}

// tornSuffix ends the names of files of setAside.
const tornSuffix = ".torn"

// removeLeftovers deletes incomplete indexes of a killed Writer.
func (w *Writer) removeLeftovers() error {
	names, err := w.fsys.List(w.o.Dir)
	if err != nil {
		return fmt.Errorf("warc: %w", err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, indexSuffix+".tmp") && !strings.HasSuffix(name, tornSuffix+".tmp") {
			continue
		}
		if err := w.fsys.Remove(join(w.o.Dir, name)); err != nil {
			return fmt.Errorf("warc: %w", err)
		}
	}
	return nil
}
