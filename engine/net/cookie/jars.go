package cookie

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
	"time"

	"orbweaver/internal/urlx"
)

// The limits of one site.
const (
	siteCookies = 20      // browsers keep more, for sites where people log in
	siteBytes   = 4 << 10 // of names, values and paths: every server accepts a request of this size
)

// The approximate memory of a site and of a cookie, without the text.
const (
	siteMemory   = 192
	cookieMemory = 128
)

// Stats describes what Jars contain and what they lost.
type Stats struct {
	Sites, Cookies int
	Bytes          int64 // approximate memory
	Lost           int64 // cookies that were dropped because all jars together were full
}

// Jars holds the cookies of all sites. It is safe for concurrent use.
type Jars struct {
	max     int64 // limit of memory in bytes
	presets *Presets

	mu struct {
		sync.Mutex  // held for a few hundred instructions
		sites       map[string]*jar
		cookies     int
		bytes       int64
		lost        int64
		classes     [jarClasses]class
		presetSites map[string]struct{} // that have got their presets
	}
}

// jarClasses is the number of size classes of jars: powers of two from 512 bytes.
const jarClasses = 5

// class holds the jars of one size class, in order of their last use.
type class struct {
	ring  jar // list head; its next jar is the least recently used
	bytes int64
}

// jar holds the cookies of one site, oldest first.
type jar struct {
	cookies    []cookie
	site       string
	class      int
	memory     int64 // memory that is counted in its class
	prev, next *jar  // neighbours in its class
}

// NewJars returns Jars with a limit of about max bytes. Each site begins with the presets that are for it.
func NewJars(max int64, presets *Presets) *Jars {
	j := &Jars{max: max, presets: presets}
	j.mu.sites, j.mu.presetSites = map[string]*jar{}, map[string]struct{}{}
	for i := range j.mu.classes {
		ring := &j.mu.classes[i].ring
		ring.prev, ring.next = ring, ring
	}
	return j
}

