package filter

import "orbweaver/internal/mediatype"

// Parse decides which pages are searched for links. It is safe for concurrent use.
type Parse struct {
	predicate[parseFacts]
}

type parseFacts struct {
	urlFacts
	Status      int    `expr:"status"`
	ContentType string `expr:"content_type"`
	Size        int64  `expr:"size"`
	Truncated   bool   `expr:"truncated"`
}

func (f *parseFacts) fillResponse(r *Response) {
	f.Status, f.ContentType, f.Size, f.Truncated = r.Status, mediatype.Essence(r.ContentType), r.Size, r.Truncated
}

// CompileParse compiles all, none or an expression. It keeps seeds, which may be nil if there are none.
func CompileParse(text string, seeds *Seeds) (*Parse, error) {
	f := new(Parse)
	if err := f.compile(text, true, seeds); err != nil {
		return nil, err
	}
	return f, nil
}

// Reads reports whether a page is searched for links. It borrows its arguments.
func (f *Parse) Reads(url []byte, way Way, r *Response) bool {
	if f.program == nil {
		return f.answer
	}
	p, ok := split(url)
	if !ok {
		return f.cautious
	}
	e := f.begin()
	e.facts.fill(url, p, way, f.need, f.seeds)
	e.facts.fillResponse(r)
	return f.end(e)
}
