package fetch

import (
	"io"
	"math"

	"orbweaver/engine/net/fetch/framing"
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
	body.start(p, info, framing.Unlimited())
	body.consume(p)
	body.frame.EOF()
	body.truncate(p)
	body.judge(p)
	p.Sum(r.sums)
	p.Outcome = body.conclude(p)
	return p, true
}

// Restore is Stored for a block that may be too long for memory: it reads block to its end, and keeps its first
// SearchMax bytes. Digests and framing are those of the whole block. size is the expected length of the block. The
// error is that of block.
func (r *Restorer) Restore(url []byte, block io.Reader, size int64) (*Page, bool, error) {
	start, isAll, err := readStart(block, size)
	if err != nil {
		return nil, false, err
	}
	if isAll {
		p, ok := r.Stored(url, start)
		return p, ok, nil
	}
	p := &Page{URL: url, Raw: start}
	info, ok := r.findHead(p)
	if !ok {
		_, err := io.Copy(io.Discard, readerOnly{block})
		return nil, false, err //nolint:wrapcheck // the caller's own
	}
	p.Status, p.Flags = info.status, info.flags
	var body bodyScan
	body.start(p, info, framing.Unlimited())
	body.consume(p)
	if body.frame.End != framing.NotEnded { // what follows does not belong to it
		body.truncate(p)
		_, err = io.Copy(io.Discard, readerOnly{block})
	} else {
		err = r.restoreRest(p, &body, block)
	}
	if err != nil {
		return nil, false, err //nolint:wrapcheck // the caller's own
	}
	body.frame.EOF()
	body.truncate(p)
	body.judge(p)
	p.Sum(r.sums)
	p.Outcome = body.conclude(p)
	return p, true, nil
}

// restoreRest reads the rest of a block, and computes the digests.
func (r *Restorer) restoreRest(p *Page, body *bodyScan, block io.Reader) error {
	var w restWriter
	w.startDigests(p)
	buf := make([]byte, 256<<10)
	for body.frame.End == framing.NotEnded {
		n, err := block.Read(buf)
		used := body.consumeRest(p, buf[:n], w.payload)
		_, _ = w.block.Write(buf[:used])
		p.rest.size += int64(used)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err //nolint:wrapcheck // the caller's own
		}
	}
	w.endDigests(p)
	_, err := io.Copy(io.Discard, readerOnly{block})
	return err //nolint:wrapcheck // the caller's own
}

// readStart reads the first SearchMax bytes of a block, and reports whether these are all.
func readStart(block io.Reader, size int64) (start []byte, isAll bool, err error) {
	start = make([]byte, 0, min(max(size, 0), 1<<20)+1)
	for len(start) < SearchMax {
		if len(start) == cap(start) {
			start = append(start, 0)[:len(start)]
		}
		n, err := block.Read(start[len(start):min(cap(start), SearchMax)])
		start = start[:len(start)+n]
		if err == io.EOF {
			return start, true, nil
		}
		if err != nil {
			return nil, false, err //nolint:wrapcheck // the caller's own
		}
	}
	return start, false, nil
}

// readerOnly hides all methods except Read.
type readerOnly struct{ io.Reader }

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
