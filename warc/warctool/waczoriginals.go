package warctool

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
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

// originals are the records that the revisit records of a WACZ refer to. Each costs some 300 bytes of memory.
type originals struct {
	wanted map[string][]*original // by key and time, as an index line begins; by key and digest if there is no time
	all    []*original
	// byDigest says that some revisits name no time.
	byDigest bool
}

// original is a record that revisits refer to.
type original struct {
	url      string
	head     string // how its index line begins: key and time
	path     string // of its file; "" until it is found
	at       place
	length   int64 // in its file; 0 if it cannot be copied alone
	exact    bool  // the URL is spelled in the same way
	own      bool  // in one of the WARC files of the WACZ
	revisits int
	// unmodified says that an answer 304 for the same URL refers to it: the index has no other line of that page.
	unmodified bool
}

// of returns the record that a revisit refers to; nil if it names none.
func (o *originals) of(rec *warc.RecordRead) *original {
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
			return nil // an answer 304, as Heritrix stores it: the capture before it has the payload
		}
		want, o.byDigest = want+sum, true
	}
	if o.wanted == nil {
		o.wanted = make(map[string][]*original)
	}
	same := o.wanted[want]
	i := slices.IndexFunc(same, func(w *original) bool { return w.url == string(url) })
	if i < 0 {
		w := &original{url: string(url)}
		o.wanted[want], o.all = append(same, w), append(o.all, w)
		i = len(same)
		same = o.wanted[want]
	}
	same[i].revisits++
	return same[i]
}

// stampLayout is the time of index lines.
const stampLayout = "20060102150405"

// see compares an index line with what is wanted. name is the path of its file.
func (o *originals) see(line []byte, name string, own bool) {
	head := bytes.TrimSuffix(line[:max(bytes.IndexByte(line, '{'), 0)], []byte(" "))
	wanted := o.wanted[string(head)]
	if wanted == nil && !o.byDigest {
		return
	}
	l, err := cdxj.ParseLine(line)
	if err != nil || l.Revisit {
		return
	}
	if wanted == nil {
		key, _, _ := bytes.Cut(head, []byte(" "))
		wanted = o.wanted[string(key)+" "+string(l.Digest)]
	}
	for _, w := range wanted {
		if exact := string(l.URL) == w.url; w.path == "" || exact && !w.exact {
			w.head, w.path, w.at, w.length = string(head)+" {", name, place{path.Base(name), l.Offset}, l.Length
			w.exact, w.own = exact, own
		}
	}
}

// isComplete reports whether nothing more must be searched.
func (o *originals) isComplete() bool {
	return !slices.ContainsFunc(o.all, func(w *original) bool { return !w.exact })
}

// unmodified returns the places of the originals that answers 304 refer to.
func (o *originals) unmodified() map[place]bool {
	at := map[place]bool{}
	for _, w := range o.all {
		if w.unmodified && w.path != "" {
			at[w.at] = true
		}
	}
	return at
}

// findOriginals searches the indexes of the WACZ for the originals of its revisits, then those of the other files that
// are packed.
func (p *packer) findOriginals() error {
	for _, own := range []bool{true, false} {
		for _, name := range p.indexes.all {
			if p.originals.isComplete() {
				return nil
			}
			if slices.Contains(p.files, name) != own {
				continue
			}
			err := p.indexes.each(name, func(line []byte) error {
				p.originals.see(line, name, own)
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
	for _, w := range p.originals.all {
		switch {
		case w.path == "" || !w.own && w.length == 0:
			p.packed.OriginalsMissing += w.revisits
		case !w.own && p.o.NameOriginals:
			p.packed.Originals++
			if home := p.homes[w.path]; !slices.Contains(p.packed.Requires, home) {
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
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.at.offset, b.at.offset))
	})
	return p.add("archive/"+p.originalsFile(), zip.Store, func(w io.Writer) error {
		out := &part{Writer: w, sum: sha256.New()}
		if err := p.explainOriginals(out); err != nil {
			return err
		}
		for rest := copies; len(rest) > 0; {
			n := slices.IndexFunc(rest, func(w *original) bool { return w.path != rest[0].path })
			if n < 0 {
				n = len(rest)
			}
			if err := p.copyOf(out, rest[:n]); err != nil {
				return fmt.Errorf("%s: %w", rest[0].path, err)
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
func (p *packer) copyOf(out *part, records []*original) error {
	name := records[0].path
	form := isMember(strings.HasSuffix(name, ".gz"))
	if err := p.copyInfo(out, name, form); err != nil {
		return err
	}
	var before, copied place
	for _, w := range records {
		if w.at == before { // its URL is spelled in two ways
			w.at = copied
			continue
		}
		before, copied = w.at, place{p.originalsFile(), out.bytes}
		w.at = copied
		var entry []byte
		err := form.write(out, func(to io.Writer) (err error) {
			return p.readPart(name, before.offset, w.length, func(record io.Reader) (err error) {
				entry, err = p.copyOriginal(to, record, w)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("at %d: %w", before.offset, err)
		}
		p.packed.Originals++
		line := cdxj.AppendLine(nil, entry, copied.offset, out.bytes-copied.offset, copied.file)
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
	o := warc.ReaderOptions{Name: w.at.file, Base: w.at.offset}
	err = p.scan(read, o, func(rec *warc.RecordRead, head *block.Head) {
		if c, ok := rec.IndexEntryOf(head); ok && rec.Type != warc.Revisit {
			entry = c.Append(entry[:0])
		}
	})
	if err == nil {
		_, err = io.Copy(io.Discard, read)
	}
	if err == nil && !bytes.HasPrefix(entry, []byte(w.head)) {
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
