package components

import (
	"math/rand/v2"
	"strconv"
)

// pathMaker writes the items of the virtualizer's benchmark: three bytes as the engine puts them in front (flags,
// tries, depth), and a path and query of 60 bytes on average, in the style of the simulated web. A host has directories
// that many of its URLs share; a name is made of words of a vocabulary of 4000, the frequent ones much more often, and
// of numbers. What follows is drawn from host and number alone, so nothing needs to be kept.
type pathMaker struct {
	words []string
	seed  uint64
}

func newPathMaker(seed uint64) *pathMaker {
	m := &pathMaker{seed: seed}
	rng := rand.New(rand.NewPCG(seed, 77))
	for range 4000 {
		m.words = append(m.words, inventWord(rng))
	}
	return m
}

// inventWord makes a word of syllables.
func inventWord(rng *rand.Rand) string {
	starts := [...]string{"b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pl",
		"gr"}
	middles := [...]string{"a", "e", "i", "o", "u", "ea", "ou", "ai"}
	ends := [...]string{"n", "r", "s", "t", "l", "d", "m", "nd", "st", "rt", "ng", "ck"}
	s := ""
	for k := 1 + rng.IntN(3); k > 0; k-- {
		s += starts[rng.IntN(len(starts))] + middles[rng.IntN(len(middles))]
	}
	return s + ends[rng.IntN(len(ends))]
}

// word draws one, Zipf-like.
func (m *pathMaker) word(r *splitmix) string {
	u := r.float()
	return m.words[int(float64(len(m.words))*u*u*u)]
}

// appendDirectory appends one of a host's directories: there are up to 32, the first ones are used more often.
func (m *pathMaker) appendDirectory(dst []byte, host uint64, r *splitmix) []byte {
	u := r.float()
	d := splitmix{state: m.seed ^ host*0x9e3779b97f4a7c15 ^ uint64(u*u*32)<<40}
	for k := 1 + d.below(3); k > 0; k-- {
		dst = append(dst, '/')
		dst = append(dst, m.word(&d)...)
		switch d.below(4) {
		case 0:
			dst = append(append(dst, '-'), m.word(&d)...)
		case 1:
			dst = append(dst, '/')
			dst = strconv.AppendUint(dst, 1995+d.below(30), 10)
		}
	}
	return append(dst, '/')
}

// appendPage appends an item: the n-th of a host, found on a page of so great a depth. dir is a directory of the host,
// or empty for another one.
func (m *pathMaker) appendPage(dst []byte, host, n, depth uint64, dir []byte) []byte {
	r := splitmix{state: m.seed ^ host<<32 ^ n*0xd1b54a32d192ed03}
	dst = append(dst, 0, 0, byte(depth))
	if len(dir) > 0 {
		dst = append(dst, dir...)
	} else {
		dst = m.appendDirectory(dst, host, &r)
	}
	join := byte('-')
	if host%4 == 0 {
		join = '_'
	}
	for k := 2 + r.below(3) + r.below(4)/3; k > 0; k-- {
		dst = append(append(dst, m.word(&r)...), join)
	}
	dst = strconv.AppendUint(dst, n*7919%10_000_000, 10)
	switch r.below(8) {
	case 0:
		dst = append(append(dst, "?cat="...), m.word(&r)...)
		dst = strconv.AppendUint(append(dst, "&page="...), r.below(40), 10)
	case 1:
		dst = strconv.AppendUint(append(dst, "?id="...), r.below(1_000_000), 10)
	case 2:
		return append(dst, '/')
	default:
		dst = append(dst, ".html"...)
	}
	return dst
}

// splitmix is a cheap random generator that any number may seed.
type splitmix struct{ state uint64 }

func (d *splitmix) next() uint64 {
	n := mix(d.state)
	d.state += 0x9e3779b97f4a7c15
	return n
}

func (d *splitmix) below(n uint64) uint64 { return d.next() >> 32 * n >> 32 }

func (d *splitmix) float() float64 { return float64(d.next()>>11) / (1 << 53) }
