package fasttext

import (
	"bytes"
	"math/bits"
)

// Kinds of entries.
const (
	kindWord  = 0
	kindLabel = 1
)

// labelPrefix begins the label of a line. It is fastText's default; files do not have it.
const labelPrefix = "__label__"

// endOfLine is the word that stands for the end of a line.
const endOfLine = "</s>"

// dictionary has words and labels, and finds a word by its bytes.
type dictionary struct {
	words   int32
	labels  int32
	entries []entry
	counts  []int64 // of each label
	slots   []int32 // number of an entry and 1, or 0; the place follows from the hash
	shift   int
}

// entry is a word or a label. Its text is in the file.
type entry struct{ text []byte }

// fnv32 is the first hash of FNV-1a with 32 bits.
const fnv32 = 2166136261

// hashByte adds a byte to a hash of FNV-1a. fastText takes bytes as signed numbers: from 0x80 on, the upper bits of the
// hash change, too.
func hashByte(h uint32, c byte) uint32 { return (h ^ uint32(int32(int8(c)))) * 16777619 }

func hashOf(text []byte) uint32 {
	h := uint32(fnv32)
	for _, c := range text {
		h = hashByte(h, c)
	}
	return h
}

// scatter is odd: multiplied by it, the upper bits of a product depend on all bits of a hash.
const scatter = 0x9E3779B97F4A7C15

// probesMax is how many places are searched at most. In the tables of a sound file, a search ends after a few.
const probesMax = 1 << 10

// slotsFor returns the size of a table, a power of two and at least twice n, and the shift that gives a place in it.
func slotsFor(n int) (size, shift int) {
	width := bits.Len(uint(2 * n))
	return 1 << width, 64 - width
}

func (in *input) dictionary(d *dictionary) (pruned int64) {
	size := in.int32()
	d.words, d.labels = in.int32(), in.int32()
	in.int64() // words of the training text
	pruned = in.int64()
	const least = 10 // bytes of an entry: the end of its text, a count and a kind
	switch {
	case in.err != nil:
		return 0
	case d.words < 0 || d.labels < 1 || int64(d.words)+int64(d.labels) != int64(size):
		in.err = faultf("%d words and %d labels of %d entries", d.words, d.labels, size)
	case int64(size) > int64(len(in.rest)/least):
		in.err = faultf("%d words and labels in a file that is too short for them", size)
	}
	if in.err != nil {
		return 0
	}
	d.entries = make([]entry, size)
	d.counts = make([]int64, 0, d.labels)
	var slots int
	slots, d.shift = slotsFor(int(size))
	d.slots = make([]int32, slots)
	for i := range d.entries {
		text, count, kind := in.text(), in.int64(), in.byte()
		want := byte(kindWord)
		if int32(i) >= d.words {
			want = kindLabel
			d.counts = append(d.counts, count)
		}
		if in.err == nil && kind != want {
			in.err = faultf("entry %d is of kind %d", i, kind)
		}
		if in.err == nil {
			d.entries[i].text = text
			in.err = d.insert(int32(i))
		}
		if in.err != nil {
			return 0
		}
	}
	return pruned
}

func (d *dictionary) insert(number int32) error {
	text := d.entries[number].text
	at := d.place(hashOf(text))
	for range probesMax {
		if d.slots[at] == 0 || bytes.Equal(d.entries[d.slots[at]-1].text, text) {
			d.slots[at] = number + 1
			return nil
		}
		at = (at + 1) & (len(d.slots) - 1)
	}
	return faultf("too many words with the same hash")
}

func (d *dictionary) place(hash uint32) int { return int(uint64(hash) * scatter >> d.shift) }

// find returns the number of a word or label, or -1.
func (d *dictionary) find(text []byte, hash uint32) int32 {
	at := d.place(hash)
	for range probesMax {
		n := d.slots[at]
		if n == 0 {
			break
		}
		if string(d.entries[n-1].text) == string(text) {
			return n - 1
		}
		at = (at + 1) & (len(d.slots) - 1)
	}
	return -1
}

// isLabel reports whether a word of a text, which has this number, is a label: it is passed over.
func (d *dictionary) isLabel(text []byte, number int32) bool {
	if number >= 0 {
		return number >= d.words
	}
	return bytes.HasPrefix(text, []byte(labelPrefix))
}

// keptRows has the rows of those n-grams that a pruned model has kept.
type keptRows struct {
	isPruned bool
	grams    []int32
	rows     []int32
	slots    []int32 // index of a pair and 1, or 0
	shift    int
	maybe    []uint64 // a bit for 16 places of a table of that size: 0 if there is no such n-gram
	maybeOf  int
}

func (in *input) keptRows(k *keptRows, pairs int64) {
	k.isPruned = pairs >= 0
	if pairs <= 0 || in.err != nil {
		return
	}
	if pairs > int64(len(in.rest)/8) {
		in.err = faultf("%d n-grams in a file that is too short for them", pairs)
		return
	}
	var slots int
	slots, k.shift = slotsFor(int(pairs))
	k.slots = make([]int32, slots)
	k.maybe = make([]uint64, max(slots/4, 1)) // 16 bits for each place
	k.maybeOf = 64 - bits.Len(uint(64*len(k.maybe)-1))
	k.grams, k.rows = make([]int32, pairs), make([]int32, pairs)
	for i := range k.grams {
		gram, row := in.int32(), in.int32()
		if gram < 0 || row < 0 {
			in.err = faultf("n-gram %d with row %d", gram, row)
			return
		}
		k.grams[i], k.rows[i] = gram, row
		if in.err = k.insert(int32(i)); in.err != nil {
			return
		}
	}
}

func (k *keptRows) insert(number int32) error {
	product := uint64(k.grams[number]) * scatter
	k.maybe[product>>k.maybeOf>>6] |= 1 << (product >> k.maybeOf & 63)
	at := int(product >> k.shift)
	for range probesMax {
		if k.slots[at] == 0 || k.grams[k.slots[at]-1] == k.grams[number] {
			k.slots[at] = number + 1
			return nil
		}
		at = (at + 1) & (len(k.slots) - 1)
	}
	return faultf("too many n-grams with the same hash")
}

// row returns the row of an n-gram, counted from the first one of n-grams; ok is false if it was not kept.
func (k *keptRows) row(gram int32) (row int32, ok bool) {
	if !k.isPruned {
		return gram, true
	}
	if len(k.slots) == 0 {
		return 0, false
	}
	product := uint64(gram) * scatter
	if k.maybe[product>>k.maybeOf>>6]&(1<<(product>>k.maybeOf&63)) == 0 {
		return 0, false
	}
	at := int(product >> k.shift)
	for range probesMax {
		n := k.slots[at]
		if n == 0 {
			break
		}
		if k.grams[n-1] == gram {
			return k.rows[n-1], true
		}
		at = (at + 1) & (len(k.slots) - 1)
	}
	return 0, false
}
