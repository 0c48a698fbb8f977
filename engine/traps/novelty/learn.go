package novelty

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/urlx"
)

const (
	learnSame   = 8   // pages that must be equal with another value of a parameter, before it counts as irrelevant
	learnDiffer = 8   // for this many equal pages, one may differ
	learnParams = 16  // parameters of a site that are examined
	learnPages  = 512 // pages that are remembered
	learnOf     = 4   // parameters of one URL that are examined
	learnFirst  = 256 // first pages with parameters, which are all read
	learnWords  = 4   // words that a page must have
	learnBytes  = learnParams*(96+8*learnSame) + learnPages*16
)

// learner finds the parameters of a site that do not change the text of its pages. It begins with the first page that
// has parameters, and takes no memory before.
type learner struct {
	params       []param
	pages        *[learnPages]variant
	withoutParam []byte       // buffer: a path without one of its parameters
	pageCount    int          // pages with parameters so far
	irrelevant   *urlx.Params // the irrelevant parameters; nil if there are none
}

type param struct {
	name        string
	witnesses   []uint64 // pages that were equal with another value, at most learnSame; each counts once
	differences int      // pages that were not
}

// variant is the last seen form of a page without one of its parameters.
type variant struct {
	key         uint64
	value, text uint32
}

// eachParam calls f for the parameters of a path with query, with their offsets. Parameters without a name are passed
// over.
func eachParam(path []byte, f func(from, end int, name, value []byte)) {
	query := bytes.IndexByte(path, '?')
	for i, n := 0, 0; i < len(path) && n < learnOf; {
		c := path[i]
		asked := query >= 0 && i >= query
		if !(asked && (c == '?' || c == '&') || !asked && c == ';') {
			i++
			continue
		}
		end := i + 1
		for end < len(path) && path[end] != '&' && (asked || path[end] != ';' && path[end] != '/' && path[end] != '?') {
			end++
		}
		name, value, _ := bytes.Cut(path[i+1:end], []byte{'='})
		if len(name) > 0 && len(name) <= 40 {
			f(i, end, name, value)
			n++
		}
		i = end
	}
}

// hasParams reports whether a path contains parameters.
func hasParams(path []byte) bool { return bytes.ContainsAny(path, "?;") }

// hasBegun reports whether a page with parameters was added.
func (l *learner) hasBegun() bool { return l.pageCount > 0 }

// addPage adds a page, and reports whether one more parameter has become irrelevant.
func (l *learner) addPage(seed uint64, path []byte, text uint64) (found bool) {
	if !l.hasBegun() {
		l.pages = new([learnPages]variant)
	}
	l.pageCount++
	eachParam(path, func(from, end int, name, value []byte) {
		p := l.paramIndex(name)
		if p < 0 {
			return
		}
		l.withoutParam = append(append(l.withoutParam[:0], path[:from]...), path[end:]...)
		one := &l.params[p]
		if l.compare(xxh3.HashSeed(l.withoutParam, seed), xxh3.HashSeed(value, seed+uint64(p))|1, text, p) {
			found = found || one.isIrrelevant()
		}
	})
	if found {
		l.updateIrrelevant()
	}
	return found
}

// addPlainPage adds a page without parameters, with which pages without their parameter are compared.
func (l *learner) addPlainPage(seed uint64, path []byte, text uint64) {
	l.compare(xxh3.HashSeed(path, seed), 0, text, -1)
}

// compare compares a page with the last one under the same key, and reports whether it is one more witness for its
// parameter.
func (l *learner) compare(key, value, text uint64, p int) (witness bool) {
	now := variant{key: key, value: uint32(value), text: uint32(text)}
	was := &l.pages[key%learnPages]
	if was.key == key {
		switch {
		case p < 0 || was.value == now.value:
		case was.text != now.text:
			one := &l.params[p]
			was := one.isIrrelevant()
			if one.differences++; was && !one.isIrrelevant() {
				l.updateIrrelevant() // the parameter is relevant after all
			}
		default:
			witness = l.params[p].addWitness(key)
		}
	}
	*was = now
	return witness
}

// addWitness adds a page that was equal with another value, and reports whether it is a new witness.
func (p *param) addWitness(key uint64) bool {
	if len(p.witnesses) >= learnSame || slices.Contains(p.witnesses, key) {
		return false
	}
	p.witnesses = append(p.witnesses, key)
	return true
}

// isIrrelevant reports whether enough pages were equal with another value, and almost none differed.
func (p *param) isIrrelevant() bool {
	return len(p.witnesses) >= learnSame && p.differences*learnDiffer <= learnSame
}

// paramIndex returns the index of a parameter by name, or -1 if there are too many.
func (l *learner) paramIndex(name []byte) int {
	if bytes.ContainsAny(name, "*#") || bytes.EqualFold(name, []byte("session")) ||
		bytes.EqualFold(name, []byte("tracking")) {
		return -1 // urlx.NewParams would read these as more than one name
	}
	for i := range l.params {
		if strings.EqualFold(l.params[i].name, string(name)) {
			return i
		}
	}
	if len(l.params) == learnParams {
		return -1
	}
	l.params = append(l.params, param{name: strings.ToLower(string(name))})
	return len(l.params) - 1
}

// chainOf returns the keys of a path with query.
func (l *learner) chainOf(seed, group uint64, path []byte) chain {
	return chainOf(seed, group, path, l.isCopy(path))
}

// isCopy reports whether a path has a parameter that does not change its page.
func (l *learner) isCopy(path []byte) (found bool) {
	if l.irrelevant != nil {
		eachParam(path, func(_, _ int, name, _ []byte) { found = found || l.irrelevant.Has(name) })
	}
	return found
}

// updateIrrelevant makes the set of irrelevant parameters.
func (l *learner) updateIrrelevant() {
	var names []string
	for _, p := range l.params {
		if p.isIrrelevant() {
			names = append(names, p.name)
		}
	}
	l.irrelevant = nil
	if silent, err := urlx.NewParams(names); err == nil && len(names) > 0 {
		l.irrelevant = silent
	}
}

// textHash returns a hash of the set of words and images, and whether there are enough words.
func (w *Words) textHash() (sum uint64, enough bool) {
	sum = w.images
	for _, h := range w.single {
		sum += mix(h)
	}
	for _, f := range w.figures {
		sum += mix(f.word)
	}
	return sum, len(w.single)+len(w.figures) >= learnWords
}
