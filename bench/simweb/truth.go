package simweb

import "iter"

// Class is what a sound crawler does with a URL.
type Class uint8

// The classes.
const (
	ClassNone     Class = iota // not reached: it must not be fetched
	ClassPage                  // fetched, and stored with status 200 and its whole payload
	ClassCut                   // fetched and stored with status 200; larger than a body limit below Timing.HugeBytes
	ClassAttempt               // fetched at least once; no whole answer with status 200 ever comes
	ClassOptional              // may be fetched: steps of redirect loops, hops out of scope
	ClassDenied                // robots.txt forbids it
	ClassNoHost                // its host has no address
	classCount
)

// String names the class.
func (c Class) String() string {
	return [...]string{"none", "page", "cut", "attempt", "optional", "denied", "nohost"}[c]
}

// class is what is right for a target that was reached.
func (w *World) class(t target) Class {
	switch t.kind {
	case kindNoHost:
		return ClassNoHost
	case kindTrap, kindUnknown, kindGuest, kindRobots, kindRobotsOf:
		return ClassNone
	}
	h := w.hostAt(int(t.host))
	if h.robots.denies() {
		return ClassDenied
	}
	switch t.kind {
	case kindLand:
		return ClassPage
	case kindLoop:
		return ClassOptional
	case kindHop, kindNowhere:
		return ClassAttempt
	}
	f := w.pageAt(&h, int(t.page))
	switch {
	case f.area.denied():
		return ClassDenied
	case f.shape == shapeHuge:
		return ClassCut
	case f.shape.lost():
		return ClassAttempt
	}
	return ClassPage
}

// ExpectOptions says what the crawl was told.
type ExpectOptions struct {
	Seeds    []string              // normal forms
	Scope    func(url string) bool // which URLs are admitted; nil admits all
	MaxDepth int                   // links from a seed; 0 is no limit, below 0 seeds alone
}

// Truth is what a sound crawler does with every URL it can reach. It takes some 50 bytes of memory for a URL, and three
// times that while it is made.
type Truth struct {
	w       *World
	classes map[target]Class
	counts  [classCount]int
}

// Expected walks the model of the world (not its bytes) breadth first from the seeds.
func (w *World) Expected(o ExpectOptions) *Truth {
	t := &Truth{w: w, classes: make(map[target]Class)}
	var level, next []target
	waiting := make(map[target]bool)
	for _, s := range o.Seeds {
		if found, ok := w.find(s); ok && (o.Scope == nil || o.Scope(s)) {
			level = append(level, found)
		}
	}
	var links []link
	for depth := 0; len(level) > 0; depth++ {
		next = next[:0]
		for i := 0; i < len(level); i++ { // redirects make the level longer
			at := level[i]
			if _, done := t.classes[at]; done {
				continue
			}
			c := w.class(at)
			t.set(at, c)
			if c == ClassDenied || c == ClassNoHost || c == ClassNone {
				continue
			}
			h := w.hostAt(int(at.host))
			var f page
			if at.kind == kindPage || at.kind == kindLand {
				f = w.pageAt(&h, int(at.page))
			}
			if to, status := w.redirect(&h, at, &f); status > 0 {
				if o.Scope == nil || o.Scope(string(w.appendURL(nil, to))) {
					level = append(level, to)
				} else if _, done := t.classes[to]; !done && !waiting[to] {
					t.set(to, ClassOptional)
				}
				continue
			}
			if o.MaxDepth != 0 && depth >= o.MaxDepth {
				continue
			}
			links = w.appendLinks(links[:0], &h, at, &f)
			for _, l := range links {
				if _, done := t.classes[l.to]; done || waiting[l.to] {
					continue
				}
				if o.Scope != nil && !o.Scope(string(w.appendURL(nil, l.to))) {
					continue
				}
				waiting[l.to] = true
				next = append(next, l.to)
			}
		}
		clear(waiting)
		level, next = next, level
	}
	return t
}

func (t *Truth) set(at target, c Class) {
	t.classes[at] = c
	t.counts[c]++
}

// Count is the number of URLs of a class.
func (t *Truth) Count(c Class) int { return t.counts[c] }

