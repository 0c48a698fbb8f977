package fetch

import (
	"math"

	"orbweaver/internal/sha1pair"
)

// Stored makes a Page of a response that was archived: block is head and body as they came over the wire. It takes url and
// block, of any length, and reads block as Fetch reads a connection, with the same rules for framing: what Fetch drops
// (line ends before the status line, what follows the body) or sets aside (interim heads) it drops and sets aside too.
//
// The Page belongs to no Pool and must not be Put; it is otherwise used like a fetched one. It knows only what the bytes
// tell. There are no request, no addresses and no times: who asks for RetryAfter sets Ended first. Outcome, Complete, Cut
// and Digest are those of a server that closed the connection after block, so a body framed by that close looks whole even
// if it was cut; WARC-Truncated of its record says that it was.
//
// False says that block does not begin with a whole HTTP head, and there is no Page.
func Stored(url, block []byte) (*Page, bool) {
	var r Restorer
	return r.Stored(url, block)
}

// Restorer is Stored for who has many blocks: what it takes to read one serves the next. The zero value is ready.
type Restorer struct {
	parsers codecs
	sums    *sha1pair.Hasher
}

// Stored is the function of that name.
func (r *Restorer) Stored(url, block []byte) (*Page, bool) {
	p := &Page{URL: url, Raw: block}
	info, ok := p.storedHead(&r.parsers)
	if !ok {
		return nil, false
	}
	p.Status, p.Flags = info.status, info.flags
	var f framer
	p.startBody(&f, info, limits{payload: math.MaxInt64, raw: math.MaxInt64})
	at := p.consume(&f, p.HeadLen)
	f.eof()
	p.endBody(&f, at)
	p.judge(&f, info)
	if r.sums == nil {
		r.sums = sha1pair.NewHasher()
	}
	p.Sum(r.sums)
	p.Outcome = p.conclude(&f, info)
	return p, true
}

// storedHead finds the head of the final response in Raw, and drops what comes before.
func (p *Page) storedHead(parsers *codecs) (headInfo, bool) {
	unlimited := Options{HeaderMax: math.MaxInt, HeaderLineMax: math.MaxInt, HeaderCount: math.MaxInt - 1}
	for {
		p.Raw = p.Raw[blankLines(p.Raw, blankMax):]
		var scan headScan
		n, state := scan.look(p.Raw, &unlimited)
		if state != headWhole {
			return headInfo{}, false
		}
		info, cause := parsers.parseHead(p.Raw[:n])
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
