package novelty

import (
	"bytes"
	"strings"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/urlx"
)

const (
	learnSame   = 8   // pages that are the same with another value of a parameter, before it is known to say nothing
	learnDiffer = 8   // of so many, one may differ
	learnParams = 16  // parameters of a site that are looked at
	learnPages  = 256 // pages that are remembered
	learnOf     = 4   // parameters of one URL
	learnFirst  = 256 // pages with parameters that are all read
	learnWords  = 4   // words that a page must have
	learnBytes  = learnParams*80 + learnPages*24
)

// learner finds the parameters of a site that do not change what its pages say.
type learner struct {
	params []param
	pages  [learnPages]variant
	taken  int          // pages
	silent *urlx.Params // what was found; nil if nothing was
}

type param struct {
	name         string
	same, differ int
}

// variant is a page without one of its parameters, as it was met last.
type variant struct {
	key         uint64
	value, text uint32
	counted     bool // for its parameter: one page is one witness
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
		if p == nil {
			return
		}
		key := mix(xxh3.HashSeed(path[:from], seed) + 3*xxh3.HashSeed(path[end:], seed) + xxh3.HashSeed(name, seed+1))
		now := variant{key: key, value: uint32(xxh3.HashSeed(value, seed)), text: uint32(text)}
		was := &l.pages[key%learnPages]
		switch {
		case was.key != key:
		case was.value == now.value:
			now.counted = was.counted
		case was.text != now.text:
			p.differ++
			now.counted = was.counted
		case !was.counted:
			p.same++
			now.counted = true
			found = found || p.same >= learnSame && p.differ*learnDiffer <= p.same
		default:
			now.counted = true
		}
		*was = now
	})
	if found {
		l.find()
	}
	return found
}

// param gives the parameter of a name, nil if there are too many.
func (l *learner) param(name []byte) *param {
	if bytes.ContainsAny(name, "*#") {
		return nil
	}
	for i := range l.params {
		if strings.EqualFold(l.params[i].name, string(name)) {
			return &l.params[i]
		}
	}
	if len(l.params) == learnParams {
		return nil
	}
	l.params = append(l.params, param{name: strings.ToLower(string(name))})
	return &l.params[len(l.params)-1]
}

// find makes the list of what says nothing.
func (l *learner) find() {
	var names []string
	for _, p := range l.params {
		if p.same >= learnSame && p.differ*learnDiffer <= p.same {
			names = append(names, p.name)
		}
	}
	if silent, err := urlx.NewParams(names); err == nil {
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
