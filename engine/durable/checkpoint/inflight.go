package checkpoint

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"orbweaver/engine/state/attempt"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
)

// FinishedURLs are the URLs that an earlier journal names as finished and that come up again from an older checkpoint.
type FinishedURLs interface {
	// Append appends their encoded form.
	Append(dst []byte) []byte
	// Load adds those of an encoded form.
	Load(b []byte) error
}

// inFlight saves the URLs that are neither in the workbench nor in a queue: those with a Page in flight, the one that
// the distributor holds, and those that an earlier journal names as finished.
type inFlight struct {
	None
	fs       vfs.FS
	dir      string // frontier/
	attempts *attempt.InFlight
	held     func() []byte
	finished FinishedURLs
	image    []byte
}

func (p *inFlight) MarkState(*manifest.Manifest) error {
	p.image = p.list()
	return nil
}

func (p *inFlight) Write(m *manifest.Manifest) error {
	return WriteFile(p.fs, manifest.InFlightPath(p.dir, m.Generation), func(w io.Writer) error {
		_, err := w.Write(p.image)
		return err
	})
}

func (p *inFlight) Sync(m *manifest.Manifest) error {
	return SyncFile(p.fs, manifest.InFlightPath(p.dir, m.Generation))
}

func (p *inFlight) Abandon() { p.image = nil }

// list is the content of the file: the length of the list, pairs of site and item, finished URLs, a checksum.
func (p *inFlight) list() []byte {
	b := make([]byte, 8, 64<<10)
	add := func(site, item []byte) {
		b = binary.AppendUvarint(b, uint64(len(site)))
		b = append(b, site...)
		b = binary.AppendUvarint(b, uint64(len(item)))
		b = append(b, item...)
	}
	p.attempts.Each(add)
	if held := p.held(); held != nil {
		add(nil, held)
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	b = p.finished.Append(b)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, journal.Castagnoli()))
}

var errInFlight = errors.New("checkpoint: the list of URLs in flight is damaged")

// ReadInFlight reads the list of URLs in flight. An empty site means that item holds the whole URL. It borrows b.
func ReadInFlight(b []byte, f func(site, item []byte), finished FinishedURLs) error {
	if len(b) < 12 || crc32.Checksum(b[:len(b)-4], journal.Castagnoli()) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return errInFlight
	}
	size := binary.LittleEndian.Uint64(b)
	b = b[8 : len(b)-4]
	if size > uint64(len(b)) {
		return errInFlight
	}
	list, rest := b[:size], b[size:]
	next := func() (part []byte, ok bool) {
		n, k := binary.Uvarint(list)
		if k <= 0 || n > uint64(len(list)-k) {
			return nil, false
		}
		part, list = list[k:k+int(n)], list[k+int(n):]
		return part, true
	}
	for len(list) > 0 {
		site, ok := next()
		item, both := next()
		if !ok || !both {
			return errInFlight
		}
		f(site, item)
	}
	return finished.Load(rest)
}
