package virtualize

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// someItems returns paths with much in common, and some other items.
func someItems(rng *rand.Rand, n int) (items [][]byte) {
	words := []string{"amber", "orchard", "index", "copse", "page", "Z", "%C3%A9", "été", "2021", "\x00\x00\x05"}
	word := func() string { return words[rng.IntN(len(words))] }
	for range n {
		item := fmt.Appendf(nil, "/%s/%s/%s-%d.html?id=%d", word(), word(), word(), rng.IntN(50), rng.Uint32())
		switch rng.IntN(12) {
		case 0:
			item = nil
		case 1:
			item = bytes.Repeat([]byte(word()), rng.IntN(2000))
		case 2:
			item = make([]byte, rng.IntN(100))
			for i := range item {
				item[i] = byte(rng.Uint32())
			}
		}
		items = append(items, item)
	}
	return items
}

func pack(p *packer, c *codes, items [][]byte) []byte {
	p.begin(c)
	for _, item := range items {
		p.add(item)
	}
	return p.payload()
}

func wantUnpacked(t *testing.T, c *codes, payload []byte, items [][]byte) {
	t.Helper()
	var u unpacker
	if !u.begin(c, payload) {
		t.Fatal("no payload")
	}
	for i, want := range items {
		if got, ok := u.next(); !ok || !bytes.Equal(got, want) {
			t.Fatalf("item %d is %q, %v; want %q", i, got, ok, want)
		}
	}
	if !u.atEnd() {
		t.Fatal("something is left")
	}
}

// V1: the unpacked items equal the packed ones for codes of any model, and packing never needs more than the plain
// encoding.
func TestV1_PackedItemsComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	c := newCodes(firstModel())
	for round := range 300 {
		p := &packer{seen: &tally{}}
		items := someItems(rng, 1+rng.IntN(60))
		plain := 1
		for _, item := range items {
			plain += itemBytes(len(item))
		}
		payload := pack(p, c, items)
		if len(payload) > plain {
			t.Fatalf("%d bytes, and %d plainly", len(payload), plain)
		}
		wantUnpacked(t, c, payload, items)
		if round%20 == 0 {
			var bytes [modelBytes]byte
			p.seen.learn(c.model).put(bytes[:])
			if c = newCodes(parseModel(bytes[:])); c == nil {
				t.Fatal("what was learned has no codes")
			}
		}
	}
}

// A model that was computed from the written items makes them smaller.
func TestModelIsLearned(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	first := newCodes(firstModel())
	p := &packer{seen: &tally{}}
	var items [][]byte
	for i := range 200 {
		items = append(items, fmt.Appendf(nil, "%c%c%cQXJ%d", 'A'+rng.IntN(20), 'A'+rng.IntN(20), 'A'+rng.IntN(20), i))
	}
	before := len(pack(p, first, items))
	learned := newCodes(p.seen.learn(first.model))
	payload := pack(p, learned, items)
	wantUnpacked(t, learned, payload, items)
	if len(payload)*10 > before*8 {
		t.Errorf("%d bytes became %d", before, len(payload))
	}
}

func TestLimitedLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		weights := make([]uint64, 2+rng.IntN(charSyms))
		for i := range weights {
			weights[i] = 1 + rng.Uint64N(1<<rng.IntN(40))
		}
		lengths := make([]uint8, len(weights))
		limitedLengths(weights, lengths)
		if newCode(lengths) == nil {
			t.Fatalf("%v have no code", lengths)
		}
		for i, w := range weights {
			for k, v := range weights {
				if w > v && lengths[i] > lengths[k] {
					t.Fatalf("weight %d has %d bits, and %d has %d", w, lengths[i], v, lengths[k])
				}
			}
		}
	}
	lengths := make([]uint8, 4)
	limitedLengths([]uint64{8, 4, 2, 2}, lengths)
	if !bytes.Equal(lengths, []uint8{1, 2, 3, 3}) {
		t.Errorf("%v", lengths)
	}
}

// No bytes make the unpacker panic, or return more than they can encode.
func FuzzUnpack(f *testing.F) {
	c := newCodes(firstModel())
	rng := rand.New(rand.NewPCG(1, 1))
	for range 4 {
		f.Add(bytes.Clone(pack(&packer{}, c, someItems(rng, 12))))
	}
	f.Add([]byte{payloadPlain, 3, 'a', 'b', 'c', 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		var u unpacker
		if !u.begin(c, payload) {
			return
		}
		var items [][]byte
		for range 1000 {
			item, ok := u.next()
			if !ok {
				break
			}
			items = append(items, bytes.Clone(item))
		}
		if len(u.text) > (len(payload)+1)*8*(countMax+copyMin) {
			t.Fatalf("%d bytes of %d", len(u.text), len(payload))
		}
		if len(items) > 0 {
			wantUnpacked(t, c, bytes.Clone(pack(&packer{}, c, items)), items)
		}
	})
}

// No bytes make a model whose codes panic.
func FuzzModel(f *testing.F) {
	var good [modelBytes]byte
	firstModel().put(good[:])
	f.Add(bytes.Clone(good[:]), []byte("0/about/index.html"))
	lacking := firstModel()
	lacking.share[0], lacking.share[1] = 0, lacking.share[1]-1 // no item that shares nothing could be written
	lacking.put(good[:])
	f.Add(good[:], []byte("0/about/index.html"))
	f.Fuzz(func(t *testing.T, src, item []byte) {
		var b [modelBytes]byte
		copy(b[:], src)
		if c := newCodes(parseModel(b[:])); c != nil {
			items := [][]byte{item, item}
			wantUnpacked(t, c, bytes.Clone(pack(&packer{}, c, items)), items)
		}
	})
}
