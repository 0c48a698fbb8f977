package completeness

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/netip"
	"net/url"
	"orbweaver/internal/simweb"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// sizeMax bounds a skeleton that is read.
const sizeMax = 16 << 20

// Host is the name of the site.
const Host = "site.example"

// Site is a skeleton: the HTML of each page, by its path. The entry is "/". It is a guest of a simulated world.
type Site struct {
	pages  map[string][]byte
	images map[string]bool

	mu       sync.Mutex
	requests map[string]int // by path
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
	s := &Site{pages: map[string][]byte{}, images: map[string]bool{}, requests: map[string]int{}}
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

// Host implements simweb.Guest.
func (s *Site) Host(name string) (address netip.Addr, ok bool) { return netip.Addr{}, name == Host }

// Serve implements simweb.Guest.
func (s *Site) Serve(conn net.Conn, r simweb.GuestRequest) simweb.GuestResult {
	path, _, _ := strings.Cut(r.Path, "?")
	s.mu.Lock()
	s.requests[path]++
	s.mu.Unlock()
	reply := s.answer(r.Path)
	return reply.Send(conn)
}

// Asked returns how often each path was asked for.
func (s *Site) Asked() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests)
}

func (s *Site) answer(path string) simweb.GuestReply {
	if text, found := s.pages[path]; found {
		return simweb.GuestReply{
			Status: 200, Type: "text/html; charset=utf-8", Body: append([]byte("<!DOCTYPE html><body>"), text...),
		}
	}
	if s.images[path] {
		return simweb.GuestReply{
			Status: 200, Type: cmp.Or(mime.TypeByExtension(filepath.Ext(path)), "image/png"), Body: []byte(path),
		}
	}
	return simweb.GuestReply{Status: 404, Type: "text/plain", Body: []byte("not found")}
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
