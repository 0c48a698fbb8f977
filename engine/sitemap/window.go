package sitemap

import (
	"bytes"
	"errors"
	"io"
)

// tagMax is the longest tag that is read, in octets: of what looks like a longer one, so much is stepped over. The window
// is twice as large, so that a tag always fits.
const (
	tagMax     = 32 << 10
	windowSize = 2 * tagMax
)

// window is the part of a body that is looked at: buf[pos:] has been read and not yet been used.
type window struct {
	src  io.Reader // nil when buf is all there is
	own  []byte    // windowSize octets, made when the first stream is read
	buf  []byte
	pos  int
	left int64 // octets of src that may still be taken
	cut  bool  // buf is all of a body in memory that may be looked at, and not all of the body
	over bool  // more was asked for than may be looked at
	err  error // that ended src, other than io.EOF
}

// open begins to read a stream of which at most limit octets count.
func (w *window) open(src io.Reader, limit int64) {
	if w.own == nil {
		w.own = make([]byte, windowSize)
	}
	*w = window{src: src, own: w.own, buf: w.own[:0], left: limit}
}

// hold begins to read a body that lies in memory.
func (w *window) hold(body []byte, limit int64) {
	cut := int64(len(body)) > limit
	if cut {
		body = body[:limit]
	}
	*w = window{own: w.own, buf: body, cut: cut}
}

// more takes more octets behind those that wait, and says whether there were any. It moves them in memory.
func (w *window) more() bool {
	if w.src == nil {
		w.over = w.over || w.cut
		return false
	}
	n := copy(w.own, w.buf[w.pos:])
	w.buf, w.pos = w.own[:n], 0
	room := w.own[n:]
	if len(room) == 0 {
		panic("BUG: sitemap: the window is full")
	}
	if w.left == 0 {
		var one [1]byte
		read, _ := io.ReadFull(w.src, one[:])
		w.over, w.src = read > 0, nil
		return false
	}
	room = room[:min(int64(len(room)), w.left)]
	read, err := readSome(w.src, room)
	w.left -= int64(read)
	w.buf = w.own[:n+read]
	if err != nil {
		w.src = nil
		if !errors.Is(err, io.EOF) {
			w.err = err
		}
	}
	return read > 0
}

// readSome fills at least a piece of room, so that little is moved for each octet whatever the source gives at a time.
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

// need waits for n octets, and says whether there are as many.
func (w *window) need(n int) bool {
	for len(w.buf)-w.pos < n {
		if !w.more() {
			return false
		}
	}
	return true
}

// at says whether the octets at hand begin with a mark.
func (w *window) at(mark string) bool {
	return w.need(len(mark)) && string(w.buf[w.pos:w.pos+len(mark)]) == mark
}

// pass steps behind the next occurrence of mark, or to the end. What lies before it goes to keep, in pieces, if there is one.
func (w *window) pass(mark string, keep func([]byte)) {
	for {
		rest := w.buf[w.pos:]
		i := bytes.Index(rest, []byte(mark))
		end := i
		if i < 0 { // the mark may begin at the end of what has been read
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
