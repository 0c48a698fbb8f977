package filter

// Fetch decides which queued URLs may be fetched now. It is safe for concurrent use.
type Fetch struct {
	predicate[fetchFacts]
}

type fetchFacts struct {
	urlFacts
	Try int    `expr:"try"`
	Via string `expr:"via"`
}

// CompileFetch compiles all, none or an expression. It keeps seeds, which may be nil if there are none.
func CompileFetch(text string, seeds *Seeds) (*Fetch, error) {
	f := new(Fetch)
	if err := f.compile(text, false, seeds); err != nil {
		return nil, err
	}
	return f, nil
}

// Allows reports whether a normal form may be fetched. try is the number of earlier attempts, via the URL of the page
// with the link, if it is kept. It borrows its arguments.
func (f *Fetch) Allows(url []byte, way Way, try int, via []byte) bool {
	if f.program == nil {
		return f.answer
	}
	p, ok := split(url)
	if !ok {
		return false
	}
	e := f.begin()
	e.facts.fill(url, p, way, f.need, f.seeds)
	e.facts.Try, e.facts.Via = try, ""
	if f.AsksVia() {
		e.facts.Via = string(via)
	}
	return f.end(e)
}
