package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/member"
)

// MendOptions configure Mend.
type MendOptions struct {
	// Info is the block for a warcinfo record that must be replaced.
	Info []Field
	// Visit is called with each valid record, in order, with its block in Block, and its position in the repaired file.
	// It borrows the record. If it returns false, the record and those concurrent to it are removed. Default: all stay.
	Visit func(rec *RecordRead, at Position) (keep bool, err error)
	// OnFault is called with every fault of the file. Default: none.
	OnFault func(*Fault)
}

// WithDefaults returns a copy of o whose nil fields have their defaults.
func (o MendOptions) WithDefaults() MendOptions {
	if o.Visit == nil {
		o.Visit = func(*RecordRead, Position) (bool, error) { return true, nil }
	}
	if o.OnFault == nil {
		o.OnFault = func(*Fault) {}
	}
	return o
}

// Mended is the result of Mend for a file.
type Mended struct {
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

// Changed reports whether Mend changed anything.
func (m *Mended) Changed() bool { return m.Finished || m.Lost > 0 || m.Aside != "" || m.Indexed }

const (
	mendedSuffix  = ".mended"  // a new file that is made from the valid records
	damagedSuffix = ".damaged" // the damaged file, which is kept
)

// mender repairs one file.
type mender struct {
	fsys vfs.FS
	dir  string
	info FileInfo
	o    MendOptions

	size     int64  // of the file before the repair
	spans    []span // ranges of the file that are kept
	front    []byte // the frame with the dictionary at the start of the file; nil if there is none
	head     []byte // front and a warcinfo record before the kept records
	out      int64  // current length of the repaired file
	records  int
	warcinfo ID
	named    ID   // the warcinfo identity that records name, if it is another
	sure     bool // named is certain
	capture  ID   // the last kept response, revisit or resource
	ids      map[key]struct{}
	index    cdxj.Lines
	entry    []byte
}

type span struct{ from, to int64 }

// Mend repairs a file of a Writer that is no longer in use. Complete records with matching digests, and records
// concurrent to them, stay unchanged, byte for byte; the others are removed. The file gets its final name and a correct
// CDXJ index. A torn tail is moved to a file named .torn. If other parts must be removed, the old file is kept as
// .damaged, and a new one is made of its valid records. Mend may be killed and called again.
//
// An error comes from the disk or from Visit; damage is reported to OnFault. The memory is that of the index lines and
// identities of all records, and of one block.
func Mend(fsys vfs.FS, dir string, info FileInfo, o MendOptions) (Mended, error) {
	m := &mender{fsys: fsys, dir: dir, info: info, o: o.WithDefaults()}
	f, err := fsys.Open(join(dir, info.Name))
	if err != nil {
		return Mended{}, fmt.Errorf("warc: %w", err)
	}
	if m.size, err = f.Size(); err == nil {
		err = m.read(f)
	}
	if errors.Is(err, errWrongHead) {
		err = m.read(f) // only the warcinfo record was kept until now
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return Mended{}, err
	}
	r, err := m.write()
	if err != nil {
		return Mended{}, fmt.Errorf("warc: mending %s: %w", info.Name, err)
	}
	return r, nil
}

// errWrongHead is returned if the other records name another warcinfo record.
var errWrongHead = errors.New("warc: another warcinfo record")

// read decides which records are kept.
func (m *mender) read(f vfs.File) error {
	if err := m.readFront(f); err != nil {
		return err
	}
	m.ids = make(map[key]struct{})
	m.spans, m.out, m.records, m.index, m.warcinfo = nil, int64(len(m.front)), 0, cdxj.Lines{}, ID{}
	if len(m.front) > 0 {
		m.spans = append(m.spans, span{0, m.out})
	}
	if !m.named.IsZero() {
		if err := m.newHead(m.named); err != nil {
			return err
		}
	}
	z := NewReader(io.NewSectionReader(f, 0, m.size), ReaderOptions{
		Name: m.info.Name, Syntax: Fail, Spec: Fail, Block: Fail, Form: &m.info.Compression, OneMember: true,
	})
	defer z.Close()
	err := ScanRecords(z, func(rec *RecordRead) error {
		if _, err := rec.ReadBlock(BlockMax); err != nil {
			return err
		}
		return m.record(rec)
	}, func(f *Fault) error { m.o.OnFault(f); return nil })
	if err != nil {
		return err
	}
	if m.records == 0 {
		return m.newHead(ID{})
	}
	return nil
}

// readFront reads the dictionary at the start of the file. If it is damaged, the records that refer to it are lost.
func (m *mender) readFront(f vfs.File) error {
	if m.info.Compression != Zstd {
		return nil
	}
	_, length, err := member.ReadDictionary(f)
	for _, kind := range []error{member.ErrTruncated, member.ErrCompression, member.ErrTooLarge} {
		if errors.Is(err, kind) {
			m.front = nil
			return nil
		}
	}
	if err != nil || length == 0 {
		return err
	}
	m.front = make([]byte, length)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, length), m.front)
	return err
}

