package warc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"orbweaver/warc/cdxj"
	"orbweaver/warc/fixity"
	"orbweaver/warc/member"
	"orbweaver/warc/openindex"
)

// goOn makes the file the current one, with the given length. Its index is rebuilt at once, or later by recall, because
// that reads the whole file. In the second case the caller must know that a group ends there.
func (f *outFile) goOn(length int64, later bool) error {
	if err := f.readInfo(length); err != nil {
		return err
	}
	if later {
		f.unread = length
		return nil
	}
	r, good, err := f.rebuild(length)
	if err = f.whole(good, length, err); err == nil {
		f.marks.Resume(r)
	}
	return err
}

// readInfo reads the first record of a file with this length.
func (f *outFile) readInfo(length int64) error {
	z := NewReader(io.NewSectionReader(f.f, 0, length), ReaderOptions{Name: f.info.Name, Syntax: Fail, Unbounded: true})
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
	f.size, f.infoSize = length, rec.Offset+rec.Length
	return nil
}

// whole returns the position of damage in a file that was read up to good.
func (f *outFile) whole(good, length int64, err error) error {
	if err == nil && good != length {
		err = &Fault{Kind: member.ErrTruncated, File: f.info.Name, Offset: good, What: "the record here is not whole"}
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
	again := newOutFile(f.fsys, f.dir, f.info, f.facts.listeners)
	again.f = f.f
	r, good, err := again.rebuild(f.unread)
	if err = f.whole(good, f.unread, err); err != nil {
		return fmt.Errorf("warc: index of %s: %w", f.info.Name, err)
	}
	f.recalled, f.unread = again.index, 0
	r.Earlier = *f.recalled.Snapshot()
	f.marks.Resume(r)
	f.facts.digest.Store(again.facts.digest.Load())
	return nil
}

// openFiles returns the files that have no final names yet.
func openFiles(w *Writer) []*outFile {
	w.acquire()
	defer w.release()
	files := slices.Clone(w.full)
	if w.current != nil {
		files = append(files, w.current)
	}
	return files
}

// OpenLines are the index lines of a file that is not finished, as they were at one moment.
type OpenLines struct {
	Name, Final string        // of the file, now and when it is finished
	Parts       []*cdxj.Lines // unsorted
}

// OpenLines returns the lines of all files without their final names. It waits until the first part of a resumed file
// was read again. What an Append has returned for is there, and so may be a group that is undone afterwards.
func (w *Writer) OpenLines(ctx context.Context) (open []OpenLines, err error) {
	for _, file := range openFiles(w) {
		if err := cmp.Or(ctx.Err(), file.recall()); err != nil {
			return nil, err
		}
		if lines, ok := linesOf(w, file); ok {
			open = append(open, lines)
		}
	}
	return open, nil
}

// linesOf returns the lines of a file; ok is false if its index is on disk.
func linesOf(w *Writer, file *outFile) (lines OpenLines, ok bool) {
	file.recalling <- struct{}{}
	defer func() { <-file.recalling }()
	w.acquire()
	defer w.release()
	return OpenLines{
		Name: file.info.Name, Final: file.info.Final(), Parts: []*cdxj.Lines{file.recalled.Snapshot(), file.index.Snapshot()},
	}, !file.isIndexed
}

// rebuild restores the state of the Writer for the first length bytes of the file: the index, the size, and with
// listeners the digest. It reads records behind the last mark of the file beside it. It returns the length of the
// complete records; the rest is damaged or torn.
func (f *outFile) rebuild(length int64) (r *openindex.Resumption, good int64, err error) {
	words, _, err := member.ReadDictionary(f.f)
	if err != nil {
		return nil, 0, err
	}
	known := openindex.Read(f.fsys, f.marks.Name, f.f, length)
	r = &openindex.Resumption{Part: known, Known: known.Lines.Len()}
	f.index, good = known.Lines, known.End
	var from io.Reader = io.NewSectionReader(f.f, good, length-good)
	digest := fixity.NewDigest()
	maps.Copy(digest.Records, known.Records)
	r.Records = digest.Records
	if len(f.facts.listeners) > 0 {
		if digest.Restore(known.Digest, good); digest.Len() == good {
			from = io.TeeReader(from, digest)
		}
	}
	z := NewReader(from, ReaderOptions{Name: f.info.Name, Base: good, Dictionary: words, Syntax: Fail, Unbounded: true})
	defer z.Close()
	var entry []byte
	err = ScanRecords(z, func(rec *RecordRead) error {
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
		digest.Records[rec.Type.String()]++
		good = rec.Offset + rec.Length
		return nil
	}, StopAtDamage)
	var damage *Fault
	if err != nil && !errors.As(err, &damage) {
		return r, good, err
	}
	f.size = good
	if good == length && len(f.facts.listeners) > 0 {
		if err := digest.ReadTo(f.f, length); err != nil {
			return r, good, err //nolint:wrapcheck // it has the place
		}
		f.facts.digest.Store(digest)
	}
	return r, good, nil
}
