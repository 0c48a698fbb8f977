package openindex

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
)

// pieceLen is how many bytes are written at a time.
const pieceLen = 256 << 10

// File writes the file of one WARC file. The zero File of a name has no marks. It creates the file with the first one.
type File struct {
	FS   vfs.FS
	Name string

	file    vfs.File
	length  int64  // of the batches
	sum     uint32 // of these bytes
	count   int    // lines of Mark.Lines that marks cover
	records map[string]uint64
	earlier cdxj.Lines // lines of an earlier run that no mark covers, from this number on
	from    int
}

// Resumption is what an earlier run has left.
type Resumption struct {
	Part    *Part             // what Read has found
	Known   int               // number of lines of the Part, the first ones
	Earlier cdxj.Lines        // up to where this run goes on; empty if Mark.Lines begin with them
	Records map[string]uint64 // of the WARC file up to there, by type
}

// resume continues behind the last mark that Read has found.
func (f *File) resume(r *Resumption) {
	f.length, f.sum, f.records, f.count = r.Part.length, r.Part.sum, maps.Clone(r.Records), r.Known
	if r.Earlier.Len() > 0 {
		f.earlier, f.from, f.count = r.Earlier, r.Known, 0
	}
}

// Mark is the state of the first part of a WARC file.
type Mark struct {
	Archive io.ReaderAt
	End     int64             // of the part
	Lines   *cdxj.Lines       // of this run, in the order of the records
	Count   int               // how many of them belong to the part
	Records map[string]uint64 // of this run in the part, by type
	Digest  []byte            // state of the digest of the part; nil if it is unknown
}

// Mark adds the lines since the last mark, and a mark. After an error the file counts as before, and a later Mark
// writes the same lines again.
func (f *File) Mark(m Mark) error {
	tail, err := tailOf(m.Archive, m.End)
	if err != nil {
		return fmt.Errorf("openindex: %s: %w", f.Name, err)
	}
	records := maps.Clone(m.Records)
	for kind, n := range f.records {
		records[kind] += n
	}
	text, err := json.Marshal(mark{End: m.End, Tail: tail, Records: records, Digest: m.Digest})
	if err == nil {
		err = f.open()
	}
	if err != nil {
		return fmt.Errorf("openindex: %w", err)
	}
	w := writing{to: f.file, at: f.length, sum: f.sum}
	if f.length == 0 {
		w.add([]byte(header))
	}
	w.addLines(&f.earlier, f.from, f.earlier.Len())
	w.addLines(m.Lines, f.count, m.Count)
	w.add([]byte(" "))
	w.add(text)
	w.end()
	if w.err != nil {
		return fmt.Errorf("openindex: %s: %w", f.Name, w.err)
	}
	f.length, f.sum, f.count, f.earlier = w.at, w.sum, m.Count, cdxj.Lines{}
	return nil
}

// open opens the file for the first mark of this run.
func (f *File) open() (err error) {
	if f.file != nil {
		return nil
	}
	if f.length == 0 {
		f.file, err = f.FS.Create(f.Name)
		return err
	}
	file, err := f.FS.OpenRW(f.Name)
	if err != nil {
		return err
	}
	if err := file.Truncate(f.length); err != nil {
		return errors.Join(err, file.Close())
	}
	f.file = file
	return nil
}

// Close closes the file, if it is open.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// writing is one Mark. After an error it does nothing.
type writing struct {
	to  io.WriterAt
	at  int64  // of buf in the file
	sum uint32 // of all before, and buf
	buf []byte
	err error
}

func (w *writing) add(b []byte) {
	w.sum = checksum(w.sum, b)
	w.buf = append(w.buf, b...)
}

func (w *writing) addLines(lines *cdxj.Lines, from, to int) {
	for i := from; i < to && w.err == nil; i++ {
		start := len(w.buf)
		w.buf = append(append(w.buf, lines.Line(i)...), '\n')
		w.sum = checksum(w.sum, w.buf[start:])
		if len(w.buf) >= pieceLen {
			w.flush()
		}
	}
}

// end adds the checksum, which is no part of itself.
func (w *writing) end() {
	w.buf = fmt.Appendf(w.buf, " %08x\n", w.sum)
	w.flush()
}

func (w *writing) flush() {
	if w.err == nil {
		_, w.err = w.to.WriteAt(w.buf, w.at)
		w.at += int64(len(w.buf))
		w.buf = w.buf[:0]
	}
}
