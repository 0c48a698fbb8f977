package capture_test

import (
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/records/capture"
	"orbweaver/internal/vfs"
)

// The largest place that Entry accepts is read back unchanged; a larger one is refused.
func TestCatalogue_theFarthestPlaceIsReadAndTheNextIsRefused(t *testing.T) {
	fp := xxh3.Uint128{Hi: 1, Lo: 2}
	far := capture.Place{Serial: 1<<22 - 1, Offset: 1<<41 - 1, Revisit: true}
	c, _ := written(t, vfs.NewMem(1), map[xxh3.Uint128][]capture.Place{fp: {far}})
	got, err := c.Lookup(nil, make([]byte, capture.IndexBlockBytes), fp)
	if err != nil || len(got) != 1 || got[0] != far {
		t.Errorf("%+v comes back as %+v: %v", far, got, err)
	}
	for _, at := range []capture.Place{{Serial: far.Serial + 1}, {Offset: far.Offset + 1}, {Offset: -1}} {
		if _, ok := capture.IndexEntry(fp, at); ok {
			t.Errorf("%+v is taken", at)
		}
	}
}
