package recovery

import (
	"testing"

	"github.com/zeebo/xxh3"
)

// An unfetched URL is forgotten when the view changes, when it is fetched, and when there are too many.
func TestUnfetchedURLs_areForgotten(t *testing.T) {
	var c UnfetchedURLs
	fp := func(n int) xxh3.Uint128 { return xxh3.Uint128{Lo: uint64(n)} }
	if c.Drop(fp(1)); c.Has(1, fp(1)) {
		t.Error("an empty set has a URL")
	}
	c.Add(1, fp(1))
	c.Add(1, fp(2))
	if !c.Has(1, fp(1)) || !c.Has(1, fp(2)) || c.Has(1, fp(3)) || c.Has(2, fp(1)) {
		t.Error("added URLs are not there, or others are")
	}
	if c.Drop(fp(1)); c.Has(1, fp(1)) || !c.Has(1, fp(2)) {
		t.Error("a dropped URL is still there")
	}
	if c.Add(2, fp(3)); c.Has(2, fp(2)) || c.Has(1, fp(2)) || !c.Has(2, fp(3)) {
		t.Error("after a change of the view it has URLs from before")
	}
	for n := range unfetchedMost + 10 {
		c.Add(2, fp(100+n))
	}
	if len(c.fps) > unfetchedMost || !c.Has(2, fp(100+unfetchedMost+9)) {
		t.Errorf("%d URLs", len(c.fps))
	}
}
