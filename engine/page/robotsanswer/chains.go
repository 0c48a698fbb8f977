package robotsanswer

import (
	"github.com/zeebo/xxh3"

	"orbweaver/internal/urlx"
)

// chainsMax is the number of redirects in Chains whose target was not read yet. Those beyond it are not followed.
const chainsMax = 1 << 18

// Chains follow the redirects of robots.txt files in an archive: the next answer of a URL to which one redirects
// belongs to the robots.txt, and is not the answer of a queued URL. T is what is known of the robots.txt. The zero
// value expects no answer.
type Chains[T any] struct {
	Seed uint64 // of the fingerprints

	expected map[xxh3.Uint128][]T // by URL, the first to come first
	count    int
}

// Expect says that the next answer of a URL belongs to a robots.txt. It borrows url.
func (c *Chains[T]) Expect(url []byte, of T) {
	if c.count == chainsMax {
		return
	}
	if c.expected == nil {
		c.expected = make(map[xxh3.Uint128][]T)
	}
	fp := urlx.Fingerprint(c.Seed, url)
	c.expected[fp] = append(c.expected[fp], of)
	c.count++
}

// Find returns the first robots.txt that an answer of the URL belongs to; false if there is none.
func (c *Chains[T]) Find(url []byte) (of T, ok bool) {
	if c.count == 0 {
		return of, false
	}
	waiting := c.expected[urlx.Fingerprint(c.Seed, url)]
	if len(waiting) == 0 {
		return of, false
	}
	return waiting[0], true
}

// Take is Find, and ends what it returns: the answer is the last one for that robots.txt.
func (c *Chains[T]) Take(url []byte) (of T, ok bool) {
	if of, ok = c.Find(url); !ok {
		return of, false
	}
	fp := urlx.Fingerprint(c.Seed, url) // once more, for the few answers that are expected
	if c.count--; len(c.expected[fp]) == 1 {
		delete(c.expected, fp)
	} else {
		c.expected[fp] = c.expected[fp][1:]
	}
	return of, true
}
