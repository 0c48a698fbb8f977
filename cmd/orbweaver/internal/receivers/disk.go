package receivers

import (
	"context"

	"orbweaver/engine/operate/upload"
	"orbweaver/engine/operate/upload/objectstore"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc/waczfs"
)

// Disk returns the disk for commands that read archives: WACZ files are directories, WARC files that were removed here
// are listed, and s3://BUCKET/KEY is an object, which is read with the keys, the endpoint and the region of the
// environment.
func Disk() *receipts.Disk {
	buckets := objectstore.NewBuckets(context.Background(), vfs.Disk(), func(bucket string) (*objectstore.Store, error) {
		o := storeOptions(&upload.Options{Target: "s3://" + bucket}, "")
		o.Patience = readPatience
		return objectstore.New(o)
	})
	return receipts.Over(waczfs.Over(buckets))
}