// Append appends the value of the Cookie field for a request for url, a normal form. Longer paths come first, then
// older cookies. It appends nothing if there is no cookie.
func (j *Jars) Append(dst, url []byte, now time.Time) []byte {
	site, path := urlx.Split(url)
	if j.presets.count > 0 {
		j.begin(site, now)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.mu.sites[string(site)]
	if s == nil {
		return dst
	}
	j.takeLocked(s)
	j.expireLocked(s, now)
	j.shelveLocked(s)
	var room [siteCookies]*cookie
	fit := room[:0]
	for i := range s.cookies {
		if c := &s.cookies[i]; c.covers(path) {
			fit = append(fit, c)
		}
	}
	slices.SortStableFunc(fit, func(a, b *cookie) int { return len(b.path) - len(a.path) })
	for i, c := range fit {
		if i > 0 {
			dst = append(dst, "; "...)
		}
		dst = c.append(dst)
	}
	return dst
}

// presetSitesMax bounds the sites that are known to have got their presets; beyond it they may get them again.
const presetSitesMax = 1 << 16

// begin gives a site its presets, once.
func (j *Jars) begin(site []byte, now time.Time) {
	var own []*cookie
	j.presets.each(site, func(c *cookie) { own = append(own, c) })
	if len(own) == 0 {
		return
	}
	j.mu.Lock()
	_, begun := j.mu.presetSites[string(site)]
	if !begun && len(j.mu.presetSites) < presetSitesMax {
		j.mu.presetSites[string(site)] = struct{}{}
	}
	j.mu.Unlock()
	if begun {
		return
	}
	for _, c := range own {
		j.put(site, c, now)
	}
}

// Take stores the cookies of the Set-Cookie fields of the response to url, a normal form. It copies what it needs.
func (j *Jars) Take(url []byte, fields iter.Seq[[]byte], now time.Time) {
	site, _ := urlx.Split(url)
	for field := range fields {
		if c, ok := parse(field, url, now); ok {
			j.put(site, &c, now)
		}
	}
}

// put stores a cookie, and replaces the one with the same name and path. An expired cookie removes the old one.
func (j *Jars) put(site []byte, c *cookie, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s, need, at := j.mu.sites[string(site)], c.memory(), -1
	if s == nil {
		s = &jar{site: string(site)}
		need += siteMemory + int64(len(site))
	} else {
		j.takeLocked(s)
		if at = s.find(c); at >= 0 {
			need -= s.cookies[at].memory()
		}
	}
	defer j.shelveLocked(s)
	switch {
	case c.ended(now):
		if at >= 0 {
			j.dropLocked(s, at)
		}
		return
	case need > 0 && !j.makeRoomLocked(need):
		j.mu.lost++ // an older value stays: the site had set it
		return
	case at >= 0:
		s.cookies[at] = *c // it keeps the age of the old one
	default:
		j.mu.cookies++
		at = len(s.cookies)
		s.cookies = append(s.cookies, *c)
	}
	j.mu.bytes += need
	j.mu.sites[s.site] = s
	for len(s.cookies) > siteCookies || s.size() > siteBytes {
		oldest := 0
		if at == 0 {
			oldest = 1 // the new one stays, since it fits alone
		}
		j.dropLocked(s, oldest)
		at = max(at-1, 0)
	}
}

// takeLocked removes a jar from its class while it is used; shelveLocked adds it again as the most recently used.
func (j *Jars) takeLocked(s *jar) {
	s.prev.next, s.next.prev = s.next, s.prev
	j.mu.classes[s.class].bytes -= s.memory
}

// shelveLocked adds a jar to the class of its size. A jar without cookies is removed.
func (j *Jars) shelveLocked(s *jar) {
	if len(s.cookies) == 0 {
		return
	}
	s.memory = siteMemory + int64(len(s.site))
	for i := range s.cookies {
		s.memory += s.cookies[i].memory()
	}
	s.class = min(bits.Len64(uint64(s.memory)>>9), jarClasses-1)
	c := &j.mu.classes[s.class]
	c.bytes += s.memory
	s.prev, s.next = c.ring.prev, &c.ring
	s.prev.next, c.ring.prev = s, s
}

// makeRoomLocked evicts jars until need bytes are free, and reports whether they are. It evicts the least recently used
// jar of the class that uses most memory. So hosts with full jars evict each other, many hosts with small cookies evict
// similar ones, and a site that is visited keeps its session.
func (j *Jars) makeRoomLocked(need int64) bool {
	for j.mu.bytes+need > j.max {
		largest := &j.mu.classes[0]
		for i := range j.mu.classes {
			if c := &j.mu.classes[i]; c.bytes > largest.bytes {
				largest = c
			}
		}
		victim := largest.ring.next
		if victim == &largest.ring {
			return false
		}
		j.takeLocked(victim)
		j.mu.lost += int64(len(victim.cookies))
		for len(victim.cookies) > 0 {
			j.dropLocked(victim, len(victim.cookies)-1)
		}
	}
	return true
}

// find returns the index of the cookie with the name and path of c, or -1.
func (s *jar) find(c *cookie) int {
	return slices.IndexFunc(s.cookies, func(old cookie) bool { return old.name == c.name && old.path == c.path })
}

// size returns what counts against the limit of the site, in bytes.
func (s *jar) size() int {
	n := 0
	for i := range s.cookies {
		n += s.cookies[i].size()
	}
	return n
}

// expireLocked removes expired cookies, and the jar if it becomes empty.
func (j *Jars) expireLocked(s *jar, now time.Time) {
	for i := len(s.cookies) - 1; i >= 0; i-- {
		if s.cookies[i].ended(now) {
			j.dropLocked(s, i)
		}
	}
}

// dropLocked removes a cookie, and the jar if it becomes empty.
func (j *Jars) dropLocked(s *jar, i int) {
	j.mu.cookies--
	j.mu.bytes -= s.cookies[i].memory()
	s.cookies = slices.Delete(s.cookies, i, i+1)
	if len(s.cookies) == 0 {
		delete(j.mu.sites, s.site)
		j.mu.bytes -= siteMemory + int64(len(s.site))
	}
}

// Stats returns the current counts.
func (j *Jars) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Stats{Sites: len(j.mu.sites), Cookies: j.mu.cookies, Bytes: j.mu.bytes, Lost: j.mu.lost}
}

// Options say whether cookies are kept.
type Options struct {
	Mode Mode `name:"cookies" type:"word" help:"off, or site: a cookie is sent back to the site (scheme, host, port) that set it, and to no other. At most 20 cookies and 4 KiB for each site, in memory, until the crawl stops." oneof:"off,site" default:"off" placeholder:"MODE"`

	Presets *Presets `kong:"-"` // with which the crawl begins; default: none

	Memory int64 `kong:"-" default:"64MiB" type:"size"` // of all sites' cookies
}

// Mode says whether cookies are kept.
type Mode uint8

// The modes, in the order of the flag's words.
const (
	Off Mode = iota
	Site
)
