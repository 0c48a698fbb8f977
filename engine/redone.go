package engine

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/outcome"
	"orbweaver/engine/urlx"
)

// redone is what the journal of an unclean stop named as done: when such a URL comes up again, from the older cut, it
// gets the outcome that it already had and is not fetched. It is empty in a crawl that was never killed, and then it
// costs one atomic load a URL.
type redone struct {
	left atomic.Int64
	mu   sync.Mutex
	done map[xxh3.Uint128]outcome.Outcome
}

func newRedone() *redone { return &redone{done: make(map[xxh3.Uint128]outcome.Outcome)} }

func (r *redone) add(fp xxh3.Uint128, o outcome.Outcome) {
	r.mu.Lock()
	r.done[fp] = o
	r.left.Store(int64(len(r.done)))
	r.mu.Unlock()
}

// look returns the outcome the URL had, or None.
func (r *redone) look(seed uint64, url []byte) (xxh3.Uint128, outcome.Outcome) {
	if r.left.Load() == 0 {
		return xxh3.Uint128{}, outcome.None
	}
	fp := urlx.Fingerprint(seed, url)
	r.mu.Lock()
	defer r.mu.Unlock()
	return fp, r.done[fp]
}

// remove forgets a URL, in the same step of the cut in which its outcome is counted.
func (r *redone) remove(fp xxh3.Uint128) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.done, fp)
	r.left.Store(int64(len(r.done)))
}

// appendTo appends all that is left: 17 bytes each.
func (r *redone) appendTo(dst []byte) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for fp, o := range r.done {
		dst = binary.LittleEndian.AppendUint64(dst, fp.Hi)
		dst = binary.LittleEndian.AppendUint64(dst, fp.Lo)
		dst = append(dst, byte(o))
	}
	return dst
}

// load reads what appendTo wrote.
func (r *redone) load(b []byte) error {
	if len(b)%17 != 0 {
		return fmt.Errorf("engine: %d bytes are no list of fingerprints", len(b))
	}
	for ; len(b) > 0; b = b[17:] {
		fp := xxh3.Uint128{Hi: binary.LittleEndian.Uint64(b), Lo: binary.LittleEndian.Uint64(b[8:])}
		r.add(fp, outcome.Outcome(b[16]))
	}
	return nil
}
