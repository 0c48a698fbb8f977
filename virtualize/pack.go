package virtualize

import (
	"encoding/binary"
	"math/bits"
)

// The first byte of a payload is the encoding of its items.
const (
	payloadPlain  = 0 // per item a uvarint of its length, and its bytes
	payloadPacked = 1
)

const (
	copyMin   = 6 // a shorter copy needs more bits than it saves
	finderLen = 11
)

// packer encodes the items of one block. Earlier items serve as a dictionary for later ones. An encoded item is the
// number of bytes it shares with the item before. Then follow characters, each in a code that depends on the preceding
// character, and copies from any earlier position in the block.
type packer struct {
	codes *codes
	text  []byte // items up to now
	last  int    // start of the newest item
	seen  *tally // if not nil, counts the written symbols
	out   []byte // payload up to now, without the bits in acc
	acc   uint64
	fill  uint
	items uint32
	plain int // size of the payload in plain encoding

	ends   []uint32               // ends of the items in text
	finder [1 << finderLen]uint32 // last position of four bytes, by hash: position in text + base
	base   uint32                 // of this block; smaller values are from older blocks
}

// begin removes all items and starts a block of a segment with these codes.
func (p *packer) begin(c *codes) {
	p.codes = c
	if uint64(p.base)+uint64(len(p.text)) > 1<<31 {
		p.base, p.finder = 0, [1 << finderLen]uint32{}
	}
	p.base += uint32(len(p.text)) + 1
	p.text, p.ends, p.last = p.text[:0], p.ends[:0], 0
	p.out = append(p.out[:0], payloadPacked)
	p.acc, p.fill, p.items, p.plain = 0, 0, 0, 1
}

func (p *packer) bits(v uint64, n uint) {
	p.acc |= v << p.fill
	p.fill += n
	if p.fill >= 32 {
		p.out = binary.LittleEndian.AppendUint32(p.out, uint32(p.acc))
		p.acc >>= 32
		p.fill -= 32
	}
}

func (p *packer) sym(c *code, sym uint32) {
	w := c.write[sym]
	p.bits(uint64(w>>4), uint(w&15))
}

func (p *packer) count(c *code, n uint32) {
	sym, extra := countSym(n)
	p.sym(c, sym)
	if extra > 0 {
		p.bits(uint64(n)&(1<<extra-1), extra)
	}
}

// add appends an item. It borrows the item.
func (p *packer) add(item []byte) {
	before := p.text[p.last:]
	p.last = len(p.text)
	p.text = append(p.text, item...)
	p.ends = append(p.ends, uint32(len(p.text)))
	p.items++
	p.plain += itemBytes(len(item))
	share := 0
	for most := min(len(before), len(item), countMax); share < most && before[share] == item[share]; {
		share++
	}
	if p.seen != nil {
		sym, _ := countSym(uint32(share))
		p.seen.share[sym]++
	}
	p.count(p.codes.share, uint32(share))
	context := uint8(noContext)
	if share > 0 {
		context = p.codes.context[item[share-1]]
	}
	p.spell(p.last+share, context)
}

// spell encodes the text from a position on, and the end of the item.
func (p *packer) spell(at int, context uint8) {
	for end := len(p.text); at < end; context = p.codes.context[p.text[at-1]] {
		if at+copyMin <= end {
			if from, length := p.find(at); length >= copyMin {
				p.char(context, symCopy)
				p.count(p.codes.copied, uint32(length-copyMin))
				if p.seen != nil {
					sym, _ := countSym(uint32(length - copyMin))
					p.seen.copied[sym]++
				}
				p.bits(uint64(at-from-1), uint(bits.Len(uint(at))))
				at += length
				continue
			}
		}
		b := p.text[at]
		if b >= '!' && b <= '~' {
			p.char(context, symFirst+uint32(b-'!'))
		} else {
			p.char(context, symByte)
			p.bits(uint64(b), 8)
		}
		at++
	}
	p.char(context, symEnd)
}

func (p *packer) char(context uint8, sym uint32) {
	if p.seen != nil {
		p.seen.char[context][sym]++
	}
	p.sym(p.codes.char[context], sym)
}

// find returns the last position with the same bytes as at the given one, and their number. It records the given
// position.
func (p *packer) find(at int) (from, length int) {
	four := binary.LittleEndian.Uint32(p.text[at:])
	slot := &p.finder[four*0x9e3779b1>>(32-finderLen)]
	was := *slot
	*slot = p.base + uint32(at)
	if was < p.base {
		return 0, 0
	}
	from = int(was - p.base)
	most := min(len(p.text)-at, copyMin+countMax)
	for length < most && p.text[from+length] == p.text[at+length] {
		length++
	}
	return from, length
}

// payload ends the block and returns its payload, which is valid until begin. No add may follow.
func (p *packer) payload() []byte {
	for ; p.fill > 0; p.fill -= min(p.fill, 8) {
		p.out = append(p.out, byte(p.acc))
		p.acc >>= 8
	}
	if len(p.out) <= p.plain {
		return p.out
	}
	p.out = append(p.out[:0], payloadPlain)
	start := uint32(0)
	for _, end := range p.ends {
		p.out = binary.AppendUvarint(p.out, uint64(end-start))
		p.out = append(p.out, p.text[start:end]...)
		start = end
	}
	return p.out
}
