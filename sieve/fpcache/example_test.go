package fpcache_test

import (
	"fmt"

	"orbweaver/sieve/fpcache"

	"github.com/zeebo/xxh3"
)

func Example() {
	c := fpcache.New(1<<20, 42)
	for _, url := range []string{"http://a.example/", "http://b.example/", "http://a.example/"} {
		fp := xxh3.HashString128(url)
		if c.Seen(fp) {
			fmt.Println("again:", url)
			continue
		}
		c.Put(fp)
	}
	fmt.Println(c.Stats().Lookups, "look-ups,", c.Stats().Hits, "hit")
	// Output:
	// again: http://a.example/
	// 3 look-ups, 1 hit
}
