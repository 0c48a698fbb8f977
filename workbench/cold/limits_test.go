package cold

import (
	"testing"

	"orbweaver/internal/vfs"
)

// Take returns the largest host that Put accepts, also after a restart. With one byte more Put panics.
func TestTheLargestHostIsReadAndOneByteMoreIsRefused(t *testing.T) {
	disk := vfs.NewMem(1)
	o := small()
	o.SegmentBytes = segmentBytesMax
	s, err := Open(disk, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	longKey, form := make([]byte, keyMax), make([]byte, bodyMax)
	s.Put(longKey, form[:bodyMax-keyMax])
	s.Put([]byte("k"), form[:bodyMax-1])
	for _, c := range []struct{ key, form []byte }{{make([]byte, keyMax+1), nil}, {[]byte("l"), form}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a key of %d bytes with a form of %d is taken", len(c.key), len(c.form))
				}
			}()
			s.Put(c.key, c.form)
		}()
	}
	cut := s.Checkpoint()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(disk, o, &cut); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key  []byte
		want int
	}{{longKey, bodyMax - keyMax}, {[]byte("k"), bodyMax - 1}} {
		if got, found, err := s.Take(nil, c.key); err != nil || !found || len(got) != c.want {
			t.Errorf("a form of %d bytes comes back with %d: found %v, %v", c.want, len(got), found, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
