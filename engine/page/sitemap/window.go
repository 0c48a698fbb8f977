package sitemap

import (
	"bytes"
	"errors"
	"io"
)

// tagMax is the length of the longest tag that is read, in bytes; of a longer one, this much is skipped. The window is
// twice as large, so that a tag always fits.
const (
	tagMax     = 32 << 10
	windowSize = 2 * tagMax
)

// window is the part of a body in memory: buf[pos:] was read and is not yet used.
type window struct {
	src       io.Reader // nil if buf has everything
	own       []byte    // windowSize bytes, allocated for the first stream
	buf       []byte
	pos       int
	remaining int64 // bytes of src that may still be read
	cut       bool  // buf is the allowed part of a body in memory, and there is more
	exceeded  bool  // the limit was exceeded
	err       error // the error that ended src, except io.EOF
}

// open starts to read a stream, at most limit bytes.
func (w *window) open(src io.Reader, limit int64) {
	if w.own == nil {
		w.own = make([]byte, windowSize)
	}
	*w = window{src: src, own: w.own, buf: w.own[:0], remaining: limit}
}

// hold starts to read a body in memory, at most limit bytes.
func (w *window) hold(body []byte, limit int64) {
	cut := int64(len(body)) > limit
	if cut {
		body = body[:limit]
	}
	*w = window{own: w.own, buf: body, cut: cut}
}

// more reads more bytes, and reports whether there were any. It moves the unused bytes to the front.
func (w *window) more() bool {
	if w.src == nil {
		w.exceeded = w.exceeded || w.cut
		return false
	}
	n := copy(w.own, w.buf[w.pos:])
	w.buf, w.pos = w.own[:n], 0
	room := w.own[n:]
	if len(room) == 0 {
		panic("BUG: sitemap: the window is full")
	}
	if w.remaining == 0 {
		var one [1]byte
		read, _ := io.ReadFull(w.src, one[:])
		w.exceeded, w.src = read > 0, nil
		return false
	}
	room = room[:min(int64(len(room)), w.remaining)]
	read, err := readSome(w.src, room)
	w.remaining -= int64(read)
	w.buf = w.own[:n+read]
	if err != nil {
		w.src = nil
		if !errors.Is(err, io.EOF) {
			w.err = err
		}
	}
	return read > 0
}

// readSome fills at least a part of room, so that few bytes are moved for each byte read.
func readSome(src io.Reader, room []byte) (read int, err error) {
	const piece, idleMax = 4 << 10, 100
	for idle := 0; err == nil && read < min(len(room), piece); {
		var n int
		n, err = src.Read(room[read:])
		if read += n; n > 0 {
			idle = 0
		} else if idle++; idle == idleMax && err == nil {
			err = io.ErrNoProgress
		}
	}
	return read, err
}

// need waits until n unused bytes are there, and reports whether they are.
func (w *window) need(n int) bool {
	for len(w.buf)-w.pos < n {
		if !w.more() {
			return false
		}
	}
	return true
}

// at reports whether the unused bytes begin with mark.
func (w *window) at(mark string) bool {
	return w.need(len(mark)) && string(w.buf[w.pos:w.pos+len(mark)]) == mark
}

// pass skips to the end of the next mark, or to the end. It passes the text before it to keep, in pieces, if keep is
// not nil.
func (w *window) pass(mark string, keep func([]byte)) {
	for {
		rest := w.buf[w.pos:]
		i := bytes.Index(rest, []byte(mark))
		end := i
		if i < 0 { // the mark may begin at the end of buf
			end = max(len(rest)-len(mark)+1, 0)
		}
		if keep != nil {
			keep(rest[:end])
		}
		w.pos += end
		if i >= 0 {
			w.pos += len(mark)
			return
		}
		if !w.more() {
			if keep != nil {
				keep(w.buf[w.pos:])
			}
			w.pos = len(w.buf)
			return
		}
	}
}

// passLine skips to the next line. It passes the line to keep, in pieces.
func (w *window) passLine(keep func([]byte)) {
	for {
		rest := w.buf[w.pos:]
		i := bytes.IndexAny(rest, "\r\n")
		if i >= 0 {
			keep(rest[:i])
			w.pos += i + 1
			return
		}
		keep(rest)
		if w.pos = len(w.buf); !w.more() {
			return
		}
	}
}

// whole returns a stream of all bytes that are unused and unread. It takes the source: the window must be opened again.
func (w *window) whole() io.Reader {
	head := bytes.NewReader(bytes.Clone(w.buf[w.pos:]))
	if w.src == nil {
		return head
	}
	return io.MultiReader(head, w.src)
}
