package journal

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// FinishedURLs are the URLs that the journal names as finished after the checkpoint from which an unclean crawl was
// resumed. The checkpoint still has them in its queues. When such a URL comes up again, it gets the outcome that it
// already had and is not fetched. The set is empty if no run of the crawl was killed; then a look-up costs one atomic
// load. Safe for concurrent use.
type FinishedURLs struct {
	count    atomic.Int64
	mu       sync.Mutex
	outcomes map[xxh3.Uint128]outcome.Outcome
	unlogged map[xxh3.Uint128]struct{} // those without a line in the crawl log
}

// NewFinishedURLs returns an empty set.
func NewFinishedURLs() *FinishedURLs {
	return &FinishedURLs{outcomes: make(map[xxh3.Uint128]outcome.Outcome)}
}

// IsEmpty reports whether no URL is left.
func (f *FinishedURLs) IsEmpty() bool { return f.count.Load() == 0 }

// Add adds a URL by its fingerprint.
func (f *FinishedURLs) Add(fp xxh3.Uint128, o outcome.Outcome) {
	f.mu.Lock()
	f.outcomes[fp] = o
	f.count.Store(int64(len(f.outcomes)))
	f.mu.Unlock()
}

// OutcomeOf returns the fingerprint and the outcome that the URL already has, or outcome.None. hashSeed is the seed of
// the fingerprints of the crawl.
func (f *FinishedURLs) OutcomeOf(hashSeed uint64, url []byte) (xxh3.Uint128, outcome.Outcome) {
	if f.IsEmpty() {
		return xxh3.Uint128{}, outcome.None
	}
	fp := urlx.Fingerprint(hashSeed, url)
	return fp, f.outcomeOf(fp)
}

func (f *FinishedURLs) outcomeOf(fp xxh3.Uint128) outcome.Outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outcomes[fp]
}

// AddUnlogged notes that the crawl log has no line of a URL of the set. The code that counts its outcome writes one.
func (f *FinishedURLs) AddUnlogged(fp xxh3.Uint128) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unlogged == nil {
		f.unlogged = make(map[xxh3.Uint128]struct{})
	}
	f.unlogged[fp] = struct{}{}
}

// RemoveUnlogged notes that the crawl log has the line of a URL of the set.
func (f *FinishedURLs) RemoveUnlogged(fp xxh3.Uint128) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.unlogged, fp)
}

// IsUnlogged reports whether the crawl log has no line of a URL of the set.
func (f *FinishedURLs) IsUnlogged(fp xxh3.Uint128) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.unlogged[fp]
	return ok
}

// Remove removes a URL. Call it in the step that counts its outcome.
func (f *FinishedURLs) Remove(fp xxh3.Uint128) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.outcomes, fp)
	delete(f.unlogged, fp)
	f.count.Store(int64(len(f.outcomes)))
}

// Each calls visit with the fingerprint of each URL that is left. visit must not use the set.
func (f *FinishedURLs) Each(visit func(fp xxh3.Uint128)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for fp := range f.outcomes {
		visit(fp)
	}
}

const finishedURLSize = 17 // bytes of a fingerprint and an outcome

// Append appends the encoded set to dst: for each URL the fingerprint (16 bytes, little endian, high half first) and
// the outcome (1 byte). A URL without a line in the crawl log is there twice. Earlier versions read that as once.
func (f *FinishedURLs) Append(dst []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for fp, o := range f.outcomes {
		dst = appendFinishedURL(dst, fp, o)
		if _, ok := f.unlogged[fp]; ok {
			dst = appendFinishedURL(dst, fp, o)
		}
	}
	return dst
}

func appendFinishedURL(dst []byte, fp xxh3.Uint128, o outcome.Outcome) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, fp.Hi)
	dst = binary.LittleEndian.AppendUint64(dst, fp.Lo)
	return append(dst, byte(o))
}

// Load adds the URLs of a set that Append encoded to an empty set.
func (f *FinishedURLs) Load(b []byte) error {
	if len(b)%finishedURLSize != 0 {
		return fmt.Errorf("journal: %d bytes are not a list of finished URLs", len(b))
	}
	for ; len(b) > 0; b = b[finishedURLSize:] {
		fp := xxh3.Uint128{Hi: binary.LittleEndian.Uint64(b), Lo: binary.LittleEndian.Uint64(b[8:])}
		if f.outcomeOf(fp) != outcome.None {
			f.AddUnlogged(fp)
		}
		f.Add(fp, outcome.Outcome(b[16]))
	}
	return nil
}
