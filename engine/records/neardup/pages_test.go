package neardup

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/simhash"
	"orbweaver/internal/vfs"
)

// opened opens pages on a disk, with what was warned.
func opened(t *testing.T, disk vfs.FS, most int64, at *dedup.Checkpoint) (*Pages, *[]string) {
	t.Helper()
	var warned []string
	o := Options{Mode: Mark, Most: most, Map: dedup.Options{Dir: "near", MemoryBytes: 1 << 16}}
	p, err := Open(disk, o, at, func(msg string, _ ...any) { warned = append(warned, msg) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, &warned
}

// model knows fingerprints as Pages does, by comparing with all.
type model struct{ known map[uint64]string }

// nearest returns how many bits the nearest fingerprint differs in.
func (m *model) nearest(f uint64) (least int, ok bool) {
	least = simhash.Distance + 1
	for known := range m.known {
		least = min(least, bits.OnesCount64(known^f))
	}
	return least, least <= simhash.Distance
}

// drawn draws a fingerprint: a new one, or a known one with up to five bits changed.
func (m *model) drawn(r *rand.Rand) uint64 {
	f := r.Uint64()
	if r.IntN(2) == 0 {
		for known := range m.known { // any of them
			f = known
			break
		}
		for range r.IntN(6) {
			f ^= 1 << r.IntN(64)
		}
	}
	return f
}

// Pages finds what a comparison with all finds, and a page never finds itself. A checkpoint brings back just what was
// known when it was taken.
func TestPages_findWhatAComparisonWithAllFinds(t *testing.T) {
	const seed = 3
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	disk := vfs.NewMem(1)
	p, _ := opened(t, disk, 1e6, nil)
	m := &model{known: map[uint64]string{}}
	date := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	found := 0
	check := func(p *Pages, i int) (f uint64, isNear bool) {
		t.Helper()
		f = m.drawn(r)
		near, ok, err := p.Find(f, fmt.Appendf(nil, "http://a.test/%d", i))
		least, want := m.nearest(f)
		if err != nil || ok != want {
			t.Fatalf("%016x: found %t, want %t (%v)", f, ok, want, err)
		}
		if !ok {
			return f, false
		}
		found++
		var first uint64
		for known, url := range m.known {
			if url == near.URI {
				first = known
			}
		}
		if near.Bits != least || bits.OnesCount64(first^f) != least || !near.Date.Equal(date) {
			t.Fatalf("%016x: %+v, %d bits at least", f, near, least)
		}
		if _, ok, err := p.Find(f, []byte(near.URI)); ok || err != nil {
			t.Fatalf("a page finds itself (%v)", err)
		}
		return f, true
	}
	for i := range 2000 {
		f, isNear := check(p, i)
		page := dedup.First{URI: fmt.Sprintf("http://a.test/%d", i), Date: date}
		if err := p.Add(f, page); err != nil {
			t.Fatal(err)
		}
		if !isNear {
			m.known[f] = page.URI
		}
	}
	at, err := p.Map.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Map.Sync(); err != nil {
		t.Fatal(err)
	}
	for range 100 { // after the checkpoint
		if err := p.Add(r.Uint64(), dedup.First{URI: "http://a.test/late", Date: date}); err != nil {
			t.Fatal(err)
		}
	}
	again, _ := opened(t, disk.KillClone(), 1e6, &at)
	if again.Len() != len(m.known) {
		t.Errorf("%d texts after a kill, want %d", again.Len(), len(m.known))
	}
	for i := range 500 {
		check(again, 10_000+i)
	}
	if found < 500 {
		t.Errorf("only %d were near", found)
	}
	if begun, _ := opened(t, disk.KillClone(), 1e6, nil); begun.Len() != 0 { // a run without them came in between
		t.Errorf("%d texts without a checkpoint", begun.Len())
	}
}

// There is an end to what is kept. Later pages are still compared, and the operator is told once.
func TestPages_keepNoMoreThanTheyMay(t *testing.T) {
	p, warned := opened(t, vfs.NewMem(1), 2, nil)
	for i, f := range []uint64{0x0f, 0xff00, 0xff0000, 0xff000000} {
		if err := p.Add(f, dedup.First{URI: fmt.Sprint(i), Date: time.Unix(1e9, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	if p.Len() != 2 || len(*warned) != 1 {
		t.Errorf("%d texts, warnings %q", p.Len(), *warned)
	}
	if _, ok, err := p.Find(0xff01, nil); !ok || err != nil {
		t.Errorf("an early page is not found (%v)", err)
	}
	if _, ok, err := p.Find(0xff0000, nil); ok || err != nil {
		t.Errorf("a page that was not kept is found (%v)", err)
	}
}

// A short text has no fingerprint. Case, accents and order of the words do not change it.
func TestReader_readsWordsAndNotTheirOrder(t *testing.T) {
	var words []string
	for i := range 200 {
		words = append(words, fmt.Sprintf("m\u00f6t%c%c", 'a'+i%26, 'a'+i/26))
	}
	var r Reader
	f, ok := r.Fingerprint([]byte(strings.Join(words, " ")))
	if !ok {
		t.Fatal("no fingerprint")
	}
	for i, j := 0, len(words)-1; i < j; i, j = i+1, j-1 {
		words[i], words[j] = words[j], words[i]
	}
	changed := strings.ReplaceAll(strings.ToUpper(strings.Join(words, ", ")), "\u00d6", "O")
	if got, ok := r.Fingerprint([]byte(changed)); !ok || got != f {
		t.Errorf("%016x, want %016x", got, f)
	}
	if _, ok := r.Fingerprint([]byte(strings.Join(words[:wordsLeast-1], " "))); ok {
		t.Error("a short text has a fingerprint")
	}
	if _, ok := r.Fingerprint([]byte(strings.Repeat("word ", 1000))); ok {
		t.Error("one word has a fingerprint")
	}
}

// One operation reads a text of 16 KiB.
func BenchmarkReader(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for len(text) < 16<<10 {
		for range 2 + random.IntN(8) {
			text = append(text, byte('a'+random.IntN(26)))
		}
		text = append(text, ' ')
	}
	var r Reader
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Fingerprint(text)
	}
}
