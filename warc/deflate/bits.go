package deflate

import "encoding/binary"

// outMax is more bytes than a block has that is not stored.
const outMax = 2 * bufferSize

// bitWriter collects the bits of a block. Those of an incomplete byte stay in it between two blocks.
type bitWriter struct {
	bits uint64
	n    uint // number of bits, below 8 between two calls
	out  [outMax + 8]byte
	at   int // number of complete bytes in out
}

// put adds n bits, at most 56.
func (w *bitWriter) put(v uint64, n uint) {
	w.bits |= v << w.n
	w.n += n
	binary.LittleEndian.PutUint64(w.out[w.at&(outMax-1):], w.bits)
	w.at += int(w.n >> 3)
	w.bits >>= w.n &^ 7 & 63
	w.n &= 7
}

// flush appends the complete bytes to dst.
func (w *bitWriter) flush(dst []byte) []byte {
	dst = append(dst, w.out[:w.at]...)
	w.at = 0
	return dst
}

// finish fills the last byte with zeros, and appends all bytes to dst.
func (w *bitWriter) finish(dst []byte) []byte {
	w.put(0, -w.n&7)
	return w.flush(dst)
}

// putTokens adds the tokens and long runs of a block.
func (w *bitWriter) putTokens(m *matcher, c *codes) {
	n := 0
	for _, r := range m.runs[:m.runsN] {
		w.putAll(m.tokens[n:r.tokens], c)
		w.putLiterals(m.buf.slice(r.from, r.to), c)
		n = r.tokens
	}
	w.putAll(m.tokens[n:m.tokensN], c)
}

// putAll adds tokens. A token has at most 46 bits, and at most 7 are waiting.
func (w *bitWriter) putAll(tokens []token, c *codes) {
	acc, n, at := w.bits, w.n, w.at
	for _, t := range tokens {
		a, b := t%indexes, t>>indexBits%indexes
		acc |= uint64(c.first.bits[a]) << (n & 63)
		n += uint(c.first.length[a])
		acc |= uint64(c.second.bits[b]) << (n & 63)
		acc |= uint64(t>>(2*indexBits)) << ((n + uint(c.second.length[b])) & 63)
		n += uint(c.secondAll[b])
		binary.LittleEndian.PutUint64(w.out[at&(outMax-1):], acc)
		at += int(n >> 3)
		acc >>= n &^ 7 & 63
		n &= 7
	}
	w.bits, w.n, w.at = acc, n, at
}

// putLiterals adds the literals of a long run.
func (w *bitWriter) putLiterals(literals []byte, c *codes) {
	acc, n, at := w.bits, w.n, w.at
	for _, b := range literals {
		acc |= uint64(c.first.bits[b]) << (n & 63)
		n += uint(c.first.length[b])
		binary.LittleEndian.PutUint64(w.out[at&(outMax-1):], acc)
		at += int(n >> 3)
		acc >>= n &^ 7 & 63
		n &= 7
	}
	w.bits, w.n, w.at = acc, n, at
}
