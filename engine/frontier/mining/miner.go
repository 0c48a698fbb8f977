package mining

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/urlx"
)

// Miner makes URLs of pages. Safe for concurrent use.
type Miner struct {
	ancestors, siblings bool
	most                int // of Options.MineMost

	mu struct {
		sync.Mutex
		young, old map[uint64]*site // by hash; when young is full it becomes old
		bytes      int              // cost of the URLs that wait in young
	}
}

// site is what is known of a site.
type site struct {
	tried, found int
	latest       uint64   // hash of the page that was a find last
	withheld     int      // tries that a page does not bring while its text is not compared
	series       []series // those that were seen first may have been replaced
	next         int      // index of the series that is replaced next
	shapes       []shape  // of the URLs that were tried; the oldest may have been replaced
	nextShape    int      // index of the shape that is replaced next
	waiting      []string // URLs that may not be tried yet, the oldest first
	isWaiting    map[string]struct{}
}

// shape is what came of the mined URLs of one kind: folders of one depth, with or without a number, or one series.
type shape struct {
	key          uint64
	tried, found int32
}

const (
	sitesMost   = 1 << 15  // in Miner.young
	bytesMost   = 16 << 20 // of Miner.bytes
	urlCost     = 96       // bytes of a URL that waits, beside its own
	seriesMost  = 32       // of a site
	waitingMost = 1 << 12  // URLs of a site
	triesFree   = 20       // mined URLs that a site may try before any is a page with something new
	triesOfFind = 20       // the same for each that is
	triesLikely = 4        // of these, before the text of the page is compared
	foldersMost = 16       // ancestors of one page
	shapesMost  = 32       // of a site
	retriedMost = 64       // URLs that have waited and are looked at for one page
)

// New returns the Miner of the options.
func New(o Options) *Miner {
	m := &Miner{
		ancestors: slices.Contains(o.Mine, ancestors), siblings: slices.Contains(o.Mine, siblings), most: o.MineMost,
	}
	m.mu.young = make(map[uint64]*site)
	return m
}

// IsOn reports whether URLs are mined.
func (m *Miner) IsOn() bool { return m.ancestors || m.siblings }

// Mine makes URLs of a page, given by its normal form, and takes those of its site that have waited. eachLink ranges
// over the normal forms of the page's links. isWanted reports whether a URL belongs to the crawl and is not known.
// offer gets those that are tried now. All borrow what they get.
func (m *Miner) Mine(page []byte, eachLink func(func(url []byte)), isWanted func([]byte) bool, offer func([]byte)) {
	key, path := urlx.Split(page)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.siteLocked(xxh3.Hash(key))
	if s.latest == xxh3.Hash(page) {
		s.withheld = triesOfFind - triesLikely
		defer func() { s.withheld = 0 }()
	}
	give := func(url []byte) {
		if !isWanted(url) {
			return
		}
		one := s.shapeOf(url[len(key):])
		if !s.mayTry(m.most, one) {
			m.mu.bytes += s.wait(url)
			return
		}
		s.tried++
		one.tried++
		offer(url)
	}
	if m.siblings {
		eachLink(func(url []byte) {
			if rest, ok := bytes.CutPrefix(url, key); ok && len(rest) > 0 && rest[0] == '/' {
				if n, ok := numberOf(rest); ok {
					s.seriesOf(&n).learn(&n)
				}
			}
		})
		if n, ok := numberOf(path); ok {
			one := s.seriesOf(&n)
			one.learn(&n)
			one.each(n.value, func(value uint64) { give(n.append(bytes.Clone(key), value, one.width)) })
		}
	}
	if m.ancestors {
		eachFolder(page, len(key), give)
	}
	for range min(len(s.waiting), retriedMost) {
		if s.left(m.most) <= 0 {
			break
		}
		url := s.waiting[0]
		s.waiting = s.waiting[1:]
		delete(s.isWaiting, url)
		m.mu.bytes -= urlCost + len(url)
		give([]byte(url))
	}
}

// NoteFind counts one mined URL, in normal form, whose page has something new, or takes that back (by is -1).
func (m *Miner) NoteFind(url []byte, by int) {
	key, path := urlx.Split(url)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.siteLocked(xxh3.Hash(key))
	s.found += by
	s.latest = xxh3.Hash(url)
	s.shapeOf(path).found += int32(by)
}

