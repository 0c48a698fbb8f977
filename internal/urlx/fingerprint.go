package urlx

import "github.com/zeebo/xxh3"

// Fingerprint returns the 128-bit xxh3 hash of a normal form with the crawl's seed. The seed is secret, so that the
// author of a page cannot construct URLs with equal fingerprints.
func Fingerprint(seed uint64, url []byte) xxh3.Uint128 {
	return xxh3.Hash128Seed(url, seed)
}
