package filter

// Fetch says which URLs, taken from the frontier, may be asked for now. It is safe for concurrent use.
type Fetch struct {
	predicate[fetchFacts]
}

type fetchFacts struct {
	urlFacts
	Try int    `expr:"try"`
	Via string `expr:"via"`
}

// CompileFetch compiles all, none or an expression. It keeps seeds, which may be nil when there are none.
func CompileFetch(text string, seeds *Seeds) (*Fetch, error) {
	f := new(Fetch)
	if err := f.compile(text, false, seeds); err != nil {
		return nil, err
	}
	return f, nil
}

// Allows says whether a URL in normal form may be asked for, for the try-th time after the first. via is the URL of the page
// that led to it, if that is kept. It borrows.
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
