package fpcache_test

import (
	"bytes"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/golden"
	"orbweaver/sieve/fpcache"
)

// A saved cache has the checked-in bytes. After Load it has the same fingerprints.
func TestGolden_aSavedCache(t *testing.T) {
	fp := func(i uint64) xxh3.Uint128 { return xxh3.Uint128{Hi: i * 0x9e3779b97f4a7c15, Lo: i} }
	c := fpcache.New(2048, 7)
	for i := range uint64(50) {
		c.Put(fp(i))
	}
	var saved bytes.Buffer
	if err := c.Save(&saved); err != nil {
		t.Fatal(err)
	}
	back, err := fpcache.Load(
		bytes.NewReader(
			golden.Compare(t, "cache-2", "905428c0dba57851985ff2c66a319f753c4cbc6efb617f2d43de5aed85af0ddd",
				saved.Bytes()),
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(60) {
		if back.Seen(fp(i)) != c.Seen(fp(i)) {
			t.Errorf("fingerprint %d: the caches differ", i)
		}
	}
}

// A cache of the former format, in which every set stands, is read as it was.
func TestGolden_aCacheOfTheFormerFormat(t *testing.T) {
	const sum = "709a09a528b0d175fd8b2bcb4d5fa59b27fc5331c96580e25c1f3ce0621df382"
	c, err := fpcache.Load(bytes.NewReader(golden.Read(t, "cache-1", sum)))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i := range uint64(50) {
		if c.Seen(xxh3.Uint128{Hi: i * 0x9e3779b97f4a7c15, Lo: i}) {
			seen++
		}
	}
	if seen < 40 {
		t.Errorf("%d of 50 fingerprints", seen)
	}
}
