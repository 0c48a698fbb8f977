package fsck

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"golang.org/x/sync/errgroup"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
	"orbweaver/warc/openindex"
	"orbweaver/warc/zipnum"
)

const (
	areaArchive = "archive"
	areaIndex   = "index"
)

// archiveCheck checks the files of the archive and their indexes.
type archiveCheck struct {
	*checker

	clusters   map[string]clustered // lines of the cluster by file; nil until they are read
	hasCluster bool
}

// checkArchive reads every archive file, three times at once: for the form and the digests, for the index, and for what
// the records say of the crawl. What lies behind the last record that counts was not acknowledged, and is not looked
// at.
func (c *archiveCheck) checkArchive(end warc.Checkpoint) *tally {
	t := newTally(c.checker)
	dir := c.path(layout.ArchiveDir)
	files, err := warc.Files(c.fsys, dir)
	if err != nil {
		c.fail(areaArchive, layout.ArchiveDir, err)
		return t
	}
	c.checkSerials(files, end)
	c.checkStray(files)
	v := warc.NewVerifier(warc.VerifyOptions{
		PerFile: true,
		OnFault: func(f *warc.Fault) {
			t.damaged.Store(true)
			c.fault(areaArchive, f.File, "at %d: %v: %s", f.Offset, f.Kind, f.What)
		},
		Open: func(name string) bool { return strings.HasSuffix(name, ".open") },
	})
	for _, info := range files {
		if c.ctx.Err() != nil {
			return t
		}
		c.o.Progress(layout.ArchiveDir + "/" + info.Name)
		c.places.answers[info.Serial] = layout.ArchiveDir + "/" + info.Name
		err := c.archiveFile(v, t, info, end)
		if away := new(receipts.ElsewhereError); errors.As(err, &away) {
			err = c.removedFile(t, info, &away.Receipt)
		}
		if err != nil {
			t.damaged.Store(true)
			c.fail(areaArchive, layout.ArchiveDir+"/"+info.Name, err)
		}
	}
	c.noteRemoved(t)
	r := v.Finish()
	c.checked(areaArchive, int64(r.Records), "records")
	return t
}

func (c *archiveCheck) archiveFile(v *warc.Verifier, t *tally, info warc.FileInfo, end warc.Checkpoint) error {
	name := layout.ArchiveDir + "/" + info.Name
	f, err := c.fsys.Open(c.path(name))
	if err != nil {
		return err
	}
	size, err := f.Size()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if line, ok := c.listedFile(info.Name); ok && line.Bytes != size {
		c.fault(areaArchive, name, "it has %d bytes, and its line in the manifest %d", size, line.Bytes)
	}
	whole := true
	if c.hasCut {
		if counts := countedOf(info, end, size); counts < size {
			c.behind(name, size-counts)
			size, whole = counts, false
		}
	}
	if size == 0 && !whole {
		return f.Close()
	}
	all := func() *io.SectionReader { return io.NewSectionReader(f, 0, size) }
	var g errgroup.Group
	g.Go(func() error { return v.File(name, all()) })
	g.Go(func() error { return (&recordCheck{c.checker}).readRecords(t, info, size, all()) })
	if !info.Open && whole {
		g.Go(func() error { return c.checkIndex(info, all()) })
	}
	return errors.Join(g.Wait(), f.Close())
}

// countedOf is how many bytes of a file come before the end.
func countedOf(info warc.FileInfo, end warc.Checkpoint, size int64) int64 {
	switch {
	case info.Serial < end.Serial:
		return size
	case info.Serial == end.Serial:
		return min(size, end.Length)
	default:
		return 0
	}
}

// behind tells of bytes that do not count.
func (c *archiveCheck) behind(name string, bytes int64) {
	if c.cut.Clean {
		c.fault(areaArchive, name,
			"%d bytes behind the checkpoint, and the crawl stopped in order: they would be cut off", bytes)
		return
	}
	c.note(areaArchive, name,
		"%d bytes behind what the journal names: they are cut off when the crawl resumes, and fetched again", bytes)
}

// checkSerials looks for archive files that are missing, or there twice. Files behind the end may have gaps: a power
// cut can take the name of one and spare that of the next, and going on removes them.
func (c *archiveCheck) checkSerials(files []warc.FileInfo, end warc.Checkpoint) {
	next := uint32(0)
	for _, f := range files {
		if c.hasCut && end.Before(warc.Checkpoint{Serial: f.Serial, Length: 1}) {
			break
		}
		name := layout.ArchiveDir + "/" + f.Name
		switch {
		case f.Serial < next:
			c.fault(areaArchive, name, "there is another file with the serial number %05d", f.Serial)
			continue
		case f.Serial > next:
			c.fault(areaArchive, name, "the files before it, from serial number %05d on, are missing", next)
		}
		next = f.Serial + 1
	}
	if !c.hasCut {
		return
	}
	cut := c.cut.ArchiveEnd()
	if cut.Length > 0 && next <= cut.Serial {
		c.fault(areaArchive, layout.ArchiveDir,
			"the file with the serial number %05d, where the checkpoint ends, is missing", cut.Serial)
	}
	for _, f := range files {
		name := layout.ArchiveDir + "/" + f.Name
		switch size, err := c.fsys.Size(c.path(name)); {
		case err != nil:
			c.fail(areaArchive, name, err)
		case f.Serial == cut.Serial && size < cut.Length:
			c.fault(areaArchive, name, "it has %d bytes, and the checkpoint ends at %d", size, cut.Length)
		case f.Open && c.cut.Clean:
			c.note(areaArchive, name,
				"not finished, although the crawl stopped in order: it was killed in its last step; going on finishes it")
		}
	}
}

