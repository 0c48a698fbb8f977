package manifest

import (
	"testing"
)

func TestChain_needsAnImageWhenTheChangesAreAsLarge(t *testing.T) {
	for _, story := range []struct {
		lengths []int64
		grown   bool
	}{
		{nil, true}, {[]int64{100}, false}, {[]int64{100, 60}, false}, {[]int64{100, 60, 40}, true},
		{make([]int64, chainMax), true},
	} {
		var chain Chain
		for i, n := range story.lengths {
			chain = append(chain, ChainFile{Generation: uint64(i + 1), Length: n})
		}
		if chain.NeedsImage() != story.grown || chain.Last() != uint64(len(chain)) || chain.Names(3) != (len(chain) >= 3) {
			t.Errorf("%v", chain)
		}
	}
}
