package sieve

import (
	"bytes"
	"testing"

	"orbweaver/internal/vfs"
)

// A payload that is longer than a chunk gets its own frame and is read from the file.
func TestS2_aPayloadLongerThanAChunkIsRead(t *testing.T) {
	fsys := vfs.NewMem(1)
	must(t, fsys.MkdirAll("sieve"))
	s, err := Open(fsys, small, nil)
	must(t, err)
	large := bytes.Repeat([]byte{'x'}, 4*chunkBytesMax)
	addAll(s, 1)
	s.Add(fpOf(2), large)
	addAll(s, 3)
	image, err := s.Snapshot()
	must(t, err)
	cut, err := image.Write()
	must(t, err)
	must(t, s.Sync())
	must(t, s.Close())
	s = open(t, fsys, small, &cut)
	if got := flush(t, s); len(got) != 3 || got[1] != string(large) {
		t.Errorf("%d payloads of 3", len(got))
	}
}
