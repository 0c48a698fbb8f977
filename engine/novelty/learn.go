package novelty

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/urlx"
)

const (
	learnSame   = 8   // pages that are the same with another value of a parameter, before it is known to say nothing
	learnDiffer = 8   // for so many of these, one may differ
	learnParams = 16  //  parameters of a site that are looked at
	learnPages  = 512 // pages that are remembered
	learnOf     = 4   // parameters of one URL
	learnFirst  = 256 // pages with parameters that are all read
	learnWords  = 4   // words that a page must have
	learnBytes  = learnParams*(96+8*learnSame) + learnPages*16
)

// learner finds the parameters of a site that do not change what its pages say.
type learner struct {
	params []param
	pages  [learnPages]variant
	rest   []byte       // of a path without a parameter
	taken  int          // pages
	silent *urlx.Params // what was found; nil if nothing was
}

type param struct {
	name   string
	same   []uint64 // pages that were, up to learnSame: each is one witness, however often it is met
	differ int      // times that a page was not
}

// variant is a page without one of its parameters, as it was met last.
type variant struct {
	key         uint64
	value, text uint32
}

// eachParam calls f for the parameters of a path with query, with the bytes from which to which they stand; name is empty for none.
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

// hasParams says that there is something to learn from a path.
func hasParams(path []byte) bool { return bytes.ContainsAny(path, "?;") }

// learn takes a page, and says whether one more parameter is known to say nothing.
func (l *learner) learn(seed uint64, path []byte, text uint64) (found bool) {
	l.taken++
	eachParam(path, func(from, end int, name, value []byte) {
		p := l.param(name)
		if p < 0 {
			return
		}
		l.rest = append(append(l.rest[:0], path[:from]...), path[end:]...)
		one := &l.params[p]
		if l.compare(xxh3.HashSeed(l.rest, seed), xxh3.HashSeed(value, seed+uint64(p))|1, text, p) {
			found = found || one.silent()
		}
	})
	if found {
		l.find()
	}
	return found
}

// plain takes a page without parameters: what others are without theirs.
func (l *learner) plain(seed uint64, path []byte, text uint64) {
	l.compare(xxh3.HashSeed(path, seed), 0, text, -1)
}

// compare holds a page against what was met last under the same name, and says whether it is one more witness for its parameter.
func (l *learner) compare(key, value, text uint64, p int) (witness bool) {
	now := variant{key: key, value: uint32(value), text: uint32(text)}
	was := &l.pages[key%learnPages]
	if was.key == key {
		switch {
		case p < 0 || was.value == now.value:
		case was.text != now.text:
			one := &l.params[p]
			was := one.silent()
			if one.differ++; was && !one.silent() {
				l.find() // it says something after all
			}
		default:
			witness = l.params[p].witness(key)
		}
	}
	*was = now
	return witness
}

// witness counts a page that was the same with another value, and says whether it is a new one.
func (p *param) witness(key uint64) bool {
	if len(p.same) >= learnSame || slices.Contains(p.same, key) {
		return false
	}
	p.same = append(p.same, key)
	return true
}

// silent says that enough pages were the same with another value, and next to none was not.
func (p *param) silent() bool { return len(p.same) >= learnSame && p.differ*learnDiffer <= learnSame }

// param gives the place of the parameter of a name, less than 0 if there are too many.
func (l *learner) param(name []byte) int {
	if bytes.ContainsAny(name, "*#") || bytes.EqualFold(name, []byte("session")) || bytes.EqualFold(name, []byte("tracking")) {
		return -1 // to urlx these are more than one name
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

// find makes the list of what says nothing.
func (l *learner) find() {
	var names []string
	for _, p := range l.params {
		if p.silent() {
			names = append(names, p.name)
		}
	}
	l.silent = nil
	if silent, err := urlx.NewParams(names); err == nil && len(names) > 0 {
		l.silent = silent
	}
}

// sum says which text it is.
func (w *Words) sum() (sum uint64, enough bool) {
	for _, h := range w.single {
		sum += mix(h)
	}
	return sum, len(w.single) >= learnWords
}