// record keeps a valid record, or returns a *Fault.
func (m *mender) record(rec *RecordRead) error {
	fault := func(format string, args ...any) error {
		return &Fault{Kind: ErrReference, File: m.info.Name, Offset: rec.Offset, What: fmt.Sprintf(format, args...)}
	}
	about, _ := ParseID(rec.Get("WARC-Warcinfo-ID"))
	switch {
	case rec.Type != Warcinfo && about.IsZero():
		return fault("it names no warcinfo record")
	case rec.Type == Warcinfo && m.records > 0:
		return fault("another warcinfo record")
	}
	if m.records == 0 && rec.Type != Warcinfo {
		if err := m.newHead(about); err != nil {
			return err
		}
	}
	switch {
	case about.IsZero():
	case about == m.warcinfo:
		m.sure = true
	case !m.sure && about == m.named:
		m.sure = true // two records name the same other identity
		return errWrongHead
	case !m.sure:
		m.named = about
		fallthrough
	default:
		return fault("it names a warcinfo record that is not the file's")
	}
	for _, f := range rec.Fields {
		if !strings.EqualFold(f.Name, "WARC-Concurrent-To") {
			continue
		}
		if id, err := ParseID(f.Value); err != nil || id != m.capture || id.IsZero() {
			return fault("the capture that this %s belongs to is not there any more", rec.Type)
		}
	}
	own := keyOf(rec.Get("WARC-Record-ID"))
	if _, there := m.ids[own]; there {
		return fault("another record before it has the same identity")
	}
	keep, err := m.o.Visit(rec, Position{Serial: m.info.Serial, Offset: m.out, Length: rec.Length})
	if err != nil {
		return err
	}
	isCapture := rec.Type == Response || rec.Type == Revisit || rec.Type == Resource
	if !keep {
		if isCapture {
			m.capture = ID{}
		}
		return nil
	}
	if isCapture {
		m.capture = rec.ID
	}
	m.ids[own] = struct{}{}
	if rec.Type == Warcinfo {
		m.warcinfo = rec.ID
	}
	return m.keep(rec)
}

func (m *mender) keep(rec *RecordRead) error {
	c, indexed, err := rec.IndexEntry()
	if err != nil {
		return err
	}
	if indexed {
		m.entry = c.Append(m.entry[:0])
		m.index.Add(m.entry, m.out, rec.Length)
	}
	end := rec.Offset + rec.Length
	if n := len(m.spans); n > 0 && m.spans[n-1].to == rec.Offset {
		m.spans[n-1].to = end
	} else {
		m.spans = append(m.spans, span{rec.Offset, end})
	}
	m.out += rec.Length
	m.records++
	return nil
}

// newHead makes a warcinfo record to replace a lost one, with the identity that the others name.
func (m *mender) newHead(id ID) error {
	e, err := NewEncoder(EncoderOptions{Compression: m.info.Compression})
	if err != nil {
		return err
	}
	stamp, _ := nameDate(m.info.Final())
	r := Record{Type: Warcinfo, ID: id, Date: stamp, Filename: m.info.Final(), Block: [][]byte{infoBlock(m.o.Info)}}
	if err := e.Append(&r); err != nil {
		return err
	}
	m.head, m.warcinfo = slices.Concat(m.front, e.Group().Bytes()), r.ID
	m.spans, m.out, m.records = nil, int64(len(m.head)), 1
	m.ids[key(r.ID)] = struct{}{}
	return nil
}

// write writes the result.
func (m *mender) write() (Mended, error) {
	final := m.info.Final()
	r := Mended{File: final, Finished: m.info.Open, Size: m.out, Records: m.records}
	var kept int64
	for _, s := range m.spans {
		kept += s.to - s.from
	}
	if m.head != nil {
		kept += int64(len(m.front))
	}
	r.Lost = m.size - kept
	tail := m.head == nil && len(m.spans) == 1 && m.spans[0].from == 0
	var err error
	switch {
	case tail && r.Lost == 0 && !m.info.Open:
		r.Indexed, err = m.writeIndex()
	case tail:
		r.Aside, err = m.cutTail(r.Lost)
		r.Indexed = err == nil
	default:
		r.Aside, err = m.replace()
		r.Indexed = err == nil
	}
	return r, err
}

