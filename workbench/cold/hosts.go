package cold

import "github.com/zeebo/xxh3"

// hosts finds the hosts of a store in its log, and has the sums that a checkpoint contains.
type hosts struct {
	seed  uint64
	table table
	sum   uint64 // of the hashes of all hosts
	bytes int64  // of their records
}

// hash returns the hash by which a key is found.
func (h *hosts) hash(key []byte) uint64 { return xxh3.HashSeed(key, h.seed) }

// has reports whether the record at p is that of a host.
func (h *hosts) has(hash uint64, p Position) bool { return h.table.has(hash, placeOf(p)) }

// add adds a host whose record is at p.
func (h *hosts) add(hash uint64, p Position, size int64) {
	h.table.add(hash, placeOf(p))
	h.sum += hash
	h.bytes += size
}

// remove removes a host and reports whether it was there.
func (h *hosts) remove(hash uint64, p Position, size int64) bool {
	if !h.table.remove(hash, placeOf(p)) {
		return false
	}
	h.sum -= hash
	h.bytes -= size
	return true
}

// move changes the position of a host.
func (h *hosts) move(hash uint64, from, to Position) {
	h.table.replace(hash, placeOf(from), placeOf(to))
}
