package cookie

import (
	"iter"
	"math/bits"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/urlx"
)

// The limits of one site.
const (
	siteCookies = 20      // a browser keeps more, of sites that somebody logs in to
	siteBytes   = 4 << 10 // of names, values and paths: the request stays short enough for any server
)

// What a site and a cookie take in memory beside their text, about.
const (
	siteMemory   = 192
	cookieMemory = 128
)

// Stats are what Jars hold, and what they could not keep.
type Stats struct {
	Sites, Cookies int
	Bytes          int64 // about, in memory
	Lost           int64 // cookies that were dropped or not kept, since all jars together were full
}

// Jars are the cookies of all sites. Safe for concurrent use.
type Jars struct {
	max int64 // bytes of memory

	mu struct {
		sync.Mutex // held for a few hundred instructions
		sites      map[string]*jar
		cookies    int
		bytes      int64
		lost       int64
		classes    [jarClasses]class
	}
}

// jarClasses are the sizes of jars, in powers of two from 512 bytes on.
const jarClasses = 5

// class has the jars of one size, in the order in which they were used.
type class struct {
	ring  jar // its next was not used for longest
	bytes int64
}

// jar has the cookies of one site, oldest first.
type jar struct {
	cookies    []cookie
	site       string
	class      int
	memory     int64 // that it counts for in its class
	prev, next *jar  // in its class
}

// NewJars makes Jars of about max bytes.
func NewJars(max int64) *Jars {
	j := &Jars{max: max}
	j.mu.sites = map[string]*jar{}
	for i := range j.mu.classes {
		ring := &j.mu.classes[i].ring
		ring.prev, ring.next = ring, ring
	}
	return j
}

// Append appends the value of the field Cookie for a request for url, a normal form: longer paths first, then older cookies. It
// appends nothing if there is no cookie.
func (j *Jars) Append(dst, url []byte, now time.Time) []byte {
	site, path := urlx.Split(url)
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

// Take keeps what the Set-Cookie fields of the answer to a request for url, a normal form, say. It copies what it keeps.
func (j *Jars) Take(url []byte, fields iter.Seq[[]byte], now time.Time) {
	site, _ := urlx.Split(url)
	for field := range fields {
		if c, ok := parse(field, url, now); ok {
			j.put(site, &c, now)
		}
	}
}

// put keeps a cookie in place of the one of its name and path. One that has ended takes that one away.
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
		j.mu.lost++ // an older value stays: it is the site's own word
		return
	case at >= 0:
		s.cookies[at] = *c // as old as it was
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
			oldest = 1 // the one that just came stays, and fits alone
		}
		j.dropLocked(s, oldest)
		at = max(at-1, 0)
	}
}

// takeLocked takes a jar that is in use out of its class; shelveLocked puts it back, as the one that was used last.
func (j *Jars) takeLocked(s *jar) {
	s.prev.next, s.next.prev = s.next, s.prev
	j.mu.classes[s.class].bytes -= s.memory
}

// shelveLocked puts a jar into the class that it has the size of; one without cookies is gone.
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

// makeRoomLocked evicts jars until there is room for need bytes, and says whether there is. It evicts from the class that takes the most memory,
// and there what was not used for longest. So hosts that fill their jars evict each other, many hosts with a small cookie evict what is like it, and a
// site that is visited keeps its session.
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

// find gives the place of the cookie with the name and path of c, -1 if there is none.
func (s *jar) find(c *cookie) int {
	return slices.IndexFunc(s.cookies, func(old cookie) bool { return old.name == c.name && old.path == c.path })
}

// size is what counts against the limit, in bytes.
func (s *jar) size() int {
	n := 0
	for i := range s.cookies {
		n += s.cookies[i].size()
	}
	return n
}

// expireLocked drops what has ended; a jar that is empty then is gone.
func (j *Jars) expireLocked(s *jar, now time.Time) {
	for i := len(s.cookies) - 1; i >= 0; i-- {
		if s.cookies[i].ended(now) {
			j.dropLocked(s, i)
		}
	}
}

// dropLocked drops a cookie; a jar that is empty then is gone.
func (j *Jars) dropLocked(s *jar, i int) {
	j.mu.cookies--
	j.mu.bytes -= s.cookies[i].memory()
	s.cookies = slices.Delete(s.cookies, i, i+1)
	if len(s.cookies) == 0 {
		delete(j.mu.sites, s.site)
		j.mu.bytes -= siteMemory + int64(len(s.site))
	}
}

// Stats says what there is.
func (j *Jars) Stats() Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Stats{Sites: len(j.mu.sites), Cookies: j.mu.cookies, Bytes: j.mu.bytes, Lost: j.mu.lost}
}
