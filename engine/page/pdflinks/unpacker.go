package pdflinks

import "orbweaver/internal/inflate"

// The budget of the object streams of a file. The tables of a DEFLATE block cost as much time as the tokens of some
// hundred bytes, so each block is charged.
const (
	unpackMax   = 32 << 20 // unpacked bytes of a file
	streamMax   = 16 << 20 // unpacked bytes of one stream
	packedMax   = 4 << 20  // bytes of one stream in the file
	unpackFree  = 64 << 10 // unpacked bytes of one stream, however short it is,
	unpackRatio = 100      // or so many for each of its bytes
	blockCharge = 512      // unpacked bytes that a block with its own codes counts as
	keptMax     = 1 << 20  // bytes of the buffer that are kept for the next file
)

// unpacker reads object streams (ISO 32000-1, 7.5.7).
type unpacker struct {
	decoder *inflate.Decoder
	buf     []byte
	plain   []byte // a stream that was decrypted
	room    int    // unpacked bytes that the file may still have
	unread  int    // object streams that were not read whole
	objects walker
}

func (u *unpacker) begin(links *collector) {
	if cap(u.buf) > keptMax {
		u.buf = nil
	}
	if cap(u.plain) > keptMax {
		u.plain = nil
	}
	u.unread, u.objects.links = 0, links
}

// unpack reads the objects of a stream. What comes before damage is good.
func (u *unpacker) unpack(dict *frame, data []byte) {
	data, isWhole := u.decrypted(data)
	if !isWhole {
		u.unread++
		return
	}
	b, isWhole := u.unpacked(dict, data)
	if !u.walk(dict, b) || !isWhole {
		u.unread++
	}
}

// decrypted returns the bytes of a stream without encryption.
func (u *unpacker) decrypted(data []byte) (plain []byte, ok bool) {
	links := u.objects.links
	d := &links.decrypter
	if d.ofStreams == notEncrypted {
		return data, true
	}
	if len(data) > packedMax || u.room <= 0 {
		return nil, false
	}
	u.room -= blockCharge
	u.plain = append(u.plain[:0], data...)
	return d.decrypt(d.ofStreams, links.object, links.generation, u.plain), true
}

// unpacked returns the bytes of a stream, as far as they can be read.
func (u *unpacker) unpacked(dict *frame, data []byte) (b []byte, isWhole bool) {
	switch {
	case u.room <= 0:
		return nil, false
	case dict.filter == noFilter:
		u.room -= len(data)
		return data, true
	case dict.filter != flateFilter, dict.isPredicted, len(data) > packedMax:
		return nil, false
	}
	limit := min(streamMax, u.room, max(unpackFree, unpackRatio*len(data)))
	var err error
	u.buf, err = u.decoder.Zlib(u.buf[:0], data, limit)
	u.room -= len(u.buf) + blockCharge*(u.decoder.Blocks()+1)
	return u.buf, err == nil
}

// walk reads the objects of an unpacked stream. Its first bytes are pairs of numbers: of the object, and of the byte at
// which it begins. Offsets that do not ascend are damaged, and their objects are left out, so that no byte is read
// twice.
func (u *unpacker) walk(dict *frame, b []byte) (ok bool) {
	if dict.first > len(b) {
		return false
	}
	header, b := lexer{b: b[:dict.first]}, b[dict.first:]
	number, at, has := nextPair(&header)
	for n, end := dict.n, 0; has && n > 0; n-- {
		nextNumber, nextAt, hasNext := nextPair(&header)
		if n == 1 || !hasNext {
			nextAt = len(b)
		}
		if at >= end && at < nextAt && nextAt <= len(b) {
			end = nextAt
			u.walkObject(number, b[at:nextAt])
		}
		number, at, has = nextNumber, nextAt, hasNext
	}
	return true
}

// walkObject reads one object.
func (u *unpacker) walkObject(number int, b []byte) {
	w := &u.objects
	w.lexer, w.inStream = lexer{b: b}, true
	w.begin(true)
	w.links.begin(number, isPacked)
	w.walk()
}

// nextPair reads two integers.
func nextPair(l *lexer) (a, b int, ok bool) {
	_, first := l.next()
	_, second := l.next()
	a, ok = integerOf(first)
	b, isSecond := integerOf(second)
	return a, b, ok && isSecond
}
