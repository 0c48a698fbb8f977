package warctool

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/coding"
)

// WACZOptions describe a WACZ file: a ZIP file with archive, index and list of pages, which replay programs open at
// once (WACZ 1.1.1).
type WACZOptions struct {
	Title    string
	MainPage string // URL that a replay program shows first; "" for the list of pages
	Software string
	Now      time.Time
	// TitleOf finds the title of a page in the first part of its body, whose content encodings are removed.
	TitleOf func(body, contentType []byte) string
}

// errWACZFile says that a file cannot be part of a WACZ.
var errWACZFile = errors.New("a WACZ holds complete .warc and .warc.gz files")

// PackWACZ packs WARC files into a new file. Their indexes are read from the files beside them, or made in memory.
func PackWACZ(fsys vfs.FS, out string, o WACZOptions, files ...string) error {
	names := make(map[string]string, len(files))
	for _, name := range files {
		base := path.Base(name)
		if !strings.HasSuffix(base, ".warc") && !strings.HasSuffix(base, ".warc.gz") {
			return fmt.Errorf("%s: %w", name, errWACZFile)
		}
		if other, ok := names[base]; ok {
			return fmt.Errorf("%s and %s have the same name", other, name)
		}
		names[base] = name
	}
	p := packer{fsys: fsys, o: o, paths: names}
	return vfs.WriteAtomic(fsys, out, func(w io.Writer) error {
		p.zip = zip.NewWriter(w)
		for _, name := range files {
			if err := p.archive(name); err != nil {
				return err
			}
		}
		lines, err := openIndexes(fsys, files)
		if err != nil {
			return err
		}
		return errors.Join(p.index(lines), lines.close(), p.list(files), p.manifest(), p.zip.Close())
	})
}

// packer writes the parts of a WACZ file.
type packer struct {
	fsys      vfs.FS
	o         WACZOptions
	paths     map[string]string // of the WARC files, by their names in the index
	zip       *zip.Writer
	resources []waczResource
}

// waczResource is an entry of datapackage.json.
type waczResource struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
}

// part is a file within the WACZ that is being written.
type part struct {
	io.Writer

	sum   hash.Hash
	bytes int64
}

func (p *part) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	p.sum.Write(b[:n])
	p.bytes += int64(n)
	return n, err
}

func (p *part) digest() string { return "sha256:" + hex.EncodeToString(p.sum.Sum(nil)) }

// add writes a file of the WACZ, and lists it. Parts of a stored file can be read where they are.
func (p *packer) add(name string, method uint16, write func(w io.Writer) error) error {
	w, err := p.zip.CreateHeader(&zip.FileHeader{Name: name, Method: method, Modified: p.o.Now})
	if err != nil {
		return fmt.Errorf("wacz: %w", err)
	}
	file := &part{Writer: w, sum: sha256.New()}
	if err := write(file); err != nil {
		return err
	}
	p.resources = append(p.resources, waczResource{
		Name: fmt.Sprintf("%d-%s", len(p.resources), plainName(path.Base(name))), Path: name, Hash: file.digest(),
		Bytes: file.bytes,
	})
	return nil
}

// plainName makes a name that a data package may have.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '-'
		}
	}, name)
}

// archive copies a WARC file.
func (p *packer) archive(name string) error {
	return p.add("archive/"+path.Base(name), zip.Store, func(w io.Writer) error {
		f, err := p.fsys.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, f)
		return errors.Join(err, f.Close())
	})
}

// waczBlock is the number of index lines in a block.
const waczBlock = 256

