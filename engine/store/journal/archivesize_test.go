package journal

import (
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/warc"
)

// The longest response that any options let the fetcher keep fits into a record that every reader takes.
func TestArchive_theLongestResponseFitsIntoARecord(t *testing.T) {
	o := fetch.Options{BodyMax: 1 << 40, HeaderMax: 16 << 20, UserAgent: "x"}.WithDefaults()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if n := o.ResponseMax(); n > warc.BlockMax {
		t.Errorf("a response of %d bytes, and a block has %d at most", n, int64(warc.BlockMax))
	}
	if o.BodyMax++; o.Validate() == nil {
		t.Error("a larger body is allowed")
	}
}
