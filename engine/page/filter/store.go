package filter

// Store decides which pages are stored. It is safe for concurrent use.
type Store struct {
	predicate[storeFacts]
}

type storeFacts struct {
	parseFacts
	Duplicate   bool   `expr:"duplicate"`
	NeedsRender bool   `expr:"needs_render"`
	Via         string `expr:"via"`
}

// CompileStore compiles all, none or an expression. It keeps seeds, which may be nil if there are none.
func CompileStore(text string, seeds *Seeds) (*Store, error) {
	f := new(Store)
	if err := f.compile(text, true, seeds); err != nil {
		return nil, err
	}
	return f, nil
}

// Keeps reports whether a page is stored. It borrows its arguments.
func (f *Store) Keeps(url []byte, way Way, r *Response) bool {
	if f.program == nil {
		return f.answer
	}
	p, ok := split(url)
	if !ok {
		return f.cautious
	}
	e := f.begin()
	facts := &e.facts
	facts.fill(url, p, way, f.need, f.seeds)
	facts.fillResponse(r)
	facts.Duplicate, facts.NeedsRender, facts.Via = r.Duplicate, r.NeedsRender, ""
	if f.AsksVia() {
		facts.Via = string(r.Via)
	}
	return f.end(e)
}
