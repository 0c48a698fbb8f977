package warctool

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"slices"
	"strings"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/lookup"
)

// originals are the records that the revisit records of a WACZ refer to. Each takes 56 bytes of memory.
type originals struct {
	seed maphash.Seed
	// all has one for each revisit, and after merge one for each reference, in order.
	all []original
	// byDigest says that some revisits name no time.
	byDigest bool
}

// reference is what revisit records say of an original, as hashes: key and time, as an index line begins, or key and
// digest if there is no time; and the URL. Two references have the same hashes once in 10^25 pairs.
type reference struct{ want, url uint64 }

func compareReferences(a, b reference) int {
	return cmp.Or(cmp.Compare(a.want, b.want), cmp.Compare(a.url, b.url))
}

// original is a record that revisits refer to.
type original struct {
	reference

	head           uint64 // hash of how its index line begins: key and time
	offset, length int64  // in its file; the length is 0 if it cannot be copied alone
	file           int32  // number of its file: see fileOf; 0 until it is found
	revisits       int32
	exact          bool // the URL is spelled in the same way
	own            bool // in one of the WARC files of the WACZ
	// unmodified says that an answer 304 for the same URL refers to it: the index has no other line of that page.
	unmodified bool
}

// copiedFile is the number of the file with copied records.
const copiedFile = -1

// fileOf returns the name of the file with an original.
func (p *packer) fileOf(w *original) string {
	switch w.file {
	case 0:
		return ""
	case copiedFile:
		return p.originalsFile()
	}
	return p.indexes.all[w.file-1]
}

// add adds the record that a revisit refers to. ok is false if it names none.
func (o *originals) add(rec *warc.RecordRead, isUnmodified bool) (to reference, ok bool) {
	uri := []byte(strings.Trim(rec.Get("WARC-Refers-To-Target-URI"), "<>"))
	if len(uri) == 0 {
		uri = rec.TargetURI
	}
	key, url, err := lookup.KeyOf(uri)
	if err != nil {
		key, url = uri, uri // never found
	}
	want := string(key) + " "
	if at, err := lookup.ParseTime(rec.Get("WARC-Refers-To-Date")); err == nil {
		want += at.Format(stampLayout)
	} else {
		_, sum, _ := strings.Cut(rec.Get("WARC-Payload-Digest"), ":")
		if sum == "" {
			return to, false // an answer 304, as Heritrix stores it: the capture before it has the payload
		}
		want, o.byDigest = want+sum, true
	}
	to = reference{maphash.String(o.seed, want), maphash.Bytes(o.seed, url)}
	o.all = append(o.all, original{
		reference: to, revisits: 1, unmodified: isUnmodified && bytes.Equal(url, rec.TargetURI),
	})
	return to, true
}

// merge makes one original of all that have the same reference.
func (o *originals) merge() {
	slices.SortFunc(o.all, func(a, b original) int { return compareReferences(a.reference, b.reference) })
	merged := o.all[:0]
	for _, w := range o.all {
		if n := len(merged); n > 0 && merged[n-1].reference == w.reference {
			merged[n-1].revisits += w.revisits
			merged[n-1].unmodified = merged[n-1].unmodified || w.unmodified
			continue
		}
		merged = append(merged, w)
	}
	o.all = merged
}

// of returns the original of a reference.
func (o *originals) of(to reference) *original {
	i, ok := slices.BinarySearchFunc(o.all, to, func(w original, to reference) int {
		return compareReferences(w.reference, to)
	})
	if !ok {
		return &original{}
	}
	return &o.all[i]
}

// wanted returns the originals whose index line begins so, or has this key and digest.
func (o *originals) wanted(start []byte) []original {
	want := maphash.Bytes(o.seed, start)
	i, _ := slices.BinarySearchFunc(o.all, want, func(w original, want uint64) int { return cmp.Compare(w.want, want) })
	n := i
	for n < len(o.all) && o.all[n].want == want {
		n++
	}
	return o.all[i:n]
}

// stampLayout is the time of index lines.
const stampLayout = "20060102150405"

