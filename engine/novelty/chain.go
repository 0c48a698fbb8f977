package novelty

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

const (
	chainMax   = 6  // keys of a URL: the site, three folders, the file of a query, its parameters
	foldersMax = 3  // folders that have a key of their own
	maskMax    = 64 // bytes of a segment or name that count
)

// chain is the keys of a URL, from its site down.
type chain struct {
	keys [chainMax]uint64
	n    int
}

// chainOf makes the keys of a path with query. An empty path has that of its group alone.
func chainOf(seed uint64, group uint64, path []byte) (c chain) {
	c.add(group)
	path, query, asked := bytes.Cut(path, []byte{'?'})
	for folders := 0; folders < foldersMax && len(path) > 0; folders++ {
		end := bytes.IndexByte(path[1:], '/')
		if end < 0 {
			break
		}
		c.add(masked(seed, c.last(), path[1:1+end]))
		path = path[1+end:]
	}
	if asked {
		file := masked(seed+1, c.last(), path)
		c.add(file)
		c.add(file + names(seed+2, query))
	}
	return c
}

func (c *chain) add(key uint64) {
	c.keys[c.n] = key
	c.n++
}

func (c *chain) last() uint64 { return c.keys[c.n-1] }

// masked is the key of a segment below another: every run of digits counts as one.
func masked(seed, above uint64, segment []byte) uint64 {
	var room [maskMax]byte
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
		room[n] = c
		n++
	}
	return mix(above ^ xxh3.HashSeed(room[:n], seed))
}

// names is the sum over the names of a query's parameters, so that their order does not count.
func names(seed uint64, query []byte) (sum uint64) {
	const most = 32
	for n := 0; n < most && len(query) > 0; n++ {
		var one []byte
		one, query, _ = bytes.Cut(query, []byte{'&'})
		name, _, _ := bytes.Cut(one, []byte{'='})
		sum += masked(seed, 0, name) | 1
	}
	return sum
}

const (
	nestedOf  = 4  // times that a URL has the same folder or parameter name
	nestedMax = 64 // folders and parameters that are looked at
)

// nests says that a path with query repeats the same folder or the same name of a parameter, as links do that are relative by mistake.
func nests(seed uint64, path []byte) bool {
	var hashes [nestedMax]uint64
	var times [nestedMax]uint8
	n := 0
	count := func(hash uint64) bool {
		at := 0
		for at < n && hashes[at] != hash {
			at++
		}
		if at == n {
			if n == nestedMax {
				return false
			}
			n++
		}
		hashes[at] = hash
		times[at]++
		return times[at] >= nestedOf
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

// mix spreads all bits of x over all bits.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}
