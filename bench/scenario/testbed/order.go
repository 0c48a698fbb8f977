package testbed

import (
	"errors"
	"testing"

	"orbweaver/derive"
	"orbweaver/derive/quality"
	"orbweaver/internal/vfs"
)

// Order measures the order of visits of the crawl whose directory is a disk.
func Order(t *testing.T, disk vfs.FS) *quality.Report {
	t.Helper()
	const scratch = "order-of-visits"
	product := quality.New(disk, scratch)
	_, err := derive.Run(t.Context(), disk, []string{"crawl"}, derive.Options{
		Dir: scratch, Products: []derive.Product{product}, Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := product.Crawl().Measure(t.Context(), func(int) {})
	if err := errors.Join(err, product.Crawl().Close()); err != nil {
		t.Fatal(err)
	}
	return r
}