// checkStray looks for files beside the archive's.
func (c *archiveCheck) checkStray(files []warc.FileInfo) {
	names, err := c.fsys.List(c.path(layout.ArchiveDir))
	if errors.Is(err, fs.ErrNotExist) {
		return // what should be in it is missed elsewhere
	}
	if err != nil {
		c.fail(areaArchive, layout.ArchiveDir, err)
		return
	}
	known := map[string]bool{
		fixity.ManifestName: true, fixity.SumsName: true, fixity.SignatureName: true,
	}
	for _, f := range files {
		known[f.Name], known[f.Index()] = true, true
		if f.Open {
			known[f.Index()+openindex.Suffix] = true
		}
	}
	for _, name := range names {
		if known[name] || zipnum.IsPart(name) {
			continue
		}
		what := "no file of the archive"
		switch {
		case strings.HasSuffix(name, ".cdxj"+openindex.Suffix):
			what = "index lines of an open archive file that is not there; a resume removes them"
		case strings.HasSuffix(name, ".cdxj"):
			what = "an index without its archive file"
		case strings.Contains(name, ".damaged"):
			what = "an archive file as it was before its damaged records were taken out"
		case strings.Contains(name, ".torn"):
			what = "the torn end of an archive file, set aside"
		case strings.HasSuffix(name, ".tmp"):
			what = "left by a write that was not finished"
		}
		c.note(areaArchive, layout.ArchiveDir+"/"+name, "%s", what)
	}
}

// checkIndex compares the CDXJ beside a finished file with what the file says, or the lines of the cluster if there is
// no CDXJ.
func (c *archiveCheck) checkIndex(info warc.FileInfo, r io.Reader) (failed error) {
	name := layout.ArchiveDir + "/" + info.Index()
	f, err := c.fsys.Open(c.path(name))
	isMissing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isMissing {
		return err
	}
	z := warc.NewReader(r, warc.ReaderOptions{Name: info.Name})
	var isCovered bool
	if isMissing {
		isCovered, err = c.isInCluster(info, z)
	} else {
		err = sameIndex(f, z, info.Final())
		defer func() { failed = errors.Join(failed, f.Close()) }()
	}
	z.Close()
	var damage *warc.Fault
	switch {
	case err == nil && isMissing && !isCovered:
		c.fault(areaIndex, name, "missing; this makes it: orbweaver warc index --write %s", info.Name)
	case errors.As(err, &damage):
		c.note(areaIndex, name, "not compared, since the archive file is damaged")
		err = nil
	case errors.Is(err, errDiffers):
		c.fault(areaIndex, name, "%v", err)
		err = nil
	}
	c.checked(areaIndex, 1, "files")
	return err
}

var errDiffers = errors.New("not what the archive file says")

func sameIndex(f vfs.File, z *warc.Reader, name string) error {
	w := &comparer{want: bufio.NewReader(&indexLines{in: bufio.NewReaderSize(f, 64<<10)})}
	if err := warc.WriteIndex(w, z, name, warc.StopAtDamage); err != nil {
		return err
	}
	if _, err := w.want.ReadByte(); err == nil {
		return fmt.Errorf("%w: more than %d lines", errDiffers, w.lines)
	} else if err != io.EOF { //nolint:errorlint // io.Reader's own word
		return err
	}
	return nil
}

// comparer is a writer that wants to be given the lines that it reads. Media types may differ: earlier versions wrote
// the first Content-Type as it was, and none for a page without one.
type comparer struct {
	want  *bufio.Reader
	part  []byte // of a line that was not written whole
	got   []byte
	lines int64
}

// Write implements io.Writer.
func (w *comparer) Write(p []byte) (int, error) {
	rest := p
	for len(rest) > 0 {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			w.part = append(w.part, rest...)
			break
		}
		w.part = append(w.part, rest[:end]...)
		rest = rest[end:]
		if err := w.compare(w.part); err != nil {
			return len(p) - len(rest), err
		}
		w.part = w.part[:0]
	}
	return len(p), nil
}

// compare compares a line with the next one that is read.
func (w *comparer) compare(line []byte) error {
	w.lines++
	w.got = w.got[:0]
	for {
		piece, err := w.want.ReadSlice('\n')
		w.got = append(w.got, piece...)
		if err == nil || err == io.EOF { //nolint:errorlint // io.Reader's own word
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	if !bytes.Equal(line, w.got) && !bytes.Equal(withoutType(line), withoutType(w.got)) {
		return fmt.Errorf("%w: line %d", errDiffers, w.lines)
	}
	return nil
}

// withoutType returns a line of an index without its media type.
func withoutType(line []byte) []byte {
	before, rest, found := bytes.Cut(line, []byte(`"mime":"`))
	_, after, _ := bytes.Cut(rest, []byte(`",`))
	if !found {
		return line
	}
	return append(bytes.Clone(before), after...)
}
