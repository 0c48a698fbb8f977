package urlx

import "github.com/zeebo/xxh3"

// Fingerprint returns the 128-bit xxh3 of a normal form under the crawl's seed. The seed is a secret of the crawl, so
// that nobody can write pages full of URLs that collide.
func Fingerprint(seed uint64, url []byte) xxh3.Uint128 {
	return xxh3.Hash128Seed(url, seed)
}
