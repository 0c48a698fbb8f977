package filter

import (
	"math/bits"
	"net/netip"
	"sync/atomic"
)

// blockSet is a set of address blocks that is read without locks while others add to it. A lookup costs one map access
// for each prefix length that occurs, however many blocks there are.
type blockSet struct {
	keys    stringSet        // see blockKey
	lengths [4]atomic.Uint64 // a bit for each length: IPv4 from 0, IPv6 from blockIPv6
}

const blockIPv6 = 64

func (s *blockSet) add(blocks []netip.Prefix) {
	keys := make([]string, len(blocks))
	for i, b := range blocks {
		key := blockKey(b.Addr(), blockLength(b.Addr(), b.Bits()))
		keys[i] = string(key[:])
	}
	s.keys.add(keys...)
	for _, b := range blocks {
		n := blockLength(b.Addr(), b.Bits())
		s.lengths[n/64].Or(1 << (n % 64))
	}
}

func (s *blockSet) has(addr netip.Addr) bool {
	words, base := s.lengths[:1], 0
	if !addr.Is4() {
		words, base = s.lengths[1:], blockIPv6
	}
	for i := range words {
		for left := words[i].Load(); left != 0; left &= left - 1 {
			key := blockKey(addr, base+i*64+bits.TrailingZeros64(left))
			if s.keys.has(key[:]) {
				return true
			}
		}
	}
	return false
}

func blockLength(addr netip.Addr, length int) int {
	if addr.Is4() {
		return length
	}
	return blockIPv6 + length
}

// blockKey returns the length, as blockLength gives it, and the address without the bits after it.
func blockKey(addr netip.Addr, n int) (key [17]byte) {
	length := n
	if !addr.Is4() {
		length -= blockIPv6
	}
	block, err := addr.Prefix(length)
	if err != nil {
		panic("BUG: filter: a block of no length that addresses have: " + err.Error())
	}
	b := block.Addr().As16()
	key[0] = byte(n)
	copy(key[1:], b[:])
	return key
}
