package completeness

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"regexp"

	"github.com/klauspost/compress/zstd"
)

// sizeMax bounds a skeleton that is read.
const sizeMax = 16 << 20

// Site is a skeleton: the HTML of each page, by its path. The entry is "/".
type Site struct {
	pages  map[string][]byte
	images map[string]bool
}

// Read reads a skeleton as tools/skeleton prints it, compressed with zstd.
func Read(file string) (*Site, error) {
	f, err := os.Open(file) //nolint:gosec // a file of this package
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(1<<27), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	text, err := io.ReadAll(io.LimitReader(z, sizeMax+1))
	if err != nil || len(text) > sizeMax {
		return nil, fmt.Errorf("%s: %d bytes: %w", file, len(text), err)
	}
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if len(lines)%2 != 0 {
		return nil, fmt.Errorf("%s: %d lines, which are no pairs", file, len(lines))
	}
	s := &Site{pages: map[string][]byte{}, images: map[string]bool{}}
	for i := 0; i < len(lines); i += 2 {
		s.pages["/"+string(lines[i])] = lines[i+1]
	}
	for path, text := range s.pages {
		for _, to := range targets(path, text, embedOf) {
			s.images[to] = true
		}
	}
	return s, nil
}

var (
	linkOf  = regexp.MustCompile(`<a href=([^>]*)>`)
	embedOf = regexp.MustCompile(`<(?:img|iframe|embed) src=([^>]*)>|<object data=([^>]*)>`)
)

// targets are the paths to which a page leads.
func targets(path string, text []byte, reference *regexp.Regexp) (of []string) {
	base := &url.URL{Scheme: "http", Host: "site", Path: path}
	for _, found := range reference.FindAllSubmatch(text, -1) {
		if to, err := base.Parse(string(bytes.Join(found[1:], nil))); err == nil {
			of = append(of, to.Path)
		}
	}
	return of
}

// Answer is the status, the type and the body for a path.
func (s *Site) Answer(path string) (status int, kind string, body []byte) {
	if text, found := s.pages[path]; found {
		return 200, "text/html; charset=utf-8", append([]byte("<!DOCTYPE html><body>"), text...)
	}
	if s.images[path] {
		return 200, cmp.Or(mime.TypeByExtension(filepath.Ext(path)), "image/png"), []byte(path)
	}
	return 404, "text/plain", []byte("not found")
}

// Reachable are the paths of the pages to which links lead from the entry, and of their images.
func (s *Site) Reachable() map[string]bool {
	seen, todo := map[string]bool{"/": true}, []string{"/"}
	for len(todo) > 0 {
		path := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, to := range targets(path, s.pages[path], linkOf) {
			if _, found := s.pages[to]; found && !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
		for _, to := range targets(path, s.pages[path], embedOf) {
			seen[to] = true
		}
	}
	return seen
}
