package warctool

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"orbweaver/internal/extsort"
	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/lookup"
)

// pages are the pages of a WACZ, as its records are read: HTML and PDF.
type pages struct {
	titled *extsort.Lines // titles of places, and then the pages that have them
	others []otherPage
	kinds  []string // media types of others
}

// otherPage is a page whose index line does not say that it is one: a revisit, or a response without Content-Type.
type otherPage struct {
	file   string // it is a string of packer.files
	offset int64
	of     reference // what has the body of a revisit
	kind   uint16    // number of its media type
	isOf   bool
}

// compareOthers is the order of pages.others when all are there.
func compareOthers(a otherPage, at place) int {
	return cmp.Or(strings.Compare(a.file, at.file), cmp.Compare(a.offset, at.offset))
}

// kindMost is how many media types of others are told apart. Further ones count as the first.
const kindMost = 100

// addOther adds a page.
func (p *pages) addOther(page otherPage, kind string) {
	i := slices.Index(p.kinds, kind)
	if i < 0 && len(p.kinds) < kindMost {
		i, p.kinds = len(p.kinds), append(p.kinds, kind)
	}
	page.kind = uint16(max(i, 0))
	p.others = append(p.others, page)
}

// waczPage is a line of the list of pages.
type waczPage struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Time  string `json:"ts"`
	Title string `json:"title,omitempty"`
	MIME  string `json:"mime"`
	Size  int64  `json:"size"`
	Seed  bool   `json:"seed,omitempty"`
}

// titleKey is how the lines about a place begin: its title, and the pages that have it.
func titleKey(at place) []byte {
	file := strings.ReplaceAll(at.file, "\x00", "") // it ends there
	return binary.BigEndian.AppendUint64(append([]byte(file), 0), uint64(at.offset))
}

// Kinds of lines behind a titleKey, in their order. That of a page goes on with its number in the list.
const (
	titleLine     = 't'
	titlelessLine = 'u'
)

// pagesMemory is the memory of pages before they are sorted on the disk, in bytes.
const pagesMemory = 16 << 20

// list writes the list of pages: the last capture of each page. A page that is a revisit of another record has the
// title of that record.
func (p *packer) list() error {
	return p.add("pages/pages.jsonl", zip.Deflate, func(w io.Writer) error {
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		if err := out.Encode(map[string]string{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}); err != nil {
			return err
		}
		if err := p.collectPages(); err != nil {
			return err
		}
		pages, err := p.titlePages()
		if err != nil {
			return err
		}
		return eachSorted(pages, func(line []byte) error {
			var page waczPage
			if err := json.Unmarshal(line[numberBytes:], &page); err != nil {
				return err
			}
			return out.Encode(&page)
		})
	})
}

// foundPage is a page with the place of its title.
type foundPage struct {
	waczPage

	title place
}