// lineStart returns key and time of an index line.
func lineStart(line []byte) []byte {
	return bytes.TrimSuffix(line[:max(bytes.IndexByte(line, '{'), 0)], []byte(" "))
}

// see compares an index line with what is wanted. file is the number of its file.
func (o *originals) see(line []byte, file int32, own bool) {
	head := lineStart(line)
	wanted := o.wanted(head)
	if len(wanted) == 0 && !o.byDigest {
		return
	}
	l, err := cdxj.ParseLine(line)
	if err != nil || l.Revisit {
		return
	}
	if len(wanted) == 0 {
		key, _, _ := bytes.Cut(head, []byte(" "))
		wanted = o.wanted(slices.Concat(key, []byte(" "), l.Digest))
	}
	url := maphash.Bytes(o.seed, l.URL)
	for i := range wanted {
		w := &wanted[i]
		if exact := url == w.url; w.file == 0 || exact && !w.exact {
			w.head, w.file, w.offset, w.length = maphash.Bytes(o.seed, head), file, l.Offset, l.Length
			w.exact, w.own = exact, own
		}
	}
}

// isComplete reports whether nothing more must be searched.
func (o *originals) isComplete() bool {
	return !slices.ContainsFunc(o.all, func(w original) bool { return !w.exact })
}

// unmodified returns the offsets of the copied originals that answers 304 refer to.
func (o *originals) unmodified() map[int64]bool {
	at := map[int64]bool{}
	for i := range o.all {
		if w := &o.all[i]; w.unmodified && w.file == copiedFile {
			at[w.offset] = true
		}
	}
	return at
}

