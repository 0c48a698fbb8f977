package filter

// Fetch says which URLs, taken from the frontier, may be asked for now. It is safe for concurrent use.
type Fetch struct {
	predicate[fetchFacts]
	need urlNeeds
}

type fetchFacts struct {
	urlFacts
	Try int `expr:"try"`
}

// CompileFetch compiles all, none or an expression. It keeps seeds, which may be nil when there are none.
func CompileFetch(text string, seeds *Seeds) (*Fetch, error) {
	f := new(Fetch)
	if err := f.compile(text, false, seeds); err != nil {
		return nil, err
	}
	f.need = f.asks.ofURL()
	return f, nil
}

// Allows says whether a URL in normal form (borrowed) may be asked for, for the try-th time after the first.
func (f *Fetch) Allows(url []byte, way Way, try int) bool {
	if f.program == nil {
		return f.answer
	}
	p, ok := split(url)
	if !ok {
		return false
	}
	e := f.begin()
	e.facts.fill(url, p, way, f.need, f.seeds)
	e.facts.Try = try
	return f.end(e)
}
