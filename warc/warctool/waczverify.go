package warctool

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/waczfs"
)

// waczFileMost is how much of a file of JSON is read, in bytes.
const waczFileMost = 32 << 20

// waczLineMost is the longest line of a list of pages or an index, in bytes.
const waczLineMost = 16 << 20

// WACZResult is what VerifyWACZ found.
type WACZResult struct {
	Packages int   `json:"packages"` // WACZ files
	Files    int   `json:"files"`    // in them
	Bytes    int64 `json:"bytes"`    // of these
	Records  int   `json:"records"`  // of the WARC files
	Lines    int   `json:"lines"`    // of the indexes
	Signed   int   `json:"signed"`   // packages with a signature that holds
	Faults   int   `json:"faults"`
	// Unchecked says what was not checked.
	Unchecked []string `json:"unchecked,omitempty"`
}

// waczCheck checks one WACZ file.
type waczCheck struct {
	name     string
	zip      *zip.Reader
	entries  map[string]*zip.File
	listed   map[string]bool
	created  string
	result   *WACZResult
	faults   int
	complain func(error)
}

// VerifyWACZ checks a WACZ file, or a list of several: the ZIP file, every digest and length, the index, the list of
// pages, a signature, and all records. Faults go to complain. An error is one of reading.
func VerifyWACZ(fsys vfs.FS, name string, complain func(error)) (r WACZResult, err error) {
	report := func(err error) {
		r.Faults++
		complain(err)
	}
	if strings.HasSuffix(name, ".json") {
		return r, verifyParts(fsys, name, &r, report)
	}
	_, err = verifyPackage(fsys, name, &r, report)
	return r, err
}

// verifyPackage checks one WACZ file, and returns its digest and length.
func verifyPackage(fsys vfs.FS, name string, r *WACZResult, complain func(error)) (whole waczResource, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return whole, fmt.Errorf("wacz: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := &part{Writer: io.Discard, sum: sha256.New()}
	if _, err := io.Copy(sum, f); err != nil {
		return whole, fmt.Errorf("wacz: %w", err)
	}
	whole.Hash, whole.Bytes = sum.digest(), sum.bytes
	r.Packages++
	z, err := waczfs.OpenZIP(f, sum.bytes)
	if err != nil {
		complain(fmt.Errorf("%s: %w", name, err))
		return whole, nil
	}
	c := &waczCheck{
		name: name, zip: z, entries: map[string]*zip.File{}, listed: map[string]bool{}, result: r,
		complain: func(err error) { complain(fmt.Errorf("%s: %w", path.Base(name), err)) },
	}
	for _, e := range z.File {
		if _, twice := c.entries[e.Name]; twice {
			c.faultf("%s is there twice", e.Name)
		}
		c.entries[e.Name] = e
	}
	c.checkPackage()
	return whole, nil
}

func (c *waczCheck) faultf(format string, args ...any) {
	c.faults++
	c.complain(fmt.Errorf(format, args...))
}

// text reads a file of JSON.
func (c *waczCheck) text(name string) (text []byte, ok bool) {
	e := c.entries[name]
	if e == nil {
		c.faultf("%s is missing", name)
		return nil, false
	}
	f, err := openEntry(e)
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(f, waczFileMost+1))
		err = errors.Join(err, f.Close())
	}
	if err == nil && len(text) > waczFileMost {
		err = fmt.Errorf("longer than %d MiB", waczFileMost>>20)
	}
	if err != nil {
		c.faultf("%s: %w", name, err)
	}
	return text, err == nil
}

