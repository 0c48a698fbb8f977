package warctool

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/fixity"
)

// WACZOptions describe a WACZ file: a ZIP file with archive, index and list of pages, which replay programs open at
// once (WACZ 1.1.1).
type WACZOptions struct {
	Title    string
	MainPage string   // URL that a replay program shows first; "" for the only seed, or else the list of pages
	Seeds    []string // URLs where the crawl began, behind their redirects
	Software string
	Now      time.Time
	// TitleOf finds the title of a page in the first part of its body, whose content encodings are removed.
	TitleOf func(body, contentType []byte) string
	SignKey *ecdsa.PrivateKey // of P-384, for an anonymous signature; nil for none
	// SizeMost is the number of bytes of WARC files in one WACZ, unless a single one is larger; 0 for no limit. With a
	// limit, PackWACZ writes NAME-0001.wacz and so on, and NAME.json, which lists them.
	SizeMost int64
	// NameOriginals means that a WACZ does not get copies of what its revisits refer to in other files: it names the
	// WACZ files that have it.
	NameOriginals bool
	// OnPacked is told of each WACZ file that is complete. Default: none.
	OnPacked func(WACZPacked)
	// OnDamage is told of records that are in no index, since they are damaged. Default: none.
	OnDamage func(*warc.Fault)
}

// WACZPacked is what a WACZ file holds.
type WACZPacked struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"` // WARC files
	Pages int    `json:"pages"` // in the list of pages
	// Originals counts records of other WARC files that revisit records refer to, and that were copied or named.
	Originals      int   `json:"originals"`
	OriginalsBytes int64 `json:"originals_bytes"`
	// Requires are the names of the other WACZ files that have originals of this one, with NameOriginals.
	Requires []string `json:"requires,omitempty"`
	// OriginalsMissing counts revisit records whose original is in none of the files.
	OriginalsMissing int `json:"originals_missing"`
}

// PackWACZ packs Packable files into a new file, or with SizeMost into several. Their indexes are read from the files
// beside them, or made. Each WARC file is read once. Its digest must be that of the manifest beside it, if it
// has a line there.
func PackWACZ(fsys vfs.FS, out string, o WACZOptions, files ...string) (err error) {
	if o.OnPacked == nil {
		o.OnPacked = func(WACZPacked) {}
	}
	if o.OnDamage == nil {
		o.OnDamage = func(*warc.Fault) {}
	}
	x := newIndexes(fsys, files, func(f *warc.Fault) error {
		o.OnDamage(f)
		return nil
	})
	defer func() { err = errors.Join(err, x.scratch.Close()) }()
	if o.SizeMost > 0 {
		return packParts(x, out, o, files)
	}
	p := packer{fsys: fsys, o: o, out: out, files: files, indexes: x}
	_, err = p.pack()
	return err
}

// packer writes the parts of a WACZ file.
type packer struct {
	fsys      vfs.FS
	o         WACZOptions
	out       string            // name of the WACZ file
	files     []string          // WARC files that it gets
	indexes   *indexes          // of these and of others
	homes     map[string]string // name of the WACZ file that gets a WARC file
	lines     *extsort.Lines    // of the index of the WACZ
	pages     pages
	originals originals
	zip       *zip.Writer
	resources []waczResource
	packed    WACZPacked
}

// pack writes the file, and returns its entry for a list of several.
func (p *packer) pack() (entry waczResource, err error) {
	err = vfs.WriteAtomic(p.fsys, p.out, func(w io.Writer) error {
		whole := &part{Writer: w, sum: sha256.New()}
		p.zip = zip.NewWriter(whole)
		p.originals.seed = maphash.MakeSeed()
		p.pages.titled = extsort.NewLines(p.indexes.scratch, pagesMemory)
		for _, name := range p.files {
			if err := p.archive(name); err != nil {
				return err
			}
		}
		if err := p.findOriginals(); err != nil {
			return err
		}
		if p.lines, err = p.indexes.sorted(p.files); err != nil {
			return err
		}
		if err := p.copyOriginals(); err != nil {
			return err
		}
		err = errors.Join(p.index(), p.list(), p.manifest(), p.zip.Close())
		base := path.Base(p.out)
		entry = waczResource{Name: plainName(base), Path: base, Hash: whole.digest(), Bytes: whole.bytes}
		return err
	})
	if err == nil {
		p.packed.Name, p.packed.Bytes, p.packed.Files = p.out, entry.Bytes, len(p.files)
		p.o.OnPacked(p.packed)
	}
	return entry, err
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

// archive copies a WARC file, and finds its pages and revisits on the way.
func (p *packer) archive(name string) error {
	base := path.Base(name)
	err := p.add("archive/"+base, zip.Store, func(w io.Writer) error {
		f, err := p.fsys.Open(name)
		if err != nil {
			return err
		}
		read := io.TeeReader(f, w)
		err = p.scan(read, warc.ReaderOptions{Name: base}, func(*warc.RecordRead, *block.Head) {})
		if err == nil {
			_, err = io.Copy(io.Discard, read) // what is left of it
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return p.compare(name, p.resources[len(p.resources)-1])
}

// compare compares a copy with the line of the manifest beside the file.
func (p *packer) compare(name string, copied waczResource) error {
	dir := path.Dir(name)
	f, err := p.fsys.Open(path.Join(dir, fixity.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("wacz: %w", err)
	}
	list, err := fixity.Read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("wacz: %s: %w", path.Join(dir, fixity.ManifestName), err)
	}
	for _, line := range list.Files {
		if line.Name == path.Base(name) && copied.Hash != "sha256:"+hex.EncodeToString(line.SHA256[:]) {
			return fmt.Errorf("%s: its bytes are not those of its line in the manifest", name)
		}
	}
	return nil
}

// waczBlock is the number of index lines in a block.
const waczBlock = 256

// index writes the lines in compressed blocks, and a list of the blocks. Answers 304 are left out: ReplayWeb.page shows
// them as empty pages. Without their lines it shows the capture that they refer to.
func (p *packer) index() error {
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
		err := eachSorted(p.lines, func(line []byte) error {
			if isNotModified(line) {
				return nil
			}
			if n == 0 {
				key = string(line[:max(bytes.IndexByte(line, '{')-1, 0)])
			}
			text.Write(line)
			text.WriteByte('\n')
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

// manifest writes datapackage.json and its digest.
func (p *packer) manifest() error {
	said := map[string]any{
		"profile": "data-package", "wacz_version": "1.1.1", "title": p.o.Title, "software": p.o.Software,
		"created": waczTime(p.o.Now), "resources": p.resources,
	}
	if len(p.packed.Requires) > 0 {
		said["relation"] = map[string]any{"requires": requirements(p.packed.Requires)}
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
	sum := sha256.Sum256(text)
	digest := waczDigest{Path: "datapackage.json", Hash: "sha256:" + hex.EncodeToString(sum[:])}
	if p.o.SignKey != nil {
		if digest.Signed, err = signWACZ(&p.o, digest.Hash); err != nil {
			return err
		}
	}
	return p.add("datapackage-digest.json", zip.Deflate, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(digest)
	})
}
