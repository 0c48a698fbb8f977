package dedup_test

import (
	"crypto/sha1"
	"fmt"
	"time"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/vfs"
)

func Example() {
	m, err := dedup.Open(vfs.NewMem(1), dedup.Options{Dir: "frontier/seen"}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	payload := dedup.Digest(sha1.Sum([]byte("<html>the same on every mirror</html>")))
	for i, uri := range []string{"http://a.example/", "http://mirror.example/"} {
		first, fresh, err := m.Insert(payload, dedup.First{URI: uri, Date: time.Unix(int64(i), 0)})
		fmt.Println(uri, "fresh:", fresh, "first:", first.URI, err)
	}
	// Output:
	// http://a.example/ fresh: true first: http://a.example/ <nil>
	// http://mirror.example/ fresh: false first: http://a.example/ <nil>
}
