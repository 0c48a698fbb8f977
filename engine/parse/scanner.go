// Package parse finds links in bodies.
package parse

import (
	"bytes"

	"golang.org/x/net/html"
)

// Scanner reads one body at a time. It is not safe for concurrent use: each worker has its own.
type Scanner struct {
	o   Options
	res Result
}

// NewScanner returns a Scanner. It panics if o, after WithDefaults, does not validate.
func NewScanner(o Options) *Scanner {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	return &Scanner{o: o}
}

// Scan reads a body (borrowed) whose content encoding is already undone. contentType is the header's value and may be
// empty. The Result is valid until the next Scan. An error means that the body could not be read at all.
func (s *Scanner) Scan(body, contentType []byte) (*Result, error) {
	s.res.reset()
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		tt := z.Next()
		if tt == html.ErrorToken {
			return &s.res, nil
		}
		if tt != html.StartTagToken && tt != html.SelfClosingTagToken {
			continue
		}
		for _, a := range z.Token().Attr {
			if a.Key == "href" && len(s.res.Links) < s.o.LinksMax {
				s.res.Links = append(s.res.Links, Link{Ref: []byte(a.Val)})
			}
		}
	}
}
