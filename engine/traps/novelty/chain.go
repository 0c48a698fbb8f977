package novelty

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

const (
	// largest number of keys of a URL: site, its queries, three folders, the file of a query, its parameters
	chainMax   = 7
	foldersMax = 3  // folders that have their own key
	maskMax    = 64 // bytes of a segment or name that count
)

// chain holds the keys of a URL, from its site to the deepest part. URLs with and without a query share the site's key
// only: an application shows each page in many views, each with its own query, and these are no evidence about the
// pages.
type chain struct {
	keys      [chainMax]uint64
	n         int
	siteIndex int // index of the key where evidence for the whole site is counted
}

// chainOf returns the keys of a path with query. An empty path has the key of its group only. isCopy says that the path
// has a parameter that does not change the page: such URLs have keys of their own, as those with a query have.
func chainOf(seed uint64, group uint64, path []byte, isCopy bool) (c chain) {
	c.add(group)
	path, query, asked := bytes.Cut(path, []byte{'?'})
	switch {
	case isCopy:
		c.siteIndex = 1
		c.add(mix(group ^ copyKey))
	case asked:
		c.siteIndex = 1
		c.add(mix(group ^ queryKey))
	}
	for folders := 0; folders < foldersMax && len(path) > 0; folders++ {
		end := bytes.IndexByte(path[1:], '/')
		if end < 0 {
			break
		}
		c.add(maskedKey(seed, c.last(), path[1:1+end]))
		path = path[1+end:]
	}
	if asked {
		file := maskedKey(seed+1, c.last(), path)
		c.add(file)
		c.add(file + paramNamesKey(seed+2, query))
	}
	return c
}

// Separate the keys of a site's URLs with a query, and of copies of its pages, from that of the site.
const (
	queryKey = 0x51a7e9c3b20d84f6
	copyKey  = 0x2c6d90e1f54b37a8
)

// folderIndex returns the index of the first folder's key.
func (c *chain) folderIndex() int { return c.siteIndex + 1 }

func (c *chain) add(key uint64) {
	c.keys[c.n] = key
	c.n++
}

func (c *chain) last() uint64 { return c.keys[c.n-1] }

// maskedKey returns the key of a segment below another key. Each run of digits counts as one digit.
func maskedKey(seed, above uint64, segment []byte) uint64 {
	var buf [maskMax]byte
	n, digit := 0, false
	for _, c := range segment {
		if n == maskMax {
			break
		}
		if c >= '0' && c <= '9' {
			if digit {
				continue
			}
			digit, c = true, '0'
		} else {
			digit = false
		}
		buf[n] = c
		n++
	}
	return mix(above ^ xxh3.HashSeed(buf[:n], seed))
}

// paramNamesKey returns a sum over the names of a query's parameters, so that their order does not matter.
func paramNamesKey(seed uint64, query []byte) (sum uint64) {
	const most = 32
	for n := 0; n < most && len(query) > 0; n++ {
		var one []byte
		one, query, _ = bytes.Cut(query, []byte{'&'})
		name, _, _ := bytes.Cut(one, []byte{'='})
		sum += maskedKey(seed, 0, name) | 1
	}
	return sum
}

const (
	nestedTimes = 4  // times that a URL contains the same folder or parameter name
	nestedParts = 64 // folders and parameters that are checked
)

// repeatsParts reports whether a path with query contains the same folder or parameter name nestedTimes times. Wrong
// relative links produce such URLs.
func repeatsParts(seed uint64, path []byte) bool {
	var hashes [nestedParts]uint64
	var times [nestedParts]uint8
	n := 0
	count := func(hash uint64) bool {
		at := 0
		for at < n && hashes[at] != hash {
			at++
		}
		if at == n {
			if n == nestedParts {
				return false
			}
			n++
		}
		hashes[at] = hash
		times[at]++
		return times[at] >= nestedTimes
	}
	path, query, _ := bytes.Cut(path, []byte{'?'})
	for folder := range bytes.SplitSeq(path, []byte{'/'}) {
		if len(folder) > 0 && count(xxh3.HashSeed(folder, seed)) {
			return true
		}
	}
	for one := range bytes.SplitSeq(query, []byte{'&'}) {
		if name, _, _ := bytes.Cut(one, []byte{'='}); len(name) > 0 && count(xxh3.HashSeed(name, seed+1)) {
			return true
		}
	}
	return false
}

// mix distributes the bits of x over all bits.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}
