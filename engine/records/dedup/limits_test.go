package dedup

import (
	"errors"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// What Insert takes, Lookup gives back after a restart; one byte more, or a date that does not fit, is refused.
func TestY1_theLargestEntryIsReadAndOneByteMoreIsRefused(t *testing.T) {
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("seen"); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: "seen", MemoryBytes: 1 << 20}
	m, err := Open(disk, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	large := First{URI: strings.Repeat("u", URIBytesMax), Date: time.Unix(secondsMax, 999_999_999).UTC()}
	if _, _, err := m.Insert(Digest{1}, large); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Insert(Digest{2}, First{URI: large.URI + "u"}); !errors.Is(err, ErrURI) {
		t.Errorf("a URI of %d bytes is taken: %v", URIBytesMax+1, err)
	}
	if _, _, err := m.Insert(Digest{3}, First{Date: time.Unix(secondsMax+1, 0)}); err == nil {
		t.Error("a date that the form cannot hold is taken")
	}
	checkpoint, err := m.Checkpoint()
	if err == nil {
		err = errors.Join(m.Sync(), m.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if m, err = Open(disk, o, &checkpoint); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := m.Lookup(Digest{1}); err != nil || !ok || got != large {
		t.Errorf("a URI of %d bytes comes back with %d, of %v: %v, %v", len(large.URI), len(got.URI), got.Date, ok, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
