package fetch

import (
	"crypto/sha1"
	"math"
)

// Stored makes a Page of a response that was archived: block (which it keeps) is head and body as they came over the
// wire. It belongs to no Pool and must not be Put; Payload, Decoded and the header views work as on a fetched Page.
// False says that block does not begin with a whole HTTP head.
func Stored(url, block []byte) (*Page, bool) {
	o := Options{}.WithDefaults()
	o.HeaderMax, o.HeaderLineMax, o.HeaderCount = math.MaxInt, math.MaxInt, math.MaxInt-1
	var scan headScan
	n, state := scan.look(block, &o)
	if state != headWhole {
		return nil, false
	}
	info, cause := new(codecs).parseHead(block[:n])
	if cause != "" && info.status == 0 {
		return nil, false
	}
	p := &Page{URL: url, Raw: block, HeadLen: n, Status: info.status}
	var f framer
	f.init(bodyKind(info), limits{payload: math.MaxInt64, raw: math.MaxInt64})
	if f.kind == frameLength {
		f.setLength(info.length)
	}
	p.Chunked = f.kind == frameChunked
	payload := []byte{}
	for b := p.Body(); len(b) > 0 && f.end == endNone; {
		n, data := f.next(b)
		payload = append(payload, data...)
		b = b[n:]
	}
	f.eof()
	p.Complete = f.end == endWhole
	p.PayloadLen = int64(len(payload))
	p.payload, p.runs = payload, 2 // put together already
	if p.Complete {
		p.Digest = sha1.Sum(payload)
	}
	return p, true
}