// Pages is the number of URLs that must be stored with status 200, whole or cut at the body limit.
func (t *Truth) Pages() int { return t.counts[ClassPage] + t.counts[ClassCut] }

// LinksOut is how many different URLs of other hosts a page links to, the mean of all pages: the lambda of the
// UbiCrawler papers. A crawl of n pages has at most n times as many to tell other agents of.
func (t *Truth) LinksOut() float64 {
	pages, out := 0, 0
	var links []link
	abroad := make(map[target]struct{})
	for at, c := range t.classes {
		if c != ClassPage && c != ClassCut {
			continue
		}
		pages++
		h := t.w.hostAt(int(at.host))
		f := t.w.pageAt(&h, int(at.page))
		links = t.w.appendLinks(links[:0], &h, at, &f)
		clear(abroad)
		for _, l := range links {
			if l.to.host != at.host {
				abroad[l.to] = struct{}{}
			}
		}
		out += len(abroad)
	}
	return float64(out) / float64(max(pages, 1))
}

// Tellings is how many URLs the agents of a crawl tell each other at least, if none knows what the others know: each
// agent tells each URL of another's host once that its own pages link to, or that is one of the seeds, which all were
// given. owner is the number of the agent that is responsible for a host, from 0.
func (t *Truth) Tellings(agents int, owner func(host string) int, seeds []string) int {
	of := make([]int, t.w.Hosts())
	for i := range of {
		of[i] = owner(t.w.Host(i))
	}
	type telling struct {
		to   target
		from int
	}
	told := make(map[telling]struct{})
	tell := func(to target, from int) {
		if c := t.classes[to]; c != ClassNone && c != ClassNoHost && of[to.host] != from {
			told[telling{to, from}] = struct{}{}
		}
	}
	for _, s := range seeds {
		if to, ok := t.w.find(s); ok {
			for from := range agents {
				tell(to, from)
			}
		}
	}
	var links []link
	for at, c := range t.classes {
		if c != ClassPage && c != ClassCut {
			continue
		}
		h := t.w.hostAt(int(at.host))
		f := t.w.pageAt(&h, int(at.page))
		links = t.w.appendLinks(links[:0], &h, at, &f)
		for _, l := range links {
			tell(l.to, of[at.host])
		}
	}
	return len(told)
}

// ClassOf says what is right for a URL in normal form.
func (t *Truth) ClassOf(url string) Class {
	at, ok := t.w.find(url)
	if !ok {
		return ClassNone
	}
	return t.classes[at]
}

// All yields every URL reached with its class, in no order.
func (t *Truth) All() iter.Seq2[string, Class] {
	return func(yield func(string, Class) bool) {
		for at, c := range t.classes {
			if !yield(string(t.w.appendURL(nil, at)), c) {
				return
			}
		}
	}
}

// Payload returns the bytes that a whole answer with status 200 carries as its payload, without chunking, with content
// encoding, for a client that says that it accepts gzip or one that says nothing. ok is false if the URL has no such
// answer.
func (w *World) Payload(url string, gzip bool) (payload []byte, ok bool) {
	t, ok := w.find(url)
	if !ok {
		return nil, false
	}
	return w.payload(nil, new(doc), t, gzip)
}

func (w *World) payload(dst []byte, d *doc, t target, gzip bool) ([]byte, bool) {
	if t.kind != kindPage && t.kind != kindLand {
		return dst, false
	}
	h := w.hostAt(int(t.host))
	f := w.pageAt(&h, int(t.page))
	if t.kind == kindPage && f.shape.lost() {
		return dst, false
	}
	at := len(dst)
	dst = w.appendBody(dst, d, &h, t, &f)
	shape := f.shape
	if t.kind == kindLand {
		shape = shapePlain
	}
	switch {
	case shape == shapeGzip:
		dst = append(dst[:at], gzipped(dst[at:])...)
	case gzip && h.packs(&f, shape):
		d.packed = d.packer.gzip(d.packed[:0], dst[at:], d.marks)
		dst = append(dst[:at], d.packed...)
	}
	return dst, true
}
