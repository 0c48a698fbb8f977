package traps

import (
	"fmt"
	"strconv"
	"strings"
)

// honest is a site of so many pages, a tree that can be reached from "/p/0": articles, short pages of a catalogue that
// hardly differ, and pages of a gallery that differ in the image alone.
type honest struct {
	l     *language
	pages int
	extra func(n int) []string // links that stand on page n beside its own
	path  func(n int) string
}

// fan is how many pages hang on one.
const fan = 8

func newHonest(l *language, pages int, extra func(n int) []string) *honest {
	return &honest{l: l, pages: pages, extra: extra, path: func(n int) string { return folder(n) + strconv.Itoa(n) }}
}

// folder is the part of the site that a page lies in.
func folder(n int) string {
	switch n % 6 {
	case 2:
		return "/blog/2024/"
	case 3:
		return "/item/"
	case 5:
		return "/photo/"
	default:
		return "/p/"
	}
}

// number finds the page of a path; ok says that there is one.
func (h *honest) number(path string) (n int, ok bool) {
	n, err := strconv.Atoi(path[strings.LastIndexByte(path, '/')+1:])
	return n, err == nil && n >= 0 && n < h.pages && h.path(n) == path
}

// write is page n.
func (h *honest) write(n int) []byte {
	var links []string
	for k := n*fan + 1; k <= n*fan+fan && k < h.pages; k++ {
		links = append(links, h.path(k))
	}
	links = append(links, h.path(0), h.path(n/2))
	if h.extra != nil {
		links = append(links, h.extra(n)...)
	}
	switch folder(n) {
	case "/item/":
		return page(fmt.Sprintf("Item %d", n), fmt.Sprintf("In stock, %d.%02d", n%90+10, n%100), links...)
	case "/photo/":
		body := page("Photo", "Click to enlarge", links...)
		return append(body, fmt.Sprintf("<img src=\"/img/%x.jpg\">\n", uint32(n)*2654435761)...)
	default:
		return page(h.l.article(uint64(n), 4), h.l.article(uint64(n)<<8, 120), links...)
	}
}

// answer answers for the honest pages; ok says that the path is one.
func (h *honest) answer(target string) (a Answer, ok bool) {
	if strings.HasPrefix(target, "/img/") {
		return Answer{Status: 404}, true
	}
	if target == "/" {
		return Answer{Body: page("Welcome", "to this site", h.path(0)), Kind: Honest}, true
	}
	n, ok := h.number(target)
	if !ok {
		return Answer{Status: 404, Body: []byte("no such page")}, false
	}
	return Answer{Body: h.write(n), Kind: Honest}, true
}