// eachLine calls f for each line of a file, however long the file is, until f returns false.
func (c *waczCheck) eachLine(name string, f func(n int, line []byte) bool) {
	e := c.entries[name]
	if e == nil {
		c.faultf("%s is missing", name)
		return
	}
	in, err := openEntry(e)
	if err != nil {
		c.faultf("%s: %w", name, err)
		return
	}
	defer func() { _ = in.Close() }() // only read
	before := c.faults
	err = scanLines(in, func(n int, line []byte) bool {
		in.room -= lineCost
		return c.faults-before <= faultsMost && f(n, line)
	}, func(err error) { c.faultf("%s: %w", name, err) })
	if err == nil && c.faults-before > faultsMost {
		err = errFaults
	}
	if err != nil {
		c.faultf("%s: %w", name, err)
	}
}

func (c *waczCheck) checkPackage() {
	text, ok := c.text("datapackage.json")
	if !ok {
		return
	}
	var said struct {
		Profile   string         `json:"profile"`
		Version   string         `json:"wacz_version"`
		Created   string         `json:"created"`
		Resources []waczResource `json:"resources"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		c.faultf("datapackage.json: %w", err)
		return
	}
	if said.Version != "1.1.1" || said.Profile != "data-package" && said.Profile != "" {
		c.faultf("datapackage.json: profile %q, version %q: want data-package and 1.1.1", said.Profile, said.Version)
	}
	c.created = said.Created
	c.checkDigest(text)
	names := map[string]bool{}
	for _, r := range said.Resources {
		if r.Name == "" || names[r.Name] || r.Name != plainName(r.Name) {
			c.faultf("datapackage.json: the name %q of a resource is missing, used twice, or not lower case", r.Name)
		}
		names[r.Name], c.listed[r.Path] = true, true
		c.checkResource(&r)
	}
	archives, indexes := 0, 0
	for name, e := range c.entries {
		dir, _, _ := strings.Cut(name, "/")
		switch dir {
		case "archive":
			archives++
			if e.Method != zip.Store {
				c.faultf("%s is compressed", name)
			}
		case "indexes":
			indexes++
			if e.Method != zip.Store && strings.HasSuffix(name, ".gz") {
				c.faultf("%s is compressed", name)
			}
		}
		if !c.listed[name] && !strings.HasPrefix(name, "datapackage") && !strings.HasSuffix(name, "/") {
			c.faultf("%s: not in datapackage.json", name)
		}
	}
	if archives == 0 || indexes == 0 {
		c.faultf("%d WARC files and %d files of an index: at least one of each must be there", archives, indexes)
	}
	c.checkPages()
	if c.entries["indexes/index.idx"] != nil {
		c.checkIndex()
	}
	for _, name := range slices.Sorted(maps.Keys(c.entries)) {
		inside, ok := strings.CutPrefix(name, "indexes/")
		if ok && inside != "index.idx" && (inside != "index.cdx.gz" || c.entries["indexes/index.idx"] == nil) {
			c.checkPlainIndex(name)
		}
	}
}

// checkPlainIndex checks an index without blocks: that its lines can be read, are in order, and name records.
func (c *waczCheck) checkPlainIndex(name string) {
	f, err := openEntry(c.entries[name])
	if err != nil {
		c.faultf("%s: %w", name, err)
		return
	}
	defer func() { _ = f.Close() }() // only read
	in := bufio.NewReader(f)
	from := io.Reader(in)
	if strings.HasSuffix(name, ".gz") {
		if from, err = gzip.NewReader(in); err != nil {
			c.faultf("%s: %w", name, err)
			return
		}
	} else if start, _ := in.Peek(len(classicCDX)); string(start) == classicCDX {
		c.leave("%s: its lines are those of a CDX file, not CDXJ", name)
		return
	}
	var last []byte
	before, text := c.faults, bounded(io.NopCloser(from), c.entries[name].CompressedSize64)
	err = cdxj.ScanLines(text, func(line []byte, said *cdxj.Line, damage error) error {
		if c.faults-before > faultsMost {
			return errFaults
		}
		text.room -= lineCost
		c.result.Lines++
		if damage != nil {
			c.faultf("%s: %w", name, damage)
			return nil
		}
		if bytes.Compare(line, last) < 0 {
			c.faultf("%s: the lines are not in order", name)
		}
		last = append(last[:0], line...)
		c.checkPlace(name, string(line), said)
		return nil
	})
	if err != nil {
		c.faultf("%s: %w", name, err)
	}
}

// classicCDX is how the heading of a CDX file begins, the form before CDXJ.
const classicCDX = " CDX "

// leave says what is not checked.
func (c *waczCheck) leave(format string, args ...any) {
	c.result.Unchecked = append(c.result.Unchecked, fmt.Sprintf(format, args...))
}

// checkPlace checks that a line of an index names a part of a WARC file.
func (c *waczCheck) checkPlace(name, line string, said *cdxj.Line) {
	e := c.entries["archive/"+string(said.File)]
	if e == nil || said.Offset < 0 || said.Length < 0 || uint64(said.Offset)+uint64(said.Length) > e.UncompressedSize64 {
		c.faultf("%s: %.100s: no such record", name, line)
	}
}

// checkDigest compares datapackage.json with its digest, which may be signed.
func (c *waczCheck) checkDigest(manifest []byte) {
	text, ok := c.text("datapackage-digest.json")
	if !ok {
		return
	}
	var d waczDigest
	sum := sha256.Sum256(manifest)
	want := "sha256:" + hex.EncodeToString(sum[:])
	if err := json.Unmarshal(text, &d); err != nil || d.Path != "datapackage.json" || d.Hash != want {
		c.faultf("datapackage-digest.json: not the digest of datapackage.json")
		return
	}
	if d.Signed == nil {
		return
	}
	if d.Signed.Domain != "" {
		if err := d.Signed.checkDomain(want); err != nil {
			c.faultf("datapackage-digest.json: %w", err)
			return
		}
		c.leave("datapackage-digest.json is signed for %.253q: whether its certificate is one that others trust, and when "+
			"it was signed", d.Signed.Domain)
		c.result.Signed++
		return
	}
	if err := d.Signed.check(want); err != nil || d.Signed.Created != c.created {
		c.faultf("datapackage-digest.json: %w", errWACZSignature)
		return
	}
	c.result.Signed++
}

// checkResource compares a file with its length and digest. The records of a WARC file are checked on the way.
func (c *waczCheck) checkResource(r *waczResource) {
	e := c.entries[r.Path]
	if e == nil {
		c.faultf("%s is missing", r.Path)
		return
	}
	f, err := openEntry(e)
	if err != nil {
		c.faultf("%s: %w", r.Path, err)
		return
	}
	defer func() { _ = f.Close() }()
	sum := &part{Writer: io.Discard, sum: sha256.New()}
	digest := sum.digest
	if strings.HasPrefix(r.Hash, "md5:") { // as py-wacz writes it with --hash-type md5
		sum.sum = md5.New()
		digest = func() string { return "md5:" + hex.EncodeToString(sum.sum.Sum(nil)) }
	}
	read := io.TeeReader(f, sum)
	if strings.HasPrefix(r.Path, "archive/") {
		v := warc.NewVerifier(warc.VerifyOptions{PerFile: true, OnFault: func(f *warc.Fault) {
			if !strings.HasSuffix(r.Path, originalsEnd) || !errors.Is(f, warc.ErrReference) {
				c.complain(f)
			}
		}})
		err = v.File(path.Base(r.Path), read)
		report := v.Finish()
		c.result.Records += report.Records
	}
	if err == nil {
		_, err = io.Copy(io.Discard, read)
	}
	switch {
	case err != nil:
		c.faultf("%s: %w", r.Path, err)
	case sum.bytes != r.Bytes:
		c.faultf("%s: %d bytes, and datapackage.json says %d", r.Path, sum.bytes, r.Bytes)
	case digest() != r.Hash:
		c.faultf("%s: its digest is %s, and datapackage.json says %s", r.Path, digest(), r.Hash)
	}
	c.result.Files++
	c.result.Bytes += sum.bytes
}

// checkPages checks that each line of the list of pages is read by replay programs.
func (c *waczCheck) checkPages() {
	c.eachLine("pages/pages.jsonl", func(n int, line []byte) bool {
		var page struct {
			Format string `json:"format"`
			URL    string `json:"url"`
			Time   string `json:"ts"`
		}
		err := json.Unmarshal(line, &page)
		switch _, timeErr := time.Parse(time.RFC3339, page.Time); {
		case err != nil:
			c.faultf("pages/pages.jsonl: line %d: %w", n, err)
		case n == 1 && page.Format != "json-pages-1.0":
			c.faultf("pages/pages.jsonl: line 1 does not say json-pages-1.0")
		case n > 1 && (page.URL == "" || timeErr != nil):
			c.faultf("pages/pages.jsonl: line %d has no url, or no time", n)
		}
		return true
	})
}

// checkIndex checks each block of the index: its place, its digest, the order of its lines, and their places.
func (c *waczCheck) checkIndex() {
	data := c.entries["indexes/index.cdx.gz"]
	if data == nil {
		c.faultf("indexes/index.cdx.gz is missing")
		return
	}
	f, err := openEntry(data)
	if err != nil {
		c.faultf("indexes/index.cdx.gz: %w", err)
		return
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReader(f)
	var offset int64
	last := ""
	isWhole, lines := false, 0
	c.eachLine("indexes/index.idx", func(n int, line []byte) bool {
		lines = n
		if n == 1 && bytes.HasPrefix(line, []byte("!meta ")) {
			isWhole = true
			return true
		}
		brace := bytes.IndexByte(line, '{')
		var block struct {
			Offset int64  `json:"offset"`
			Length int64  `json:"length"`
			Digest string `json:"digest"`
		}
		isWhole = false
		if brace < 1 || json.Unmarshal(line[brace:], &block) != nil || block.Offset != offset ||
			block.Length <= 0 || block.Length > waczFileMost {
			c.faultf("indexes/index.idx: line %d is not of the block at %d", n, offset)
			return false
		}
		packed, err := io.ReadAll(io.LimitReader(in, block.Length))
		if err == nil && int64(len(packed)) < block.Length {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			c.faultf("indexes/index.cdx.gz: block at %d: %w", offset, err)
			return false
		}
		offset += block.Length
		if sum := sha256.Sum256(packed); block.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
			c.faultf("indexes/index.cdx.gz: the block at %d has another digest", block.Offset)
		}
		last = c.checkBlock(packed, block.Offset, string(bytes.TrimSuffix(line[:brace], []byte(" "))), last)
		isWhole = true
		return true
	})
	if lines == 0 {
		c.faultf("indexes/index.idx: it has no line")
	}
	if !isWhole {
		return
	}
	if _, err := in.ReadByte(); err != io.EOF { //nolint:errorlint // io.Reader's own word
		c.faultf("indexes/index.cdx.gz: more bytes than indexes/index.idx lists")
	}
}

// checkBlock checks the lines of a block, and returns the last one.
func (c *waczCheck) checkBlock(packed []byte, offset int64, key, last string) string {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		before := c.faults
		err = scanLines(bounded(io.NopCloser(z), uint64(len(packed))), func(n int, text []byte) bool {
			if c.faults-before > faultsMost {
				return false
			}
			line := string(text)
			c.result.Lines++
			if n == 1 && !strings.HasPrefix(line, key+" ") {
				c.faultf("indexes/index.idx: the block at %d begins with another line", offset)
			}
			if line < last {
				c.faultf("indexes/index.cdx.gz: block at %d: the lines are not in order", offset)
			}
			last = line
			page, _ := parsePage(text)
			c.checkPlace("indexes/index.cdx.gz", line, &page.Line)
			return true
		}, func(err error) { c.faultf("indexes/index.cdx.gz: block at %d: %w", offset, err) })
	}
	if err != nil {
		c.faultf("indexes/index.cdx.gz: block at %d: %w", offset, err)
	}
	return last
}