// siteLocked returns what is known of a site. The sites that were not asked for while sitesMost others were are
// forgotten.
func (m *Miner) siteLocked(hash uint64) *site {
	mu := &m.mu
	s := mu.young[hash]
	if s != nil {
		return s
	}
	if len(mu.young) >= sitesMost || mu.bytes >= bytesMost {
		mu.young, mu.old, mu.bytes = make(map[uint64]*site), mu.young, 0
	}
	if s = mu.old[hash]; s == nil {
		s = new(site)
	}
	delete(mu.old, hash)
	mu.young[hash] = s
	for _, url := range s.waiting {
		mu.bytes += urlCost + len(url)
	}
	return s
}

// left returns how many mined URLs the site may still try.
func (s *site) left(most int) int {
	return min(most, triesFree+triesOfFind*max(s.found, 0)-s.withheld) - s.tried
}

// mayTry reports whether the site may try another mined URL of a shape. One without a find gets at most half of the
// tries that are left, so that a useless shape does not use them up.
func (s *site) mayTry(most int, one *shape) bool {
	left := s.left(most)
	return left > 0 && int(one.tried)-triesOfFind*int(one.found) < left
}

// shapeOf returns the shape of a mined URL, given by its path and query. A new one may take the place of another.
func (s *site) shapeOf(path []byte) *shape {
	key := shapeKey(path)
	for i := range s.shapes {
		if s.shapes[i].key == key {
			return &s.shapes[i]
		}
	}
	if len(s.shapes) < shapesMost {
		s.shapes = append(s.shapes, shape{key: key})
		return &s.shapes[len(s.shapes)-1]
	}
	at := &s.shapes[s.nextShape]
	s.nextShape = (s.nextShape + 1) % shapesMost
	*at = shape{key: key}
	return at
}

// shapeKey identifies the shape of a mined URL within its site.
func shapeKey(path []byte) uint64 {
	n, isNumbered := numberOf(path)
	depth := uint64(2 * bytes.Count(path, []byte{'/'}))
	switch {
	case path[len(path)-1] != '/':
		return n.key()
	case isNumbered:
		return depth + 1
	}
	return depth
}

// wait keeps a URL that may not be tried yet, if there is room. It returns the cost of it.
func (s *site) wait(url []byte) int {
	if _, ok := s.isWaiting[string(url)]; ok || len(s.waiting) >= waitingMost {
		return 0
	}
	if s.isWaiting == nil {
		s.isWaiting = make(map[string]struct{})
	}
	own := string(url)
	s.isWaiting[own] = struct{}{}
	s.waiting = append(s.waiting, own)
	return urlCost + len(own)
}

// seriesOf returns the series of a numbered URL. A new one begins with its number, and may take the place of another.
func (s *site) seriesOf(n *numbered) *series {
	key := n.key()
	for i := range s.series {
		if s.series[i].key == key {
			return &s.series[i]
		}
	}
	one := series{key: key, last: n.value}
	if len(s.series) < seriesMost {
		s.series = append(s.series, one)
		return &s.series[len(s.series)-1]
	}
	at := &s.series[s.next]
	s.next = (s.next + 1) % seriesMost
	*at = one
	return at
}

// eachFolder calls f with the folders above a page, whose path begins at from: the nearest first.
func eachFolder(page []byte, from int, f func(url []byte)) {
	path, _, _ := bytes.Cut(page, []byte{'?'})
	path = bytes.TrimSuffix(path, []byte{'/'})
	for range foldersMost {
		slash := bytes.LastIndexByte(path, '/')
		if slash < from {
			return
		}
		f(path[:slash+1])
		path = path[:slash]
	}
}

// Options say which URLs are mined.
type Options struct {
	Mine     []string `help:"Also try URLs that no page links to. ancestors: the folders above each page. siblings: the neighbours of numbered pages, such as page3.html of page2.html. They come after all other URLs of their site. A site may try 20, and 20 more for each page with something new." placeholder:"HOW"`
	MineMost int      `name:"mine-most" help:"Limit of mined URLs for each site and run." default:"2000" least:"1" most:"1000000" placeholder:"N"`
}

// The words of Options.Mine.
const (
	ancestors = "ancestors"
	siblings  = "siblings"
)

// Validate reports the words that are not known.
func (o *Options) Validate() error {
	var faults []error
	for _, word := range o.Mine {
		if words := []string{ancestors, siblings}; !slices.Contains(words, word) {
			faults = append(faults, fmt.Errorf("--mine: %q is not one of %s", word, strings.Join(words, ", ")))
		}
	}
	return errors.Join(faults...)
}
