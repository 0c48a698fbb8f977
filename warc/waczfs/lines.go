package waczfs

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"orbweaver/warc/cdxj"
)

// LinesSuffix follows the name of a WARC file in a WACZ: that file has the lines of the WACZ's index about it. It does
// not exist if there are none. Another error means that the index is not the one that the WACZ was made with.
const LinesSuffix = ".lines"

const (
	// linesMost is how long the indexes of a WACZ, and of those in it, may be, unpacked, in bytes. Longer ones are not
	// used: the records are read then. They are in memory twice while they are taken over.
	linesMost = 40 << 20
	// manifestMost is how much of datapackage.json is read, in bytes.
	manifestMost = 32 << 20
)

// container is a WACZ whose index has the lines of some files.
type container struct {
	home         string
	offset, size int64
	prefix       string // before the names of its files
}

// indexLines are lines of indexes, by the names of their files. They are kept until they are given.
type indexLines struct {
	of      map[string][]byte // nil before the indexes were read
	repeats map[string]bool   // files whose lines were given: the indexes are read again for them
	err     error
}

// linesOf returns the lines of the index of a WACZ about a file in it.
func (f *FS) linesOf(wacz, inside string) ([]byte, error) {
	l, err := f.listOf(wacz)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.lines.of == nil || l.lines.repeats[inside] {
		l.lines = indexLines{of: map[string][]byte{}, repeats: map[string]bool{}}
		left := int64(linesMost)
		for _, p := range l.packages {
			if err := l.readLines(f, p, &left); err != nil {
				l.lines.of, l.lines.err = map[string][]byte{}, fmt.Errorf("%s: its index: %w", wacz, err)
				break
			}
		}
	}
	lines, ok := l.lines.of[inside]
	if ok {
		delete(l.lines.of, inside)
		l.lines.repeats[inside] = true
	}
	if err = l.lines.err; !ok && err == nil {
		err = &fs.PathError{Op: "open", Path: path.Join(wacz, inside) + LinesSuffix, Err: fs.ErrNotExist}
	}
	return lines, err
}

// Errors of indexes that are not used.
var (
	errChanged = errors.New("its digest is not that of datapackage.json")
	errTooLong = fmt.Errorf("it has more than %d bytes", linesMost)
)

// readLines reads the indexes of one WACZ.
func (l *list) readLines(f *FS, p container, left *int64) (err error) {
	file, err := f.FS.Open(p.home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, err := OpenZIP(io.NewSectionReader(file, p.offset, p.size), p.size)
	if err != nil {
		return err
	}
	digests := digestsOf(z)
	for _, e := range z.File {
		name := strings.TrimSuffix(e.Name, ".gz")
		if !strings.HasPrefix(name, "indexes/") || !strings.HasSuffix(name, ".cdx") && !strings.HasSuffix(name, ".cdxj") {
			continue
		}
		if err := l.readIndex(e, digests[e.Name], p.prefix, left); err != nil {
			return err
		}
	}
	return nil
}

// digestsOf returns the SHA-256 that datapackage.json has of each file.
func digestsOf(z *zip.Reader) map[string]string {
	var said struct {
		Resources []struct{ Path, Hash string } `json:"resources"`
	}
	at := slices.IndexFunc(z.File, func(e *zip.File) bool { return e.Name == "datapackage.json" })
	if at < 0 {
		return nil
	}
	file, err := z.File[at].Open() // Reader.Open would list all directories
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // it is only read
	if json.NewDecoder(io.LimitReader(file, manifestMost)).Decode(&said) != nil {
		return nil
	}
	digests := make(map[string]string, len(said.Resources))
	for _, r := range said.Resources {
		digests[r.Path] = r.Hash
	}
	return digests
}

// readIndex adds the lines of one index, if it has its digest.
func (l *list) readIndex(e *zip.File, digest, prefix string, left *int64) (err error) {
	from, err := e.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	sum := sha256.New()
	tee := io.TeeReader(from, sum)
	text := tee
	if strings.HasSuffix(e.Name, ".gz") {
		if text, err = gzip.NewReader(bufio.NewReader(tee)); err != nil {
			return err
		}
	}
	for lines := cdxj.ReadLines(io.LimitReader(text, *left+1), cdxj.LineMax); ; {
		line, err := lines.Next()
		if err == io.EOF { //nolint:errorlint // Next returns it unwrapped
			break
		}
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if *left -= int64(len(line)) + 1; *left < 0 {
			return errTooLong
		}
		name := prefix + path.Base(fileOf(line))
		if _, ok := l.files[name]; ok {
			l.lines.of[name] = append(append(l.lines.of[name], line...), '\n')
		}
	}
	if _, err := io.Copy(io.Discard, tee); err != nil {
		return err
	}
	if digest != "sha256:"+hex.EncodeToString(sum.Sum(nil)) {
		l.lines.of = map[string][]byte{}
		return errChanged
	}
	return nil
}

// fileOf returns the name of the file in an index line, "" if it has none.
func fileOf(line []byte) string {
	var said struct {
		File string `json:"filename"`
	}
	brace := bytes.IndexByte(line, '{')
	if brace < 0 || json.Unmarshal(line[brace:], &said) != nil {
		return ""
	}
	return said.File
}
