package sieve

import (
	"testing"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
)

// The files of a sieve with two runs and pending URLs have the checked-in bytes. After Open it knows the same URLs and
// emits the same ones.
func TestGolden_runsAndPendingURLs(t *testing.T) {
	o := Options{Dir: "sieve", BucketBytes: bucketBytesMin}
	disk := vfs.NewMem(1)
	s := open(t, disk, o, nil)
	for i := range uint64(700) {
		addAll(s, i)
	}
	want(t, flush(t, s)[:2], urls(0, 1))
	addAll(s, 700, 3, 701)
	want(t, flush(t, s), urls(700, 701))
	addAll(s, 1000, 5, 1001)
	back, cut := golden.CompareCheckpoint(t, "sieve-2-4.tar",
		"0e9a073cd2f3d4e7b002787001ee237913bbbade054c64a6c5ad438a403dcd6e", disk, *durable(t, s))
	s = open(t, back, o, &cut)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if s.Len() != 702 || s.Pending() != 3 {
		t.Errorf("%d URLs known, %d pending", s.Len(), s.Pending())
	}
	addAll(s, 1002, 701)
	want(t, flush(t, s), urls(1000, 1001, 1002))
}
