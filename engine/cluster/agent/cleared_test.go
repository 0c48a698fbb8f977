package agent

import (
	"testing"

	"github.com/zeebo/xxh3"
)

// What was cleared is so until the circle changes, the page is fetched, or too much was.
func TestWhatIsClearedIsNotForGood(t *testing.T) {
	var c cleared
	fp := func(n int) xxh3.Uint128 { return xxh3.Uint128{Lo: uint64(n)} }
	if c.drop(fp(1)); c.has(1, fp(1)) {
		t.Error("it knows what nobody told it")
	}
	c.add(1, fp(1))
	c.add(1, fp(2))
	if !c.has(1, fp(1)) || !c.has(1, fp(2)) || c.has(1, fp(3)) || c.has(2, fp(1)) {
		t.Error("it does not know what it was told")
	}
	if c.drop(fp(1)); c.has(1, fp(1)) || !c.has(1, fp(2)) {
		t.Error("a page that is fetched is still to be fetched")
	}
	if c.add(2, fp(3)); c.has(2, fp(2)) || c.has(1, fp(2)) || !c.has(2, fp(3)) {
		t.Error("after a change of the circle it believes what it was told before")
	}
	for n := range clearedMost + 10 {
		c.add(2, fp(100+n))
	}
	if len(c.fps) > clearedMost || !c.has(2, fp(100+clearedMost+9)) {
		t.Errorf("%d URLs", len(c.fps))
	}
}
