package workbench

// keys stores the keys of sites in blocks without pointers, by size. A slot of class c has 8*(c+1) bytes. A key is
// found by a 32-bit reference.
type keys struct {
	classes [bigKey]keyClass
	big     slab[[]byte] // keys that are too long for all classes
}

// keyRef is a reference to a key: its class and its slot.
type keyRef uint32

const (
	keySlotBits = 26
	keySlots    = 1 << keySlotBits
	bigKey      = 1<<(32-keySlotBits) - 1
	keyBlockLen = 32 << 10
)

type keyClass struct {
	blocks [][]byte
	used   uint32
	free   []uint32 // free slots of these blocks
}

func keySize(class int) int { return 8 * (class + 1) }

// add stores a copy of key.
func (k *keys) add(key []byte) keyRef {
	for class := max(0, len(key)-1) / 8; class < bigKey; class++ {
		if c := &k.classes[class]; c.used < keySlots || len(c.free) > 0 {
			slot := c.allocate(keySize(class))
			copy(c.at(slot, keySize(class)), key)
			return keyRef(class<<keySlotBits) | keyRef(slot)
		}
	}
	n := k.big.allocate()
	*k.big.at(n) = append([]byte(nil), key...)
	return keyRef(bigKey<<keySlotBits) | keyRef(n)
}

// drop frees the slot of a key.
func (k *keys) drop(ref keyRef) {
	class, slot := int(ref>>keySlotBits), uint32(ref)%keySlots
	if class == bigKey {
		*k.big.at(slot) = nil
		k.big.release(slot)
		return
	}
	k.classes[class].free = append(k.classes[class].free, slot)
}

// get returns a key of length n. It is valid until drop.
func (k *keys) get(ref keyRef, n int) []byte {
	class, slot := int(ref>>keySlotBits), uint32(ref)%keySlots
	if class == bigKey {
		key := *k.big.at(slot)
		return key[:len(key):len(key)]
	}
	return k.classes[class].at(slot, keySize(class))[:n:n]
}

func (c *keyClass) at(slot uint32, size int) []byte {
	per := uint32(keyBlockLen / size)
	from := int(slot%per) * size
	return c.blocks[slot/per][from : from+size]
}

func (c *keyClass) allocate(size int) uint32 {
	if n := len(c.free); n > 0 {
		slot := c.free[n-1]
		c.free = c.free[:n-1]
		return slot
	}
	if c.used%uint32(keyBlockLen/size) == 0 {
		c.blocks = append(c.blocks, make([]byte, keyBlockLen))
	}
	c.used++
	return c.used - 1
}
