package checkpoint

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
)

// FuzzInFlight reads made-up lists of URLs in flight whose checksum is right: it returns an error or whole items.
func FuzzInFlight(f *testing.F) {
	item := queued.Append(nil, &queued.URL{Depth: 1, Rest: []byte("/x")})
	list := queued.AppendBytes(queued.AppendBytes(nil, []byte("http://a.test")), item)
	good := append(binary.LittleEndian.AppendUint64(nil, uint64(len(list))), list...)
	f.Add(good)
	f.Add(append(bytes.Clone(good), make([]byte, 16)...)) // and one that is done already
	f.Add(append(bytes.Clone(good), 1, 2, 3))
	f.Add(binary.LittleEndian.AppendUint64(nil, 1<<63))
	f.Add(append(binary.LittleEndian.AppendUint64(nil, 2), 200, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := binary.LittleEndian.AppendUint32(bytes.Clone(b), crc32.Checksum(b, journal.Castagnoli()))
		total := 0
		err := ReadInFlight(whole, func(key, item []byte) { total += len(key) + len(item) }, new(finishedBytes))
		if total > len(b) || err == nil && len(b) < 8 {
			t.Errorf("%d bytes of items in %d: %v", total, len(b), err)
		}
		whole[len(whole)-1] ^= 1
		item := func(_, _ []byte) { t.Error("an item under a wrong checksum") }
		if err := ReadInFlight(whole, item, new(finishedBytes)); err == nil {
			t.Error("a wrong checksum is taken")
		}
	})
}

// finishedBytes holds the encoded form of finished URLs.
type finishedBytes []byte

func (f *finishedBytes) Append(dst []byte) []byte { return append(dst, *f...) }

func (f *finishedBytes) Load(b []byte) error {
	*f = bytes.Clone(b)
	return nil
}