// cutTail truncates what follows the kept records, and finishes the file.
func (m *mender) cutTail(lost int64) (aside string, err error) {
	f := newOutFile(m.fsys, m.dir, m.info)
	f.size, f.index = m.out, m.index
	if f.f, err = m.fsys.OpenRW(join(m.dir, m.info.Name)); err != nil {
		return "", err
	}
	if lost > 0 {
		if aside, err = m.freeName(m.info.Final() + tornSuffix); err == nil {
			err = vfs.WriteAtomic(m.fsys, join(m.dir, aside), func(w io.Writer) error {
				_, err := io.Copy(w, io.NewSectionReader(f.f, m.out, lost))
				return err
			})
		}
		if err == nil {
			f.dirty = true
			err = f.clean()
		}
	}
	if err == nil {
		err = f.finish()
	}
	if err != nil {
		return "", errors.Join(err, f.abandon())
	}
	return aside, nil
}

// replace makes a new file of the kept records, and renames the old one. Between the two renames no file has the name;
// FinishMending handles this.
func (m *mender) replace() (aside string, err error) {
	final := join(m.dir, m.info.Final())
	old, err := m.fsys.Open(join(m.dir, m.info.Name))
	if err != nil {
		return "", err
	}
	err = vfs.WriteAtomic(m.fsys, final+mendedSuffix, func(w io.Writer) error {
		if _, err := w.Write(m.head); err != nil {
			return err
		}
		for _, s := range m.spans {
			if _, err := io.Copy(w, io.NewSectionReader(old, s.from, s.to-s.from)); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, old.Close()); err != nil {
		return "", err
	}
	if _, err := m.writeIndex(); err != nil {
		return "", err
	}
	if m.size == 0 {
		err = m.fsys.Remove(join(m.dir, m.info.Name))
	} else if aside, err = m.freeName(m.info.Final() + damagedSuffix); err == nil {
		err = m.fsys.Rename(join(m.dir, m.info.Name), join(m.dir, aside))
	}
	if err == nil {
		err = m.fsys.Rename(final+mendedSuffix, final)
	}
	if err == nil {
		err = m.fsys.SyncDir(m.dir)
	}
	return aside, err
}

// freeName returns a name that no file has.
func (m *mender) freeName(name string) (string, error) {
	for n := 1; ; n++ {
		try := name
		if n > 1 {
			try = fmt.Sprintf("%s-%d", name, n)
		}
		_, err := m.fsys.Size(join(m.dir, try))
		if errors.Is(err, fs.ErrNotExist) {
			return try, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// writeIndex writes the CDXJ index unless it is correct.
func (m *mender) writeIndex() (written bool, err error) {
	name := join(m.dir, m.info.Index())
	var want bytes.Buffer
	if err := m.index.WriteSorted(&want, m.info.Final()); err != nil {
		return false, err
	}
	have, err := vfs.ReadFile(m.fsys, name)
	if err == nil && bytes.Equal(have, want.Bytes()) {
		return false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	return true, vfs.WriteAtomic(m.fsys, name, func(w io.Writer) error {
		_, err := w.Write(want.Bytes())
		return err
	})
}

// Placeholder creates an empty file for a missing serial, because the serials of an archive have no gaps. Mend then
// makes it a valid file without records. Its name has Prefix, Host and Compression of o, and the time when.
func Placeholder(fsys vfs.FS, o Options, serial uint32, when time.Time) (FileInfo, error) {
	o = o.WithDefaults()
	name := formatName(&o, serial, when) + openSuffix
	f, err := fsys.Create(join(o.Dir, name))
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return FileInfo{}, fmt.Errorf("warc: %w", err)
	}
	return FileInfo{Name: name, Serial: serial, Open: true, Compression: o.Compression}, nil
}

// FinishMending completes a Mend that was killed. Call it before the files are listed.
func FinishMending(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return fmt.Errorf("warc: listing %s: %w", dir, err)
	}
	for _, name := range names {
		final, ok := strings.CutSuffix(name, mendedSuffix)
		switch {
		case strings.HasSuffix(name, mendedSuffix+".tmp"),
			ok && (slices.Contains(names, final) || slices.Contains(names, final+openSuffix)):
			err = fsys.Remove(join(dir, name)) // it will be made again
		case ok:
			if err = fsys.Rename(join(dir, name), join(dir, final)); err == nil {
				err = fsys.SyncDir(dir)
			}
		}
		if err != nil {
			return fmt.Errorf("warc: %w", err)
		}
	}
	return nil
}
