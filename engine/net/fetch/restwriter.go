package fetch

import (
	"crypto/sha1"
	"hash"
	"time"

	"orbweaver/engine/net/bodyfile"
	"orbweaver/internal/vfs"
)

const (
	// restRaw is how many bytes of a response stay in Page.Raw, if its head is not longer, when the rest goes to a file.
	restRaw = 32 << 10
	// restWindow is the least room behind Raw for the pieces on their way to the file.
	restWindow = 16 << 10
)

// restWriter writes the rest of a body that is too long for memory to a body file, and computes the digests meanwhile.
// Then the page gives its large buffer back: a long download keeps a small one.
type restWriter struct {
	store          *bodyfile.Store
	block, payload hash.Hash // made for the first long body
	raw            int       // length of Page.Raw; what is behind it is on its way to the file
	isOpen         bool
}

// reset prepares for the next exchange.
func (w *restWriter) reset() { w.isOpen = false }

// begin makes the file. All of Raw was consumed.
func (w *restWriter) begin(p *Page, conn *connection, limit time.Time) (err error) {
	if p.rest.file, err = w.store.NewFile(&conn.watch, limit); err != nil {
		return err //nolint:wrapcheck // the caller tells two errors apart
	}
	w.startDigests(p)
	keep := max(p.HeadLen, restRaw)
	small, ok := p.memory.pool.TakeSmallest(keep + restWindow)
	if !ok {
		keep = len(p.Raw) - restWindow
	}
	if _, err = p.rest.file.Reserve(&conn.watch, limit, len(p.Raw)-keep); err != nil {
		p.memory.pool.Return(small)
		return err //nolint:wrapcheck // as above
	}
	w.isOpen, w.raw = true, keep
	_, err = w.append(p, p.Raw[keep:], conn, limit)
	p.Raw = p.Raw[:keep]
	if ok {
		p.Raw = p.memory.move(p.Raw, small)
	}
	return err
}

// startDigests computes the digests of Raw.
func (w *restWriter) startDigests(p *Page) {
	if w.block == nil {
		w.block, w.payload = sha1.New(), sha1.New()
	}
	w.block.Reset()
	w.payload.Reset()
	_, _ = w.block.Write(p.Raw) // a hash never fails
	if p.payload.chunked {
		eachPayload(p.Body(), func(data []byte) { _, _ = w.payload.Write(data) })
	} else {
		_, _ = w.payload.Write(p.Body())
	}
}

// endDigests sets the digests of the page.
func (w *restWriter) endDigests(p *Page) {
	w.block.Sum(p.BlockDigest[:0])
	w.payload.Sum(p.Digest[:0])
}

// append writes bytes of the response, and reports for how long it had to wait for the disk.
func (w *restWriter) append(p *Page, b []byte, conn *connection, limit time.Time) (time.Duration, error) {
	waited, err := p.rest.file.Write(&conn.watch, limit, b)
	if err != nil {
		if !vfs.IsPassing(err) {
			p.rest.fault = err
		}
		return waited, err //nolint:wrapcheck // the name of the file is in it
	}
	p.rest.size += int64(len(b))
	return waited, nil
}

// consume takes what was read behind Raw, and reports for how long it had to wait for the disk.
func (w *restWriter) consume(p *Page, scan *bodyScan, conn *connection, limit time.Time) (time.Duration, error) {
	piece := p.Raw[w.raw:]
	p.Raw = p.Raw[:w.raw]
	piece = piece[:scan.consumeRest(p, piece, w.payload)]
	_, _ = w.block.Write(piece)
	return w.append(p, piece, conn, limit)
}

// reserve makes room for what the next read may bring, and reports whether it had to wait.
func (w *restWriter) reserve(p *Page, conn *connection, limit time.Time) (waited bool, err error) {
	return p.rest.file.Reserve(&conn.watch, limit, len(p.memory.raw.B)-w.raw) //nolint:wrapcheck // as above
}

// end ends a body.
func (w *restWriter) end(p *Page) {
	if w.isOpen {
		w.endDigests(p)
	}
	if p.rest.file != nil {
		p.rest.file.Seal()
	}
}
