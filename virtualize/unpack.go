package virtualize

import (
	"encoding/binary"
	"math/bits"
)

// unpacker decodes the items of a payload in order.
type unpacker struct {
	codes *codes
	in    []byte // unread rest of the payload
	plain bool
	acc   uint64
	fill  uint
	lack  bool   // more bits were needed than there are
	text  []byte // items up to now
	last  int    // start of the newest item
}

// begin starts a payload that was written with these codes. It borrows the payload until the last call of next.
func (u *unpacker) begin(c *codes, payload []byte) (ok bool) {
	u.codes = c
	u.text, u.last, u.acc, u.fill, u.lack = u.text[:0], 0, 0, 0, false
	if len(payload) == 0 || payload[0] > payloadPacked {
		return false
	}
	u.plain, u.in = payload[0] == payloadPlain, payload[1:]
	return true
}

// more provides at least 32 bits. After the end they are zeros; lack is set if these are used.
func (u *unpacker) more() {
	if u.fill >= 32 {
		return
	}
	if len(u.in) >= 4 {
		u.acc |= uint64(binary.LittleEndian.Uint32(u.in)) << u.fill
		u.in = u.in[4:]
		u.fill += 32
		return
	}
	for ; len(u.in) > 0 && u.fill <= 56; u.in = u.in[1:] {
		u.acc |= uint64(u.in[0]) << u.fill
		u.fill += 8
	}
}

// bits reads up to 28 bits.
func (u *unpacker) bits(n uint) uint32 {
	u.more()
	v := uint32(u.acc & (1<<n - 1))
	u.drop(n)
	return v
}

func (u *unpacker) drop(n uint) {
	if n > u.fill {
		u.lack = true
		n = u.fill
	}
	u.acc >>= n
	u.fill -= n
}

func (u *unpacker) sym(c *code) uint32 {
	u.more()
	r := c.read[u.acc&(1<<codeBits-1)]
	u.drop(uint(r & 15))
	return uint32(r >> 4)
}

func (u *unpacker) count(c *code) int {
	n, extra := countBase(u.sym(c))
	if extra > 0 {
		n += u.bits(extra)
	}
	return int(n)
}

// next returns the next item. ok is false if there is no valid item. The bytes are valid until the next begin. They are
// a copy, because the payload is in a mapping, and the user of the item must not get a fault of it.
func (u *unpacker) next() (item []byte, ok bool) {
	if u.plain {
		if item, u.in, ok = nextItem(u.in); !ok {
			u.lack = true
			return nil, false
		}
		start := len(u.text)
		u.text = append(u.text, item...)
		return u.text[start:len(u.text):len(u.text)], true
	}
	share := u.count(u.codes.share)
	if share > len(u.text)-u.last {
		return nil, false
	}
	start := len(u.text)
	u.text = append(u.text, u.text[u.last:u.last+share]...)
	u.last = start
	context := uint8(noContext)
	if share > 0 {
		context = u.codes.context[u.text[len(u.text)-1]]
	}
	for !u.lack {
		b := byte(0)
		switch sym := u.sym(u.codes.char[context]); sym {
		case symEnd:
			return u.text[start:len(u.text):len(u.text)], !u.lack
		case symCopy:
			if !u.copy() {
				return nil, false
			}
			context = u.codes.context[u.text[len(u.text)-1]]
			continue
		case symByte:
			b = byte(u.bits(8))
		default:
			b = byte(sym - symFirst + '!')
		}
		u.text = append(u.text, b)
		context = u.codes.context[b]
	}
	return nil, false
}

// copy appends the text of a copy, which may overlap itself.
func (u *unpacker) copy() (ok bool) {
	length := u.count(u.codes.copied) + copyMin
	distance := int(u.bits(uint(bits.Len(uint(len(u.text)))))) + 1
	if distance > len(u.text) {
		return false
	}
	for from := len(u.text) - distance; length > 0; {
		n := min(length, len(u.text)-from)
		u.text = append(u.text, u.text[from:from+n]...)
		from += n
		length -= n
	}
	return true
}

// atEnd reports whether only the bits that fill the last byte are left.
func (u *unpacker) atEnd() bool { return !u.lack && len(u.in) == 0 && u.fill < 8 && u.acc == 0 }
