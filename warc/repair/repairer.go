package repair

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/member"
)

// repairer repairs one file.
type repairer struct {
	fsys vfs.FS
	dir  string
	info warc.FileInfo
	o    Options

	size     int64  // of the file before the repair
	spans    []span // ranges of the file that are kept
	words    []byte // the dictionary of the file; nil if there is none
	front    []byte // the frame with the dictionary at the start of the file; nil if there is none
	head     []byte // front and a warcinfo record before the kept records
	out      int64  // current length of the repaired file
	records  int
	warcinfo warc.ID
	named    warc.ID // the warcinfo identity that records name, if it is another
	sure     bool    // named is certain
	capture  warc.ID // the last kept response, revisit or resource
	ids      map[warc.Key]struct{}
	index    cdxj.Lines
	entry    []byte
}

type span struct{ from, to int64 }

// errWrongHead is returned if the other records name another warcinfo record.
var errWrongHead = errors.New("warc: another warcinfo record")

// read decides which records are kept.
func (r *repairer) read(f vfs.File) error {
	if err := r.readFront(f); err != nil {
		return err
	}
	r.ids = make(map[warc.Key]struct{})
	r.spans, r.out, r.records, r.index, r.warcinfo = nil, int64(len(r.front)), 0, cdxj.Lines{}, warc.ID{}
	if len(r.front) > 0 {
		r.spans = append(r.spans, span{0, r.out})
	}
	if !r.named.IsZero() {
		if err := r.newHead(r.named); err != nil {
			return err
		}
	}
	z := warc.NewReader(io.NewSectionReader(f, 0, r.size), warc.ReaderOptions{
		Name: r.info.Name, Syntax: warc.Fail, Spec: warc.Fail, Block: warc.Fail,
		Form: &r.info.Compression, OneMember: true,
	})
	defer z.Close()
	err := warc.ScanRecords(z, func(rec *warc.RecordRead) error {
		if rec.ContentLength <= warc.StartMost {
			if _, err := rec.ReadBlock(warc.StartMost); err != nil {
				return err
			}
			return r.record(rec)
		}
		if err := rec.Skip(); err != nil {
			return err
		}
		return r.longRecord(f, rec)
	}, func(f *warc.Fault) error { r.o.OnFault(f); return nil })
	if err != nil {
		return err
	}
	if r.records == 0 {
		return r.newHead(warc.ID{})
	}
	return nil
}

// longRecord is record for a valid record that is too long for memory: it is read a second time.
func (r *repairer) longRecord(f vfs.File, valid *warc.RecordRead) error {
	o := warc.ReaderOptions{Name: r.info.Name, Base: valid.Offset, Form: &r.info.Compression, Dictionary: r.words}
	z := warc.NewReader(io.NewSectionReader(f, valid.Offset, valid.Length), o)
	defer z.Close()
	rec, err := z.Next()
	if err != nil {
		return fmt.Errorf("warc: %s: a record that was read cannot be read again: %w", r.info.Name, err)
	}
	if err := rec.ReadStart(warc.StartMost); err != nil {
		return err
	}
	rec.Length = valid.Length
	return r.record(rec)
}

// readFront reads the dictionary at the start of the file. If it is damaged, the records that refer to it are lost.
func (r *repairer) readFront(f vfs.File) error {
	if r.info.Compression != warc.Zstd {
		return nil
	}
	var length int64
	var err error
	r.words, length, err = member.ReadDictionary(f)
	for _, kind := range []error{member.ErrTruncated, member.ErrCompression, member.ErrTooLarge} {
		if errors.Is(err, kind) {
			r.front = nil
			return nil
		}
	}
	if err != nil || length == 0 {
		return err
	}
	r.front = make([]byte, length)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, length), r.front)
	return err
}

// record keeps a valid record, or returns a *Fault.
func (r *repairer) record(rec *warc.RecordRead) error {
	fault := func(format string, args ...any) error {
		what := fmt.Sprintf(format, args...)
		return &warc.Fault{Kind: warc.ErrReference, File: r.info.Name, Offset: rec.Offset, What: what}
	}
	about, _ := warc.ParseID(rec.Get("WARC-Warcinfo-ID"))
	switch {
	case rec.Type != warc.Warcinfo && about.IsZero():
		return fault("it names no warcinfo record")
	case rec.Type == warc.Warcinfo && r.records > 0:
		return fault("another warcinfo record")
	}
	if r.records == 0 && rec.Type != warc.Warcinfo {
		if err := r.newHead(about); err != nil {
			return err
		}
	}
	switch {
	case about.IsZero():
	case about == r.warcinfo:
		r.sure = true
	case !r.sure && about == r.named:
		r.sure = true // two records name the same other identity
		return errWrongHead
	case !r.sure:
		r.named = about
		fallthrough
	default:
		return fault("it names a warcinfo record that is not the file's")
	}
	for _, f := range rec.Fields {
		if !strings.EqualFold(f.Name, "WARC-Concurrent-To") {
			continue
		}
		if id, err := warc.ParseID(f.Value); err != nil || id != r.capture || id.IsZero() {
			return fault("the capture that this %s belongs to is not there any more", rec.Type)
		}
	}
	own := warc.KeyOf(rec.Get("WARC-Record-ID"))
	if _, there := r.ids[own]; there {
		return fault("another record before it has the same identity")
	}
	keep, err := r.o.Visit(rec, warc.Position{Serial: r.info.Serial, Offset: r.out, Length: rec.Length})
	if err != nil {
		return err
	}
	isCapture := rec.Type == warc.Response || rec.Type == warc.Revisit || rec.Type == warc.Resource
	if !keep {
		if isCapture {
			r.capture = warc.ID{}
		}
		return nil
	}
	if isCapture {
		r.capture = rec.ID
	}
	r.ids[own] = struct{}{}
	if rec.Type == warc.Warcinfo {
		r.warcinfo = rec.ID
	}
	return r.keep(rec)
}

