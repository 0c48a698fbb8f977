package warctool

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"orbweaver/warc"
	"orbweaver/warc/block"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/coding"
)

// pages are the pages of a WACZ, as its records are read: HTML and PDF.
type pages struct {
	titles map[place]string
	others map[place]otherPage
}

// otherPage is a page whose index line does not say that it is one: a revisit, or a response without Content-Type.
type otherPage struct {
	mime string
	of   *original // that has the body of a revisit
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

// list writes the list of pages: the last capture of each page. A page that is a revisit of another record has the
// title of that record.
func (p *packer) list(copied *cdxj.Lines) error {
	return p.add("pages/pages.jsonl", zip.Deflate, func(w io.Writer) error {
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		if err := out.Encode(map[string]string{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}); err != nil {
			return err
		}
		unmodified := p.originals.unmodified()
		seeds := make(map[string]bool, len(p.o.Seeds))
		for _, url := range p.o.Seeds {
			seeds[url] = true
		}
		key, last := "", []waczPage(nil) // the pages of a key: one, unless a URL is there with http and https
		write := func() error {
			for i := range last {
				if err := out.Encode(&last[i]); err != nil {
					return err
				}
			}
			p.packed.Pages += len(last)
			last = last[:0]
			return nil
		}
		err := p.indexes.merge(p.files, copied, p.originalsFile(), func(line []byte) error {
			c, isPage := parsePage(line)
			at, mime := place{string(c.File), c.Offset}, string(c.MIME)
			if isPage && at.file == p.originalsFile() && !unmodified[at] {
				return nil
			}
			title := at
			if other, ok := p.pages.others[at]; ok {
				isPage, mime = true, other.mime
				if other.of != nil {
					title = other.of.at
				}
			}
			if !isPage {
				return nil
			}
			if c.Key != key {
				if err := write(); err != nil {
					return err
				}
				key = c.Key
			}
			url := string(c.URL)
			page := waczPage{
				ID: pageID(url, c.Stamp), URL: url, Time: timeOf(c.Stamp), Title: p.pages.titles[title], MIME: mime,
				Size: c.Length, Seed: seeds[url],
			}
			if page.Seed && len(seeds) == 1 && p.o.MainPage == "" {
				p.o.MainPage = page.URL
			}
			if i := slices.IndexFunc(last, func(q waczPage) bool { return q.URL == page.URL }); i >= 0 {
				last[i] = page
				return nil
			}
			last = append(last, page)
			return nil
		})
		if err != nil {
			return err
		}
		return write()
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
		var of *original
		if rec.Type == warc.Revisit {
			if of = p.originals.of(rec); of != nil && head != nil && head.Status == http304 {
				of.unmodified = of.unmodified || of.url == string(rec.TargetURI)
			}
		}
		if head == nil || head.Status != http200 {
			return nil
		}
		said := cdxj.MediaType([]byte(head.ContentType()))
		kind := string(said)
		if kind == "" {
			kind = rec.Get("WARC-Identified-Payload-Type")
		}
		if isPage(kind) && (of != nil || len(said) == 0) {
			if p.pages.others == nil {
				p.pages.others = make(map[place]otherPage)
			}
			p.pages.others[at] = otherPage{kind, of}
		}
		if rec.Type == warc.Response && isHTML(kind) {
			p.title(at, head, payload)
		}
		return nil
	}, func(*warc.Fault) error { return nil })
}

// title keeps the title of a page, if it has one.
func (p *packer) title(at place, head *block.Head, payload io.Reader) {
	if p.o.TitleOf == nil {
		return
	}
	body, done, err := coding.Decode(payload, head.List("Content-Encoding"))
	if err != nil {
		return
	}
	defer done()
	text, _ := io.ReadAll(io.LimitReader(body, titleBytes)) // a damaged page may have its title
	title := strings.Join(strings.Fields(p.o.TitleOf(text, []byte(head.List("Content-Type")))), " ")
	if title == "" {
		return
	}
	if p.pages.titles == nil {
		p.pages.titles = make(map[place]string)
	}
	p.pages.titles[at] = strings.ToValidUTF8(title[:min(len(title), titleMost)], "")
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