// index writes the lines in compressed blocks, and a list of the blocks.
func (p *packer) index(lines *indexMerge) error {
	var blocks bytes.Buffer
	fmt.Fprintln(&blocks, `!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}`)
	err := p.add("indexes/index.cdx.gz", zip.Store, func(w io.Writer) error {
		var offset int64
		var text, packed bytes.Buffer
		z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
		n, key := 0, ""
		flush := func() error {
			if n == 0 {
				return nil
			}
			packed.Reset()
			z.Reset(&packed)
			if _, err := z.Write(text.Bytes()); err != nil {
				return err
			}
			if err := z.Close(); err != nil {
				return err
			}
			sum := sha256.Sum256(packed.Bytes())
			fmt.Fprintf(&blocks, "%s {\"offset\":%d,\"length\":%d,\"digest\":\"sha256:%x\",\"filename\":\"index.cdx.gz\"}\n",
				key, offset, packed.Len(), sum)
			offset += int64(packed.Len())
			n = 0
			text.Reset()
			_, err := w.Write(packed.Bytes())
			return err
		}
		err := lines.each(func(line []byte) error {
			if n == 0 {
				key = string(line[:max(bytes.IndexByte(line, '{')-1, 0)])
			}
			text.Write(line)
			if n++; n < waczBlock {
				return nil
			}
			return flush()
		})
		return errors.Join(err, flush())
	})
	if err != nil {
		return err
	}
	return p.add("indexes/index.idx", zip.Deflate, func(w io.Writer) error {
		_, err := w.Write(blocks.Bytes())
		return err
	})
}

// waczPage is a line of the list of pages.
type waczPage struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Time  string `json:"ts"`
	Title string `json:"title,omitempty"`
	MIME  string `json:"mime"`
	Size  int64  `json:"size"`
}

// list writes the list of pages: the last capture of each HTML page.
func (p *packer) list(files []string) (err error) {
	lines, err := openIndexes(p.fsys, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lines.close()) }()
	return p.add("pages/pages.jsonl", zip.Deflate, func(w io.Writer) error {
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		err := out.Encode(map[string]string{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"})
		var last pageLine
		write := func() error {
			if last.URL == "" {
				return nil
			}
			title := p.title(&last)
			return out.Encode(waczPage{
				ID: last.Digest + "-" + last.stamp, URL: last.URL, Time: last.time(), Title: title, MIME: last.MIME,
				Size: last.length(),
			})
		}
		err = errors.Join(err, lines.each(func(line []byte) error {
			page, ok := parsePage(line)
			if !ok {
				return nil
			}
			if page.URL != last.URL {
				if err := write(); err != nil {
					return err
				}
			}
			last = page
			return nil
		}))
		return errors.Join(err, write())
	})
}

// titleBytes is how much of a page is searched for its title.
const titleBytes = 256 << 10

// title reads the title of a page from its record; "" if it has none, or the record cannot be read.
func (p *packer) title(l *pageLine) string {
	if p.o.TitleOf == nil {
		return ""
	}
	f, err := p.fsys.Open(p.paths[l.File])
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading
	offset, err := strconv.ParseInt(l.Offset, 10, 64)
	if err != nil {
		return ""
	}
	z := warc.NewReader(io.NewSectionReader(f, offset, 1<<62), warc.ReaderOptions{Name: l.File, Base: offset})
	defer z.Close()
	rec, err := z.Next()
	if err != nil || !rec.IsHTTP() {
		return ""
	}
	head, payload, err := rec.HTTP(true)
	if err != nil {
		return ""
	}
	body, done, err := coding.Decode(payload, head.Get("Content-Encoding"))
	if err != nil {
		return ""
	}
	defer done()
	text, _ := io.ReadAll(io.LimitReader(body, titleBytes)) // a damaged page may have its title
	return p.o.TitleOf(text, []byte(head.Get("Content-Type")))
}

// manifest writes datapackage.json and its digest.
func (p *packer) manifest() error {
	said := map[string]any{
		"profile": "data-package", "wacz_version": "1.1.1", "title": p.o.Title, "software": p.o.Software,
		"created": p.o.Now.UTC().Format(time.RFC3339), "resources": p.resources,
	}
	if p.o.MainPage != "" {
		said["mainPageUrl"] = p.o.MainPage
	}
	text, err := json.MarshalIndent(said, "", "  ")
	if err != nil {
		return fmt.Errorf("wacz: %w", err)
	}
	err = p.add("datapackage.json", zip.Deflate, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return p.add("datapackage-digest.json", zip.Deflate, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "{\"path\":\"datapackage.json\",\"hash\":\"sha256:%x\"}\n", sha256.Sum256(text))
		return err
	})
}