func (r *repairer) keep(rec *warc.RecordRead) error {
	c, indexed, err := rec.IndexEntry()
	if err != nil {
		return err
	}
	if indexed {
		r.entry = c.Append(r.entry[:0])
		r.index.Add(r.entry, r.out, rec.Length)
	}
	end := rec.Offset + rec.Length
	if n := len(r.spans); n > 0 && r.spans[n-1].to == rec.Offset {
		r.spans[n-1].to = end
	} else {
		r.spans = append(r.spans, span{rec.Offset, end})
	}
	r.out += rec.Length
	r.records++
	return nil
}

// newHead makes a warcinfo record to replace a lost one, with the identity that the others name.
func (r *repairer) newHead(id warc.ID) error {
	e, err := warc.NewEncoder(warc.EncoderOptions{Compression: r.info.Compression})
	if err != nil {
		return err
	}
	rec := warc.Record{Type: warc.Warcinfo, ID: id, Date: r.info.Created(), Filename: r.info.Final(),
		Block: [][]byte{warc.InfoBlock(r.o.Info)}}
	if err := e.Append(&rec); err != nil {
		return err
	}
	r.head, r.warcinfo = slices.Concat(r.front, e.Group().Bytes()), rec.ID
	r.spans, r.out, r.records = nil, int64(len(r.head)), 1
	r.ids[warc.Key(rec.ID)] = struct{}{}
	return nil
}

// write writes the repaired file and its index.
func (r *repairer) write() (result Result, err error) {
	result = Result{File: r.info.Final(), Finished: r.info.Open, Size: r.out, Records: r.records}
	var kept int64
	for _, s := range r.spans {
		kept += s.to - s.from
	}
	if r.head != nil {
		kept += int64(len(r.front))
	}
	result.Lost = r.size - kept
	tail := r.head == nil && len(r.spans) == 1 && r.spans[0].from == 0
	switch {
	case tail && result.Lost == 0 && !r.info.Open:
		result.Indexed, err = r.writeIndex()
	case tail:
		result.Aside, err = r.cutTail(result.Lost)
		result.Indexed = err == nil
	default:
		result.Aside, err = r.replace()
		result.Indexed = err == nil
	}
	return result, err
}

// cutTail truncates what follows the kept records, and finishes the file. It keeps the tail in another file.
func (r *repairer) cutTail(lost int64) (aside string, err error) {
	if err := r.o.OnChange(r.info.Final()); err != nil {
		return "", err
	}
	if lost > 0 {
		if aside, err = r.freeName(r.info.Final() + warc.TornSuffix); err != nil {
			return "", err
		}
		if err := r.copyTail(aside, lost); err != nil {
			return "", err
		}
	}
	if err := warc.FinishFile(r.fsys, r.dir, r.info, r.out, &r.index); err != nil {
		return "", err
	}
	return aside, nil
}

// copyTail copies the last bytes of the file into another one.
func (r *repairer) copyTail(aside string, length int64) (err error) {
	f, err := r.fsys.Open(path.Join(r.dir, r.info.Name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return vfs.WriteAtomic(r.fsys, path.Join(r.dir, aside), func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(f, r.out, length))
		return err
	})
}

// replace makes a new file of the kept records, and renames the old one. Between the two renames no file has the name;
// Finish handles this.
func (r *repairer) replace() (aside string, err error) {
	if err := r.o.OnChange(r.info.Final()); err != nil {
		return "", err
	}
	final := path.Join(r.dir, r.info.Final())
	old, err := r.fsys.Open(path.Join(r.dir, r.info.Name))
	if err != nil {
		return "", err
	}
	err = vfs.WriteAtomic(r.fsys, final+mendedSuffix, func(w io.Writer) error {
		if _, err := w.Write(r.head); err != nil {
			return err
		}
		for _, s := range r.spans {
			if _, err := io.Copy(w, io.NewSectionReader(old, s.from, s.to-s.from)); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, old.Close()); err != nil {
		return "", err
	}
	if _, err := r.writeIndex(); err != nil {
		return "", err
	}
	if r.size == 0 {
		err = r.fsys.Remove(path.Join(r.dir, r.info.Name))
	} else if aside, err = r.freeName(r.info.Final() + damagedSuffix); err == nil {
		err = r.fsys.Rename(path.Join(r.dir, r.info.Name), path.Join(r.dir, aside))
	}
	if err == nil {
		err = r.fsys.Rename(final+mendedSuffix, final)
	}
	if err == nil {
		err = r.fsys.SyncDir(r.dir)
	}
	return aside, err
}

// freeName returns a name that no file has.
func (r *repairer) freeName(name string) (string, error) {
	for n := 1; ; n++ {
		try := name
		if n > 1 {
			try = fmt.Sprintf("%s-%d", name, n)
		}
		_, err := r.fsys.Size(path.Join(r.dir, try))
		if errors.Is(err, fs.ErrNotExist) {
			return try, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// writeIndex writes the CDXJ index unless it is correct.
func (r *repairer) writeIndex() (written bool, err error) {
	name := path.Join(r.dir, r.info.Index())
	var want bytes.Buffer
	if err := r.index.WriteSorted(&want, r.info.Final()); err != nil {
		return false, err
	}
	have, err := vfs.ReadFile(r.fsys, name)
	if err == nil && bytes.Equal(have, want.Bytes()) {
		return false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, vfs.WriteAtomic(r.fsys, name, func(w io.Writer) error {
		_, err := w.Write(want.Bytes())
		return err
	})
}
