package capture_test

import (
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/records/capture"
	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
)

// An index of two blocks must equal the golden file, and must contain the same places.
func TestGolden_catalogue(t *testing.T) {
	of := map[xxh3.Uint128][]capture.Place{}
	for i := range uint64(200) {
		fp := xxh3.Uint128{Hi: i * 0x9e3779b97f4a7c15, Lo: i}
		of[fp] = []capture.Place{{Serial: uint32(i % 5), Offset: int64(i * 1000)}}
		if i%7 == 0 {
			of[fp] = append(of[fp], capture.Place{Serial: 6, Offset: int64(i), Revisit: true})
		}
	}
	disk := vfs.NewMem(1)
	_, checkpoint := written(t, disk, of)
	back, checkpoint := golden.CompareCheckpoint(t, "catalogue-1.tar",
		"0d6b42a46ba505b85d0896aa3c54bb74f05ddf111ea8b53ce509016b02de73c8", disk, checkpoint)
	c, err := capture.OpenIndex(back, "catalogue", checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	for fp, want := range of {
		if got, err := c.Lookup(nil, make([]byte, capture.IndexBlockBytes), fp); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v is at %v, not %v: %v", fp, got, want, err)
		}
	}
}
