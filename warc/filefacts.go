package warc

import (
	"fmt"
	"io"
	"sync/atomic"

	"orbweaver/warc/cdxj"
	"orbweaver/warc/fixity"
	"orbweaver/warc/openindex"
)

// fileFacts collect what listeners are told of a file when it is closed.
type fileFacts struct {
	listeners []fixity.Listener
	records   [typeCount]uint64 // noted by this Writer; guarded by its lock
	// digest has what is known of the bytes; its content is guarded by outFile.closing. It is nil without listeners,
	// and while the first part of a resumed file was not read again.
	digest atomic.Pointer[fixity.Digest]
}

// fileEnd is an end of a file that is written.
type fileEnd struct {
	wrote   int64 // see outFile
	size    int64 // length of the file
	lasting int64 // the part of it that no Undo removes

	isMarkDue bool
	lines     *cdxj.Lines // if a mark is due
	count     int         // lines of the lasting part
	records   [typeCount]uint64
}

// markOf returns the mark at an end of a file, behind digestTo.
func (f *fileFacts) markOf(archive io.ReaderAt, e *fileEnd) openindex.Mark {
	m := openindex.Mark{
		Archive: archive, End: e.lasting, Lines: e.lines, Count: e.count, Records: make(map[string]uint64, typeCount),
	}
	if d := f.digest.Load(); d != nil && d.Len() == e.lasting {
		m.Digest = d.State()
	}
	for kind, n := range e.records {
		if n > 0 {
			m.Records[Type(kind).String()] = n
		}
	}
	return m
}

// begin starts the digest of a new file.
func (f *fileFacts) begin() {
	if len(f.listeners) > 0 {
		f.digest.Store(fixity.NewDigest())
	}
}

// digestTo adds the lasting part of the file to the digest, while the system has it in memory. It returns the length of
// the part that is not needed in memory any more. An error is found again when the file is finished.
func (f *fileFacts) digestTo(file io.ReaderAt, end fileEnd) int64 {
	d := f.digest.Load()
	if d == nil {
		return end.size
	}
	_ = d.ReadTo(file, end.lasting)
	return min(d.Len(), end.size)
}

// complete adds the rest of a full file to the digest, before the file is closed.
func (f *fileFacts) complete(out *outFile) error {
	if len(f.listeners) == 0 {
		return nil
	}
	if f.digest.Load() == nil { // a file of a killed run
		again := newOutFile(out.fsys, out.dir, out.info, f.listeners)
		again.f = out.f
		_, good, err := again.rebuild(out.size)
		if err = out.whole(good, out.size, err); err != nil {
			return err
		}
		f.digest.Store(again.facts.digest.Load())
	}
	return f.digest.Load().ReadTo(out.f, out.size)
}

// announce tells the listeners that the file is closed.
func (f *fileFacts) announce(out *outFile) error {
	if len(f.listeners) == 0 {
		return nil
	}
	d := f.digest.Load()
	facts := fixity.File{
		Name: out.info.Final(), Bytes: d.Len(), SHA256: d.SHA256(), Records: make(map[string]uint64, typeCount),
	}
	for kind, n := range d.Records {
		facts.Records[kind] += n
	}
	for kind, n := range f.records {
		if n > 0 {
			facts.Records[Type(kind).String()] += n
		}
	}
	for _, l := range f.listeners {
		if err := l.FileClosed(facts); err != nil {
			return err //nolint:wrapcheck // finish adds the name
		}
	}
	return nil
}

// announceReopening tells the listeners that a file gets other bytes, or none.
func announceReopening(listeners []fixity.Listener, f FileInfo) error {
	for _, l := range listeners {
		if err := l.FileReopened(f.Final()); err != nil {
			return fmt.Errorf("warc: opening %s again: %w", f.Final(), err)
		}
	}
	return nil
}
