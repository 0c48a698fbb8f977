package fetch

import (
	"io"

	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/net/fetch/framing"
)

// SearchMax is how many bytes at the start of a response are searched for links, content encodings included.
const SearchMax = 16 << 20

// rest is the part of a response that is not in Page.Raw. The zero rest is empty.
type rest struct {
	file   *bodyfile.File // nil: there is none, or only its size is known since the response comes from an archive
	size   int64
	fault  error  // of the disk
	joined []byte // payload at the start of the response; nil until Payload is called
}

// remove removes the file.
func (r *rest) remove() {
	if r.file != nil {
		r.file.Remove()
		r.file = nil
	}
	*r = rest{}
}

// Size returns the length of the response in bytes.
func (p *Page) Size() int64 { return int64(len(p.Raw)) + p.rest.size }

// Rest returns the part of the response that comes after Raw, and its length in bytes: 0 if Raw is all. The bytes of a
// page that a Restorer made cannot be read. They belong to the Page and are removed with it.
func (p *Page) Rest() (io.ReaderAt, int64) { return p.rest.file, p.rest.size }

// RestFault returns the error if the Rest could not be written, or if Payload could not read it. It ends the crawl.
func (p *Page) RestFault() error { return p.rest.fault }

// IsSearchedWhole reports whether Payload returns the whole payload.
func (p *Page) IsSearchedWhole() bool { return p.Size() <= SearchMax }

// payloadWithRest is Payload for a page with a Rest.
func (p *Page) payloadWithRest() []byte {
	if p.rest.joined == nil {
		p.rest.joined = p.joinStart()
	}
	return p.rest.joined
}

// joinStart returns the payload in the first SearchMax bytes of the response, in memory of its own.
func (p *Page) joinStart() []byte {
	start := make([]byte, min(p.Size(), SearchMax))
	n := copy(start, p.Raw)
	if n < len(start) && p.rest.file != nil {
		more, err := p.rest.file.ReadAt(start[n:], 0)
		if n += more; n < len(start) {
			p.rest.fault = err
		}
	}
	body := start[min(p.HeadLen, n):n]
	if !p.payload.chunked {
		return body
	}
	payload := body[:0] // the payload of a byte is never behind it
	eachPayload(body, func(data []byte) { payload = append(payload, data...) })
	return payload
}

// eachPayload calls f for each run of payload in the start of a chunked body.
func eachPayload(body []byte, f func(data []byte)) {
	var frame framing.Framer
	frame.Init(framing.Chunked, framing.Unlimited())
	for len(body) > 0 && frame.End == framing.NotEnded {
		n, data := frame.Next(body)
		f(data)
		body = body[n:]
	}
}
