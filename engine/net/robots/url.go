package robots

import (
	"bytes"
	"errors"

	"orbweaver/internal/urlx"
)

// ExplainURL is Explain for a URL or path as a person wrote it: for its normal form, and for its path as written if
// that contains non-ASCII characters. The only errors are those of urlx, for input that is no http or https URL. It
// borrows raw.
func (r *Rules) ExplainURL(raw []byte) (Explanation, error) {
	written := Path(raw)
	url, err := urlx.Normalize(nil, raw)
	switch {
	case err == nil:
		_, path := urlx.Split(url)
		v := r.Explain(path)
		if v.Allowed && !isASCII(written) {
			v = r.Explain(written)
		}
		return v, nil
	case errors.Is(err, urlx.ErrTooLong), errors.Is(err, urlx.ErrRelative) && (len(raw) == 0 || raw[0] == '/'):
		return r.Explain(written), nil // the crawl never fetches such a URL, but the rules decide about it
	}
	return Explanation{}, err
}

// Path returns the part of a URL that rules are matched against: everything after the authority, without the fragment.
// It borrows url and allocates only to add a leading slash. Without a path it returns "/".
func Path(url []byte) []byte {
	fragment := bytes.IndexByte(url, '#')
	if fragment >= 0 {
		url = url[:fragment]
	}
	start := 0
	if bytes.HasPrefix(url, []byte("//")) {
		start = 2
	}
	scheme := bytes.Index(url[start:], []byte("://"))
	if first := bytes.IndexAny(url[start:], "/?;"); scheme >= 0 && first > scheme {
		start += scheme + len("://")
	}
	at := bytes.IndexAny(url[start:], "/?;")
	switch {
	case at < 0:
		return []byte("/")
	case url[start+at] == '/':
		return url[start+at:]
	}
	return append([]byte("/"), url[start+at:]...)
}
