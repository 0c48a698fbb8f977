package feed

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

const (
	versionBytes  = 40
	blockVersions = 102
	blockBytes    = blockVersions * versionBytes
	fenceBytes    = 12
)

// version is what a URL was at a place of the archive.
type version struct {
	url   xxh3.Uint128 // fingerprint
	place uint64       // of the record: see placeOf
	state uint64       // see stateOf
	time  int64        // of the capture, in seconds since 1970
}

func compareVersions(a, b version) int {
	return cmp.Or(cmp.Compare(a.url.Hi, b.url.Hi), cmp.Compare(a.url.Lo, b.url.Lo), cmp.Compare(a.place, b.place))
}

func (v version) appendTo(dst []byte) []byte {
	for _, word := range [...]uint64{v.url.Hi, v.url.Lo, v.place, v.state, uint64(v.time)} {
		dst = binary.LittleEndian.AppendUint64(dst, word)
	}
	return dst
}

func decodeVersion(b []byte) version {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return version{url: xxh3.Uint128{Hi: word(0), Lo: word(1)}, place: word(2), state: word(3), time: int64(word(4))}
}

// runInfo describes a run.
type runInfo struct {
	Number  uint64 `json:"number"`
	Level   int    `json:"level"`
	Entries int64  `json:"entries"`
	Sum     uint32 `json:"sum"` // of the fence
}

func (r *runInfo) blocks() int64 { return (r.Entries + blockVersions - 1) / blockVersions }

// run is an immutable file of sorted versions.
type run struct {
	runInfo

	file  vfs.File
	first []uint64 // high half of the first fingerprint of each block
	sums  []uint32
}

// runWriter writes a run.
type runWriter struct {
	out   *bufio.Writer
	block []byte
	fence []byte
	n     int64
}

func (w *runWriter) add(v version) {
	w.block = v.appendTo(w.block)
	if w.n++; len(w.block) == blockBytes {
		w.end()
	}
}

