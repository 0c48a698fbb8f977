package judge

import (
	"iter"

	"orbweaver/internal/simweb"
)

// ExpectOptions says what the crawl was told.
type ExpectOptions struct {
	Seeds    []string              // normal forms
	Scope    func(url string) bool // which URLs are admitted; nil admits all
	MaxDepth int                   // links from a seed; 0 is no limit, below 0 seeds alone
}

// Truth is what a sound crawler does with every URL it can reach. It takes some 50 bytes of memory for a URL, and three
// times that while it is made.
type Truth struct {
	model   *simweb.Model
	classes map[simweb.Target]Class
	partial bool // no URL was walked: each has the class that it has if it is reached
	counts  [classCount]int
}

// Expected walks a model, not its bytes, breadth first from the seeds.
func Expected(m *simweb.Model, o ExpectOptions) *Truth {
	t := &Truth{model: m, classes: make(map[simweb.Target]Class)}
	var level, next []simweb.Target
	waiting := make(map[simweb.Target]bool)
	for _, s := range o.Seeds {
		if found, ok := m.Find(s); ok && (o.Scope == nil || o.Scope(s)) {
			level = append(level, found)
		}
	}
	var links []simweb.Link
	for depth := 0; len(level) > 0; depth++ {
		next = next[:0]
		for i := 0; i < len(level); i++ { // redirects make the level longer
			at := level[i]
			if _, done := t.classes[at]; done {
				continue
			}
			c := Of(m, at)
			t.set(at, c)
			if c == ClassDenied || c == ClassNoHost || c == ClassNone {
				continue
			}
			h := m.HostAt(int(at.Host))
			var f simweb.Page
			if at.Kind == simweb.KindPage || at.Kind == simweb.KindLand {
				f = h.PageAt(int(at.Page))
			}
			if to, status := h.Redirect(at, &f); status > 0 {
				if o.Scope == nil || o.Scope(string(m.AppendURL(nil, to))) {
					level = append(level, to)
				} else if _, done := t.classes[to]; !done && !waiting[to] {
					t.set(to, ClassOptional)
				}
				continue
			}
			if o.MaxDepth != 0 && depth >= o.MaxDepth {
				continue
			}
			links = h.AppendLinks(links[:0], at, &f)
			for _, l := range links {
				if _, done := t.classes[l.Target]; done || waiting[l.Target] {
					continue
				}
				if o.Scope != nil && !o.Scope(string(m.AppendURL(nil, l.Target))) {
					continue
				}
				waiting[l.Target] = true
				next = append(next, l.Target)
			}
		}
		clear(waiting)
		level, next = next, level
	}
	return t
}

func (t *Truth) set(at simweb.Target, c Class) {
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
	var links []simweb.Link
	abroad := make(map[simweb.Target]struct{})
	for at, c := range t.classes {
		if c != ClassPage && c != ClassCut {
			continue
		}
		pages++
		h := t.model.HostAt(int(at.Host))
		f := h.PageAt(int(at.Page))
		links = h.AppendLinks(links[:0], at, &f)
		clear(abroad)
		for _, l := range links {
			if l.Target.Host != at.Host {
				abroad[l.Target] = struct{}{}
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
	of := make([]int, t.model.Hosts())
	for i := range of {
		of[i] = owner(t.model.Host(i))
	}
	type telling struct {
		to   simweb.Target
		from int
	}
	told := make(map[telling]struct{})
	tell := func(to simweb.Target, from int) {
		if c := t.classes[to]; c != ClassNone && c != ClassNoHost && of[to.Host] != from {
			told[telling{to, from}] = struct{}{}
		}
	}
	for _, s := range seeds {
		if to, ok := t.model.Find(s); ok {
			for from := range agents {
				tell(to, from)
			}
		}
	}
	var links []simweb.Link
	for at, c := range t.classes {
		if c != ClassPage && c != ClassCut {
			continue
		}
		h := t.model.HostAt(int(at.Host))
		f := h.PageAt(int(at.Page))
		links = h.AppendLinks(links[:0], at, &f)
		for _, l := range links {
			tell(l.Target, of[at.Host])
		}
	}
	return len(told)
}

func (t *Truth) classOf(at simweb.Target) Class {
	if at.Kind == simweb.KindTrap && (at.Step == simweb.ScriptTrap || at.Step == simweb.ScriptURLTrap) {
		return ClassOptional // speculative links of a crawler may lead there
	}
	if t.partial {
		return Of(t.model, at)
	}
	if c := t.classes[at]; c != ClassNone || at.Kind != simweb.KindPage {
		return c
	}
	root := at
	root.Page = 0
	if c := Of(t.model, at); c == ClassUnlinked && t.classes[root] == ClassPage {
		return c
	}
	return ClassNone
}

// unlinked counts the pages that no page links to, at hosts that are reached.
func (t *Truth) unlinked() (n int) {
	if t.model.Config().Unlinked == 0 {
		return 0
	}
	for i := range t.model.Hosts() {
		if t.partial || t.classes[simweb.Target{Host: int32(i)}] == ClassPage {
			n += t.model.UnlinkedOf(i)
		}
	}
	return n
}

// ClassOf says what is right for a URL in normal form.
func (t *Truth) ClassOf(url string) Class {
	at, ok := t.model.Find(url)
	if !ok {
		return ClassNone
	}
	return t.classOf(at)
}

// All yields every URL reached with its class, in no order.
func (t *Truth) All() iter.Seq2[string, Class] {
	return func(yield func(string, Class) bool) {
		for at, c := range t.classes {
			if !yield(string(t.model.AppendURL(nil, at)), c) {
				return
			}
		}
	}
}
