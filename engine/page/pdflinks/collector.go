package pdflinks

import "bytes"

// arenaMax is the most bytes that the links of a file take. It is not bounded by the size of the file, since object
// streams are packed.
const arenaMax = 4 << 20

// span is a part of the arena.
type span struct{ start, end int }

// found is a link of an object.
type found struct {
	object     int
	definition int // of the object
	ref        span
	target     int // the object that is its string; 0 if ref is
}

// collector keeps the links of a file until its end: an object may be defined again, and the end of a file may say that
// it is encrypted.
type collector struct {
	o       Options
	arena   []byte
	found   []found
	latest  map[int]int  // the last definition of each object with links
	values  map[int]span // strings and file specifications that are objects
	base    span
	baseOf  int // the object that is the base
	dropped int
	long    int

	object, generation, definition int // that is read; the generation is isPacked in an object stream

	decrypter decrypter
	decrypted int // strings
}

// isPacked is the generation of an object of an object stream. Its strings are not encrypted: the stream is.
const isPacked = -1

// clear forgets the last file.
func (c *collector) clear() {
	if c.latest == nil || len(c.latest)+len(c.values) > keptEntries {
		c.latest, c.values = map[int]int{}, map[int]span{}
	}
	clear(c.latest)
	clear(c.values)
	if cap(c.arena) > keptMax {
		c.arena = nil
	}
	*c = collector{o: c.o, arena: c.arena[:0], found: c.found[:0], latest: c.latest, values: c.values}
}

// keptEntries is how large the maps are that are kept for the next file.
const keptEntries = 1 << 10

// begin begins an object. What was known of an earlier definition does not count.
func (c *collector) begin(object, generation int) {
	c.definition++
	c.object, c.generation = object, generation
	if _, ok := c.latest[object]; ok {
		c.latest[object] = c.definition
	}
	if len(c.values) > 0 {
		delete(c.values, object)
	}
}

// add adds a link to the object.
func (c *collector) add(t *text) {
	if len(c.found) >= c.o.LinksMax {
		c.dropped++
		return
	}
	f := found{object: c.object, definition: c.definition, target: t.object}
	if t.object == 0 {
		var ok bool
		if f.ref, ok = c.keep(t); !ok {
			return
		}
	}
	c.found = append(c.found, f)
	c.latest[c.object] = c.definition
}

// keep appends a string to the arena.
func (c *collector) keep(t *text) (s span, ok bool) {
	if len(t.raw) > longestString*c.o.RefMax {
		c.long++
		return span{}, false
	}
	start := len(c.arena)
	if start+2*len(t.raw) > arenaMax {
		c.dropped++
		return span{}, false
	}
	c.arena = appendBytes(c.arena, t)
	if c.decrypter.strings != notEncrypted && c.generation != isPacked {
		if c.decrypted++; c.decrypted > decryptedMost {
			c.arena = c.arena[:start]
			c.dropped++
			return span{}, false
		}
		plain := c.decrypter.decrypt(c.decrypter.strings, c.object, c.generation, c.arena[start:])
		c.arena = append(c.arena[:start], plain...)
	}
	if c.arena = textFrom(c.arena, start); len(c.arena)-start > c.o.RefMax {
		c.arena = c.arena[:start]
		c.long++
		return span{}, false
	}
	return span{start, len(c.arena)}, true
}

// decryptedMost is how many strings of a file are decrypted. Each has a key of its own, which takes a microsecond.
const decryptedMost = 50_000

// longestString is how many bytes of the file a byte of a string takes at most, as in \101, with blanks between them.
const longestString = 8

// setBase takes the base of relative references.
func (c *collector) setBase(t *text) {
	if c.baseOf = t.object; t.object == 0 {
		if s, ok := c.keep(t); ok {
			c.base = s
		}
	}
}

// setValue takes the string that the object is. It counts if a link refers to it.
func (c *collector) setValue(t *text) {
	if t.object != 0 || len(t.raw) == 0 || len(c.values) >= c.o.LinksMax || len(t.raw) > longestString*c.o.RefMax {
		return
	}
	if s, ok := c.keep(t); ok {
		c.values[c.object] = s
	}
}

// appendLinks appends the links that count.
func (c *collector) appendLinks(dst [][]byte) [][]byte {
	for i := range c.found {
		f := &c.found[i]
		if c.latest[f.object] != f.definition {
			continue
		}
		s := f.ref
		if f.target != 0 {
			var ok bool
			if s, ok = c.values[f.target]; !ok {
				continue
			}
		}
		if ref := c.arena[s.start:s.end:s.end]; len(ref) > 0 {
			dst = append(dst, ref)
		}
	}
	return dst
}

// baseText returns the base; nil if there is none.
func (c *collector) baseText() []byte {
	s := c.base
	if c.baseOf != 0 {
		s = c.values[c.baseOf]
	}
	if base := bytes.TrimSpace(c.arena[s.start:s.end]); len(base) > 0 {
		return base
	}
	return nil
}