// findOriginals searches the indexes of the WACZ for the originals of its revisits, then those of the other files that
// are packed.
func (p *packer) findOriginals() error {
	p.originals.merge()
	for _, own := range []bool{true, false} {
		for i, name := range p.indexes.all {
			if p.originals.isComplete() {
				return nil
			}
			if slices.Contains(p.files, name) != own {
				continue
			}
			err := p.indexes.each(name, func(line []byte) error {
				p.originals.see(line, int32(i+1), own)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// originalsEnd is the end of the name of a WARC file with copied records.
const originalsEnd = "-originals.warc.gz"

// originalsFile is the name of the WARC file with copied records.
func (p *packer) originalsFile() string {
	return strings.TrimSuffix(path.Base(p.out), ".wacz") + originalsEnd
}

// copyOriginals copies the originals that are in other files into a WARC file of their own, so that each WACZ can be
// replayed without the others, and adds that file to the index.
func (p *packer) copyOriginals() error {
	var copies []*original
	for i := range p.originals.all {
		w := &p.originals.all[i]
		switch {
		case w.file == 0 || !w.own && w.length == 0:
			p.packed.OriginalsMissing += int(w.revisits)
		case !w.own && p.o.NameOriginals:
			p.packed.Originals++
			if home := p.homes[p.fileOf(w)]; !slices.Contains(p.packed.Requires, home) {
				p.packed.Requires = append(p.packed.Requires, home)
			}
		case !w.own:
			copies = append(copies, w)
		}
	}
	slices.Sort(p.packed.Requires)
	if len(copies) == 0 {
		return nil
	}
	slices.SortFunc(copies, func(a, b *original) int {
		return cmp.Or(strings.Compare(p.fileOf(a), p.fileOf(b)), cmp.Compare(a.offset, b.offset))
	})
	return p.add("archive/"+p.originalsFile(), zip.Store, func(w io.Writer) error {
		out := &part{Writer: w, sum: sha256.New()}
		if err := p.explainOriginals(out); err != nil {
			return err
		}
		for rest := copies; len(rest) > 0; {
			n := slices.IndexFunc(rest, func(w *original) bool { return w.file != rest[0].file })
			if n < 0 {
				n = len(rest)
			}
			name := p.fileOf(rest[0])
			if err := p.copyOf(out, name, rest[:n]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			rest = rest[n:]
		}
		p.packed.OriginalsBytes = out.bytes
		return nil
	})
}

// explainOriginals writes the first record of the file.
func (p *packer) explainOriginals(w io.Writer) error {
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		return err
	}
	text := "software: " + p.o.Software + "\r\nformat: WARC File Format 1.1\r\n" +
		"description: copies of records of other WARC files, which revisit records of this WACZ refer to\r\n"
	err = e.Append(&warc.Record{
		Type: warc.Warcinfo, Date: p.o.Now, Filename: p.originalsFile(), Block: [][]byte{[]byte(text)},
	})
	if err != nil {
		return err
	}
	_, err = w.Write(e.Group().Bytes())
	return err
}

// copyOf copies records of one file, sorted by their places, and the warcinfo record that they name.
func (p *packer) copyOf(out *part, name string, records []*original) error {
	form := isMember(strings.HasSuffix(name, ".gz"))
	if err := p.copyInfo(out, name, form); err != nil {
		return err
	}
	before, copied := int64(-1), int64(0)
	for _, w := range records {
		from := w.offset
		w.file = copiedFile
		if from == before { // its URL is spelled in two ways
			w.offset = copied
			continue
		}
		before, copied = from, out.bytes
		w.offset = copied
		var entry []byte
		err := form.write(out, func(to io.Writer) (err error) {
			return p.readPart(name, from, w.length, func(record io.Reader) (err error) {
				entry, err = p.copyOriginal(to, record, w)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("at %d: %w", from, err)
		}
		p.packed.Originals++
		line := cdxj.AppendLine(nil, entry, copied, out.bytes-copied, p.originalsFile())
		if err := p.lines.Add(line); err != nil {
			return err
		}
	}
	return nil
}

// infoMost is how much of a file is read for its first record, in bytes.
const infoMost = 64 << 10

// copyInfo copies the warcinfo record at the start of a file. A file without one has none.
func (p *packer) copyInfo(out *part, name string, form isMember) error {
	var info bytes.Buffer
	err := p.readPart(name, 0, infoMost, func(start io.Reader) error {
		z := warc.NewReader(io.TeeReader(start, &info), warc.ReaderOptions{})
		defer z.Close()
		rec, err := z.Next()
		if err == nil && rec.Type == warc.Warcinfo && rec.Skip() == nil {
			info.Truncate(int(rec.Length))
		} else {
			info.Reset()
		}
		return nil
	})
	if err != nil || info.Len() == 0 {
		return err
	}
	return form.write(out, func(w io.Writer) error {
		_, err := w.Write(info.Bytes())
		return err
	})
}

// readPart opens a part of a file, and no more of it: the file may be in a store.
func (p *packer) readPart(name string, offset, length int64, read func(io.Reader) error) error {
	f, err := vfs.OpenRange(p.fsys, name, offset, length)
	if err != nil {
		return err
	}
	return errors.Join(read(io.NewSectionReader(f, offset, length)), f.Close())
}

// copyOriginal copies one record, which must be the one that the index says, and returns the start of its index line.
func (p *packer) copyOriginal(out io.Writer, record io.Reader, w *original) (entry []byte, err error) {
	read := io.TeeReader(record, out)
	o := warc.ReaderOptions{Name: p.originalsFile(), Base: w.offset}
	err = p.scan(read, o, func(rec *warc.RecordRead, head *block.Head) {
		if c, ok := rec.IndexEntryOf(head); ok && rec.Type != warc.Revisit {
			entry = c.Append(entry[:0])
		}
	})
	if err == nil {
		_, err = io.Copy(io.Discard, read)
	}
	if err == nil && maphash.Bytes(p.originals.seed, lineStart(entry)) != w.head {
		err = lookup.ErrIndex
	}
	return entry, err
}

// isMember says that the bytes of a record are a gzip member already.
type isMember bool

// write writes one gzip member, whose bytes or content are those of do.
func (m isMember) write(out io.Writer, do func(io.Writer) error) error {
	if m {
		return do(out)
	}
	z := gzip.NewWriter(out)
	return errors.Join(do(z), z.Close())
}
