package novelty

import "testing"

// In a full group the new keys of a page replace each other, since all other keys have more evidence. A deeper key of
// the page may become independent of one that is gone.
func TestNotePage_aFullGroupReplacesKeysOfTheSamePage(t *testing.T) {
	g := newGroup()
	for key := range uint64(keysMax) {
		e := g.getOrAdd(key)
		e.pages, e.newPages = evidencePages, evidencePages
	}
	const own, deep = 0, 7
	page := chain{keys: [chainMax]uint64{own, keysMax, keysMax + 1, deep}, n: 4}
	g.notePage(&page, true)
	if e := g.find(deep); e == nil || !e.isIndependent() {
		t.Errorf("the deepest key has evidence and is not independent: %v", e)
	}
	if len(g.entries) != keysMax || g.find(keysMax) != nil {
		t.Errorf("%d keys; the first new key is there: %t", len(g.entries), g.find(keysMax) != nil)
	}
}
