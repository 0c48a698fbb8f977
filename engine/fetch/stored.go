package fetch

import (
	"math"

	"orbweaver/internal/sha1pair"
)

// Stored makes a Page from an archived response: block is head and body as received. It takes url and block, of any
// length. It reads block as Fetch reads a connection, with the same framing rules. It drops line ends before the status
// line and bytes after the body, and sets interim heads aside.
//
// The Page belongs to no Pool and must not be Put; otherwise it is used like a fetched one. It has no request,
// addresses and times. Outcome, Complete, Truncation and Digest are those of a server that closed the connection after
// block. So a body that is framed by the close looks complete even if it was truncated; the record's WARC-Truncated
// tells.
//
// It returns false if block does not begin with a complete HTTP head.
func Stored(url, block []byte) (*Page, bool) {
	return NewRestorer().Stored(url, block)
}

// Restorer is Stored for many blocks: it reuses its memory.
type Restorer struct {
	parsers codecs
	sums    *sha1pair.Hasher
}

// NewRestorer returns a Restorer.
func NewRestorer() *Restorer { return &Restorer{sums: sha1pair.NewHasher()} }

// Stored is the function of that name.
func (r *Restorer) Stored(url, block []byte) (*Page, bool) {
	p := &Page{URL: url, Raw: block}
	info, ok := r.findHead(p)
	if !ok {
		return nil, false
	}
	p.Status, p.Flags = info.status, info.flags
	var body bodyScan
	body.start(p, info, bodyLimits{bodyMax: math.MaxInt64, rawBodyMax: math.MaxInt64})
	body.consume(p)
	body.frame.eof()
	body.truncate(p)
	body.judge(p)
	p.Sum(r.sums)
	p.Outcome = body.conclude(p)
	return p, true
}

// findHead finds the head of the final response in Raw, and drops what comes before.
func (r *Restorer) findHead(p *Page) (headInfo, bool) {
	unlimited := Options{HeaderMax: math.MaxInt, HeaderLineMax: math.MaxInt, HeaderCount: math.MaxInt - 1}
	for {
		p.Raw = p.Raw[blankLines(p.Raw, blankMax):]
		var scan headScan
		n, state := scan.findEnd(p.Raw, &unlimited)
		if state != headWhole {
			return headInfo{}, false
		}
		info, cause := r.parsers.parseHead(p.Raw[:n])
		switch {
		case cause != "":
			return headInfo{}, false
		case !info.interim():
			p.HeadLen = n
			return info, true
		}
		p.Interim = append(p.Interim, p.Raw[:n]...)
		p.Raw = p.Raw[n:]
	}
}