func (w *runWriter) end() {
	if len(w.block) == 0 {
		return
	}
	w.fence = append(w.fence, w.block[:8]...)
	w.fence = binary.LittleEndian.AppendUint32(w.fence, crc32.Checksum(w.block, castagnoli()))
	_, _ = w.out.Write(w.block) // bufio keeps the first error for Flush
	w.block = w.block[:0]
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// writeRun writes a run with what fill adds in order.
func writeRun(fsys vfs.FS, name string, info runInfo, fill func(add func(version)) error) (runInfo, error) {
	err := vfs.WriteAtomic(fsys, name, func(to io.Writer) error {
		w := runWriter{out: bufio.NewWriterSize(to, 256<<10)}
		if err := fill(w.add); err != nil {
			return err
		}
		w.end()
		_, _ = w.out.Write(w.fence)
		info.Entries, info.Sum = w.n, crc32.Checksum(w.fence, castagnoli())
		return w.out.Flush()
	})
	return info, err
}

// openRun opens a run and reads its fence. The error wraps errDamaged if it is not the run that info describes.
func openRun(fsys vfs.FS, name string, info runInfo) (*run, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	r := &run{runInfo: info, file: file}
	if err := r.readFence(); err != nil {
		return nil, errors.Join(fmt.Errorf("feed: %s: %w", name, err), file.Close())
	}
	return r, nil
}

func (r *run) readFence() error {
	size, err := r.file.Size()
	if err != nil {
		return err
	}
	from := r.Entries * versionBytes
	if r.Entries < 0 || r.Entries > size || size != from+r.blocks()*fenceBytes {
		return errDamaged
	}
	fence := make([]byte, size-from)
	if _, err := r.file.ReadAt(fence, from); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if crc32.Checksum(fence, castagnoli()) != r.Sum {
		return errDamaged
	}
	for ; len(fence) > 0; fence = fence[fenceBytes:] {
		r.first = append(r.first, binary.LittleEndian.Uint64(fence))
		r.sums = append(r.sums, binary.LittleEndian.Uint32(fence[8:]))
	}
	return nil
}

// last returns the last version of a URL before a place. buf has blockBytes bytes.
func (r *run) last(buf []byte, url xxh3.Uint128, before uint64) (found version, ok bool, err error) {
	from, _ := slices.BinarySearch(r.first, url.Hi) // the first block that begins with url.Hi or a larger value
	for i := max(from-1, 0); i < len(r.first) && r.first[i] <= url.Hi; i++ {
		block, err := r.block(buf, i)
		if err != nil {
			return found, false, err
		}
		want := version{url: url, place: before}
		for at := searchBlock(block, version{url: url}); at < len(block); at += versionBytes {
			v := decodeVersion(block[at:])
			if compareVersions(v, want) >= 0 {
				return found, ok, nil
			}
			found, ok = v, true
		}
	}
	return found, ok, nil
}

// searchBlock returns where the first version is that is not less than v.
func searchBlock(block []byte, v version) int {
	low, high := 0, len(block)/versionBytes
	for low < high {
		mid := (low + high) / 2
		if compareVersions(decodeVersion(block[mid*versionBytes:]), v) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low * versionBytes
}

// block reads a block into buf and checks it.
func (r *run) block(buf []byte, i int) ([]byte, error) {
	from := int64(i) * blockBytes
	block := buf[:min(blockBytes, r.Entries*versionBytes-from)]
	if _, err := r.file.ReadAt(block, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if crc32.Checksum(block, castagnoli()) != r.sums[i] {
		return nil, fmt.Errorf("%w: %s, block %d", errDamaged, r.file.Name(), i)
	}
	return block, nil
}

// runReader reads a run in order.
type runReader struct {
	run  *run
	next int // block
	buf  []byte
	rest []byte
}

// peek returns the next version; ok is false at the end.
func (r *runReader) peek() (v version, ok bool, err error) {
	if len(r.rest) == 0 {
		if r.next == len(r.run.first) {
			return v, false, nil
		}
		if r.rest, err = r.run.block(r.buf, r.next); err != nil {
			return v, false, err
		}
		r.next++
	}
	return decodeVersion(r.rest), true, nil
}

// mergeRuns calls add with all versions of the runs, in order.
func mergeRuns(runs []*run, add func(version)) error {
	readers := make([]runReader, len(runs))
	for i, r := range runs {
		readers[i] = runReader{run: r, buf: bytes.Repeat([]byte{0}, blockBytes)}
	}
	for {
		least, from := version{}, -1
		for i := range readers {
			v, ok, err := readers[i].peek()
			if err != nil {
				return err
			}
			if ok && (from < 0 || compareVersions(v, least) < 0) {
				least, from = v, i
			}
		}
		if from < 0 {
			return nil
		}
		add(least)
		readers[from].rest = readers[from].rest[versionBytes:]
	}
}

// RenderList lists the URLs of pages that a browser must draw, a line each, and each once. A page that is gone, or that
// needs no browser any more, leaves the list, unless Flush has written it. Each URL takes some 100 bytes of memory, and
// its length until it is written.
type RenderList struct {
	Out  io.Writer
	Most int // URLs of a site; 0 for all

	sites map[string]int       // URLs that were written
	known map[xxh3.Uint128]int // number of the URL, from the first one that was added
	urls  []string             // that are not written; "" for one that has left
	first int                  // number of the first of them
}

// Add adds the URL of a change if a browser must draw the page.
func (l *RenderList) Add(c *Change) error {
	if l.known == nil {
		l.sites, l.known = map[string]int{}, map[xxh3.Uint128]int{}
	}
	key := xxh3.HashString128(c.URL)
	number, isKnown := l.known[key]
	switch {
	case c.Render == isKnown || c.Kind == Unchanged && isKnown:
	case !isKnown:
		l.known[key] = l.first + len(l.urls)
		l.urls = append(l.urls, c.URL)
	case number >= l.first:
		delete(l.known, key)
		l.urls[number-l.first] = ""
	default:
		delete(l.known, key)
		l.sites[siteOf(c.URL)]--
	}
	return nil
}

func siteOf(url string) string {
	site, _ := urlx.Split([]byte(url))
	return string(site)
}

// Flush writes the list, up to Most URLs of a site.
func (l *RenderList) Flush() error {
	for _, url := range l.urls {
		site := siteOf(url)
		switch {
		case url == "":
			continue
		case l.Most > 0 && l.sites[site] >= l.Most:
			delete(l.known, xxh3.HashString128(url))
			continue
		}
		l.sites[site]++
		if _, err := io.WriteString(l.Out, url+"\n"); err != nil {
			return err
		}
	}
	l.first, l.urls = l.first+len(l.urls), l.urls[:0]
	return nil
}