// collectPages adds the last capture of each page to the titles, with its number.
func (p *packer) collectPages() error {
	unmodified := p.originals.unmodified()
	slices.SortFunc(p.pages.others, func(a, b otherPage) int { return compareOthers(a, place{b.file, b.offset}) })
	seeds := make(map[string]bool, len(p.o.Seeds))
	for _, url := range p.o.Seeds {
		seeds[url] = true
	}
	key, last := "", []foundPage(nil) // the pages of a key: one, unless a URL is there with http and https
	flush := func() error {
		for i := range last {
			text, err := json.Marshal(&last[i].waczPage)
			if err != nil {
				return err
			}
			line := append(titleKey(last[i].title), titlelessLine)
			line = binary.BigEndian.AppendUint64(line, uint64(p.packed.Pages))
			if err := p.pages.titled.Add(append(line, text...)); err != nil {
				return err
			}
			p.packed.Pages++
		}
		last = last[:0]
		return nil
	}
	err := eachSorted(p.lines, func(line []byte) error {
		c, isPage := parsePage(line)
		at, mime := place{string(c.File), c.Offset}, string(c.MIME)
		if isPage && at.file == p.originalsFile() && !unmodified[at.offset] {
			return nil
		}
		title := at
		if i, ok := slices.BinarySearchFunc(p.pages.others, at, compareOthers); ok {
			other := &p.pages.others[i]
			isPage, mime = true, p.pages.kinds[other.kind]
			if other.isOf {
				of := p.originals.of(other.of)
				title = place{path.Base(p.fileOf(of)), of.offset}
			}
		}
		if !isPage {
			return nil
		}
		if c.Key != key {
			if err := flush(); err != nil {
				return err
			}
			key = c.Key
		}
		url := string(c.URL)
		page := foundPage{waczPage{
			ID: pageID(url, c.Stamp), URL: url, Time: timeOf(c.Stamp), MIME: mime, Size: c.Length, Seed: seeds[url],
		}, title}
		if page.Seed && len(seeds) == 1 && p.o.MainPage == "" {
			p.o.MainPage = page.URL
		}
		if i := slices.IndexFunc(last, func(q foundPage) bool { return q.URL == page.URL }); i >= 0 {
			last[i] = page
			return nil
		}
		last = append(last, page)
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// numberBytes is the length of the number of a page.
const numberBytes = 8

// titlePages returns the pages with their titles, as lines that begin with their numbers.
func (p *packer) titlePages() (*extsort.Lines, error) {
	if err := p.pages.titled.Flush(); err != nil {
		return nil, err
	}
	pages := extsort.NewLines(p.indexes.scratch, pagesMemory)
	var place, title []byte // of the last title
	return pages, eachSorted(p.pages.titled, func(line []byte) error {
		end := bytes.IndexByte(line, 0) + 1 + numberBytes
		kind, rest := line[end], line[end+1:]
		if kind == titleLine {
			place, title = append(place[:0], line[:end]...), append(title[:0], rest...)
			return nil
		}
		if !bytes.Equal(place, line[:end]) || len(title) == 0 {
			return pages.Add(rest)
		}
		var page waczPage
		if err := json.Unmarshal(rest[numberBytes:], &page); err != nil {
			return err
		}
		page.Title = string(title)
		text, err := json.Marshal(&page)
		if err != nil {
			return err
		}
		return pages.Add(append(bytes.Clone(rest[:numberBytes]), text...))
	})
}

// pageID returns the identity of a capture. Two pages with the same body have different ones.
func pageID(url, stamp string) string {
	sum := sha256.Sum256([]byte(stamp + " " + url))
	return hex.EncodeToString(sum[:16])
}

// place is where a record begins.
type place struct {
	file   string
	offset int64
}

// Limits of titles, in bytes.
const (
	titleBytes = 256 << 10 // how much of a page is searched
	titleMost  = 1 << 10
)

// scan reads the records of a file: it finds the titles of pages, and what revisits refer to. do gets each record, and
// the head of its HTTP message, nil if there is none. Damaged records are passed over.
func (p *packer) scan(from io.Reader, o warc.ReaderOptions, do func(*warc.RecordRead, *block.Head)) error {
	z := warc.NewReader(from, o)
	defer z.Close()
	return warc.ScanRecords(z, func(rec *warc.RecordRead) error {
		var head *block.Head
		var payload io.Reader
		if rec.IsHTTP() && (rec.Type == warc.Response || rec.Type == warc.Revisit) {
			var err error
			if head, payload, err = rec.HTTP(true); err != nil {
				head = nil
			}
		}
		do(rec, head)
		at := place{o.Name, rec.Offset}
		var of reference
		isOf := false
		if rec.Type == warc.Revisit {
			of, isOf = p.originals.add(rec, head != nil && head.Status == http304)
		}
		if head == nil || head.Status != http200 {
			return nil
		}
		said := cdxj.MediaType([]byte(head.ContentType()))
		kind := string(said)
		if kind == "" {
			kind = rec.Get("WARC-Identified-Payload-Type")
		}
		if isPage(kind) && (isOf || len(said) == 0) {
			p.pages.addOther(otherPage{file: at.file, offset: at.offset, of: of, isOf: isOf}, kind)
		}
		if rec.Type == warc.Response && isHTML(kind) {
			return p.title(at, head, payload)
		}
		return nil
	}, func(*warc.Fault) error { return nil })
}

// title keeps the title of a page, if it has one.
func (p *packer) title(at place, head *block.Head, payload io.Reader) error {
	if p.o.TitleOf == nil {
		return nil
	}
	body, done, err := lookup.DecodePayload(payload, head.List("Content-Encoding"))
	if err != nil {
		return nil //nolint:nilerr // a body that does not decode has no title
	}
	defer done()
	text, _ := io.ReadAll(io.LimitReader(body, titleBytes)) // a damaged page may have its title
	title := strings.Join(strings.Fields(p.o.TitleOf(text, []byte(head.List("Content-Type")))), " ")
	if title == "" {
		return nil
	}
	title = strings.ToValidUTF8(title[:min(len(title), titleMost)], "")
	return p.pages.titled.Add(append(append(titleKey(at), titleLine), title...))
}

const (
	http200 = 200
	http304 = 304
)

// isPage reports whether a response with this media type is a page.
func isPage(media string) bool { return isHTML(media) || strings.EqualFold(media, "application/pdf") }

// isHTML reports whether a response with this media type has a title.
func isHTML(media string) bool {
	return strings.EqualFold(media, "text/html") || strings.EqualFold(media, "application/xhtml+xml")
}
